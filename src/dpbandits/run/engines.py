"""Engines that play tasks: threads of this process, or the workers of a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

from dpbandits.config.settings import Cluster
from dpbandits.core.errors import UserError
from dpbandits.run.threads import Engine


@contextmanager
def started(workers: int | None, cluster: Cluster | None) -> Iterator[Engine]:
    """An engine that is ready; UserError, with what to do, where it cannot be."""
    if cluster is None:
        import joblib  # late: it reads variables of the environment

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
