"""The engine of this process: threads, and what the runner must know of any engine."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any


class Engine:
    """The threads of this process, and what the runner must know of any engine."""

    elsewhere = False  # whether the workers are other processes than this one
    ahead: str = "2 * n_jobs"  # tasks that are handed out at once, as joblib writes it
    patience: float | None = None  # seconds of silence after which to ask what is wrong

    def __init__(self, threads: int) -> None:
        self.threads = threads  # of all workers together

    def backend(self) -> AbstractContextManager[Any]:
        """What joblib's parallel call stands in, in the thread that makes it."""
        return nullcontext()

    def given_up(self) -> list[BaseException]:
        """Why tasks will never come back, one error for each.

        Raises UserError where none will.
        """
        return []

    def explain(self, error: BaseException) -> BaseException:
        """An error of the parallel call, as people are told it."""
        return error
