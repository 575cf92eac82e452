"""Planning, playing, storing and reporting of missing runs: the one door to computation.

No other module loops over the runs of many experiments.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import joblib

from dpbandits.config.settings import Cluster, Settings
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.files.atomic import check_writable, to_json, write_atomically
from dpbandits.kernel.errors import UserError, installing
from dpbandits.run import user_algorithms
from dpbandits.run.progress import Progress, reported
from dpbandits.run.tasks import Outcome, Task, attempt, plan
from dpbandits.store.blocks import Store
from dpbandits.store.key import EditedSources, check_sources

FAILURES = "failures.json"
# joblib's destructor warns after an interrupt, joblib itself in a process of a pool.
warnings.filterwarnings("ignore", ".*adjusting the input task")
warnings.filterwarnings("ignore", "Loky-backed")


@dataclass(frozen=True)
class Completion:
    """Store after the missing runs have been played, with the tasks that failed."""

    store: Store
    computed: int  # runs that were missing
    failures: tuple[Outcome, ...]

    def reason(self) -> str:
        """Return how many runs failed, and the first failure."""
        first = self.failures[0].task
        failed = sum(len(failure.task.runs) for failure in self.failures)
        return (
            f"{failed} of {self.computed} runs failed, the others are kept; first failure:"
            f" {kinds.words(first.experiment).name}, runs {first.runs.start}-{first.runs.stop - 1}:"
            f" {self.failures[0].error}{user_algorithms.advice(first.experiment)}"
        )


def complete(
    runs_of: Mapping[Experiment, int],
    settings: Settings,
    title: str,
    folder: Path | None,
    store: Store | None = None,
    progress: bool = True,
) -> Completion:
    """Play the missing runs on the engine of the settings: threads or a cluster.

    Failed runs are reported in one line and, with tracebacks, in `folder`/failures.json (without a
    folder, by the caller); the other runs are kept. `store`: another one than that of the settings.
    Raises UserError if the store or the engine cannot be used, or if sources have been edited.
    """
    store = store or Store(settings.cache)
    missing = plan(runs_of, store, settings.block)
    experiments = dict.fromkeys(task.experiment for task in missing)
    user_algorithms.report_uncompiled(experiments)
    if stored := [*filter(user_algorithms.is_stored, experiments)]:
        for experiment in stored:
            check_sources(experiment)
        check_writable(store.folder)  # a complete cache may be read-only
        store.report_older()
    failures = compute(missing, store, settings.workers, title, settings.cluster, progress)
    done = Completion(store, sum(len(task.runs) for task in missing), tuple(failures))
    if folder is not None and not failures:
        (folder / FAILURES).unlink(missing_ok=True)
    elif folder is not None:
        described = [
            {
                "experiment": failure.task.experiment.description(),
                "runs": [failure.task.runs.start, failure.task.runs.stop - 1],
                "error": failure.error,
                "traceback": failure.trace,
            }
            for failure in failures
        ]
        write_atomically(folder / FAILURES, to_json(described))
        print(
            f"dpbandits: {done.reason()}; all failures, with tracebacks, are in"
            f" {folder / FAILURES}; after a fix, the same command computes only the missing runs",
            file=sys.stderr,
        )
    return done


def compute(
    tasks: Sequence[Task],
    store: Store,
    workers: int | None,
    title: str,
    cluster: Cluster | None = None,
    progress: bool = True,
) -> list[Outcome]:
    """Play the tasks, write every block as it arrives and report progress; return the failures.

    The tasks run on threads of this process or on a cluster; the main thread writes the blocks in
    either case. A failed task does not stop the others, nor does one whose sources have been edited
    meanwhile. UserError (a full disk, no worker left) and KeyboardInterrupt stop all of them.
    """
    failures: list[Outcome] = []
    if not tasks:
        return failures
    stop = Event()
    with ExitStack() as resources:
        outcomes: Generator[Outcome, None, None]
        if cluster is None:
            threads = joblib.effective_n_jobs(-1 if workers is None else workers)
            # A single worker is a thread too, so that Ctrl-C reaches the main thread in mid-run.
            outcomes = joblib.Parallel(
                max(threads, 2),
                prefer="threads",
                batch_size=1,
                pre_dispatch=1 if threads == 1 else "2 * n_jobs",
                return_as="generator_unordered",
            )(joblib.delayed(attempt)(task, stop) for task in tasks)
        else:
            try:
                from dpbandits.run import dask_cluster
            except ImportError as error:
                raise UserError(
                    f"engine=dask needs Dask, which is not installed ({error}):"
                    f" {installing('dask')}"
                ) from error
            client = resources.enter_context(dask_cluster.connected(cluster.scheduler, workers))
            threads = sum(client.nthreads().values())
            outcomes = dask_cluster.compute(tasks, client, cluster.scheduler or "this machine")
        runs = Counter[Experiment]()
        for task in tasks:
            runs[task.experiment] += len(task.runs)
        counted = Progress(title, runs, threads)
        resources.enter_context(reported(counted.line, progress))
        resources.enter_context(closing(outcomes))
        resources.callback(stop.set)  # first: after Ctrl-C, threads play their runs to the end
        for outcome in outcomes:
            task, pace = outcome.task, None
            try:
                if outcome.curves is None or outcome.seconds is None:
                    failures.append(outcome)
                else:
                    store.write(
                        task.experiment, task.runs.start, outcome.curves, outcome.seconds.sum()
                    )
                    pace = outcome.seconds[-1]
            except EditedSources as error:
                failures.append(Outcome(task, error=str(error)))
            counted.add(task.experiment, len(task.runs), pace)
    return failures
