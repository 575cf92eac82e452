"""Engine of this process: its threads, and the interface of every engine."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any


class Engine:
    """Threads of this process; base class of every engine."""

    elsewhere = False  # whether the workers are other processes
    ahead: str = "2 * n_jobs"  # tasks dispatched ahead, as joblib's pre_dispatch
    patience: float | None = None  # seconds without a result before `given_up` is called

    def __init__(self, threads: int) -> None:
        self.threads = threads  # of all workers together

    def backend(self) -> AbstractContextManager[Any]:
        """Return the context for joblib's parallel call, in the thread that makes the call."""
        return nullcontext()

    def given_up(self) -> list[BaseException]:
        """Return one error for each task that will never return a result.

        Raises UserError if none of the tasks will.
        """
        return []

    def explain(self, error: BaseException) -> BaseException:
        """Return the error to report for an error of the parallel call."""
        return error
