"""Engines that play tasks: threads of this process, or the workers of a Dask cluster.

A new engine is a class like those of threads.py and dask_cluster.py, with a file in conf/engine/
and its values in config/settings.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from dpbandits.config.settings import Cluster
from dpbandits.core.errors import UserError
from dpbandits.run.threads import Engine


@contextmanager
def started(workers: int | None, cluster: Cluster | None) -> Iterator[Engine]:
    """Yield an engine that is ready. Raises UserError, with a remedy, if it cannot be started."""
    if cluster is None:
        import joblib  # late: it reads environment variables

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
