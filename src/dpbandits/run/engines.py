"""Where tasks are played: on threads of this process, or by the workers of a Dask cluster."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from dpbandits.core.errors import UserError


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster: somebody's, or one of this machine, which lives as long as it is needed."""

    scheduler: str | None = None  # tcp://host:port


class Engine:
    """The threads of this process, and what the runner must know of any engine."""

    sources: str | None = None  # the digest that workers must have; None: they are this process
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


@contextmanager
def started(workers: int | None, cluster: Cluster | None) -> Iterator[Engine]:
    """An engine that is ready; UserError, with what to do, where it cannot be."""
    if cluster is None:
        import joblib  # late: configuration needs this module, joblib stumbles over variables

        yield Engine(joblib.effective_n_jobs(-1 if workers is None else workers))
        return
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"engine=dask needs Dask, which is not installed ({error}):"
            " pip install 'dpbandits[dask]', in a checkout pip install '.[dask]'"
        ) from error
    from dpbandits.run.dask_cluster import connected

    with connected(cluster.scheduler, workers) as connection:
        yield connection
