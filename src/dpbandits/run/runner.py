"""Loop that plays tasks on all workers and stores their runs.

No other module loops over the runs of many cells.
"""

import warnings
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing

import joblib

from dpbandits.config.settings import Cluster
from dpbandits.core.errors import UserError
from dpbandits.run.progress import Reporter
from dpbandits.run.tasks import Outcome, Task
from dpbandits.run.worker import attempt
from dpbandits.store.blocks import Store
from dpbandits.store.key import EditedSources


def play(
    tasks: Sequence[Task],
    store: Store,
    workers: int | None,
    title: str,
    cluster: Cluster | None = None,
    progress: bool = True,
) -> list[Outcome]:
    """Play the tasks, write every block as it arrives and report progress; return the failures.

    The tasks run on threads of this process or on a cluster; the main thread of this process writes
    the blocks in either case, and reports nothing without `progress`. A failed task does not stop
    the others, nor does one whose sources have been edited meanwhile. UserError (a full disk, no
    worker left) and KeyboardInterrupt stop all of them; the blocks written so far stay.
    """
    failures: list[Outcome] = []
    if not tasks:
        return failures
    runs = Counter[str]()
    for task in tasks:
        runs[task.cell.name] += len(task.runs)
    with ExitStack() as resources:
        resources.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", ".*adjusting the input task")  # by joblib after an error
        threads, outcomes = _started(resources, tasks, workers, cluster)
        reporter = resources.enter_context(Reporter(title, runs, threads, progress))
        resources.enter_context(closing(outcomes))
        for outcome in outcomes:
            task, pace = outcome.task, None
            if outcome.curves is None or outcome.seconds is None:
                failures.append(outcome)
            else:
                try:
                    store.write(task.cell, task.runs.start, outcome.curves, outcome.seconds.sum())
                    pace = outcome.seconds[-1]
                except EditedSources as error:
                    failures.append(Outcome(task, error=str(error)))
            reporter.add(task.cell.name, len(task.runs), pace)
    return failures


def _started(
    resources: ExitStack, tasks: Sequence[Task], workers: int | None, cluster: Cluster | None
) -> tuple[int, Generator[Outcome, None, None]]:
    # The number of threads, and the outcomes as they arrive.
    if cluster is None:
        threads = joblib.effective_n_jobs(-1 if workers is None else workers)
        # A single worker is a thread too, so that Ctrl-C reaches the main thread in mid-run.
        parallel = joblib.Parallel(
            max(threads, 2),
            prefer="threads",
            batch_size=1,
            pre_dispatch=1 if threads == 1 else "2 * n_jobs",
            return_as="generator_unordered",
        )
        return threads, parallel(joblib.delayed(attempt)(task) for task in tasks)
    try:
        from dpbandits.run import dask_cluster
    except ImportError as error:
        raise UserError(
            f"engine=dask needs Dask, which is not installed ({error}):"
            " pip install 'dpbandits[dask]', in a checkout pip install '.[dask]'"
        ) from error
    client = resources.enter_context(dask_cluster.connected(cluster.scheduler, workers))
    outcomes = dask_cluster.play(tasks, client, cluster.scheduler or "this machine")
    return sum(client.nthreads().values()), outcomes
