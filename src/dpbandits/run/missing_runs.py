"""Planning, playing and reporting of missing runs, shared by figures, the check and the search."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpbandits.cells.kinds import AnyCell
from dpbandits.config.settings import Settings
from dpbandits.files.atomic import check_writable, write_atomically
from dpbandits.files.schemas import to_json
from dpbandits.run import edited_sources, own_algorithms, runner, tasks
from dpbandits.store.blocks import Store

FAILURES = "failures.json"


@dataclass(frozen=True)
class Completion:
    """Store after the missing runs have been played, with the tasks that failed."""

    store: Store
    computed: int  # runs that were missing
    failures: tuple[runner.Outcome, ...]


def complete(
    runs_of: Mapping[AnyCell, int], settings: Settings, title: str, folder: Path
) -> Completion:
    """Play the missing runs on the engine of the settings: threads or a cluster.

    Failed runs are reported in one line and, with tracebacks, in `folder`/failures.json; the other
    runs are kept. Sources that were edited since the process started are reported before and after
    the runs. Raises UserError if the store cannot be written or the engine cannot be used.
    """
    return Completing(runs_of, settings, title, folder).finish()


class Completing:
    """Missing runs that start to play at once, as in `complete`; call `finish` to store them."""

    def __init__(
        self, runs_of: Mapping[AnyCell, int], settings: Settings, title: str, folder: Path
    ) -> None:
        self.cells = runs_of.keys()
        self.is_done = False
        self.on_threads = settings.cluster is None
        self._title = title
        self._report = folder / FAILURES
        self._store = Store(settings.cache)
        edited_sources.report(self.cells)
        missing = tasks.plan(runs_of, self._store, settings.block)
        own_algorithms.report_uncompiled(task.cell for task in missing)
        if missing:  # a complete cache may be read-only
            check_writable(self._store.folder)
        self._computed = sum(len(task.runs) for task in missing)
        # While the threads compile the first kernel, another process may compile these.
        self.later_kernels: list[AnyCell] = []
        if self.on_threads and settings.workers != 1:
            missing = tasks.kernel_by_kernel(missing)
            kernels = {tasks.kernel_of(task.cell): task.cell for task in missing}
            self.later_kernels = list(kernels.values())[1:]
        self._playing = runner.Playing(missing, settings.workers, settings.cluster)

    def finish(
        self,
        at_the_last: Callable[[], None] = lambda: None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Completion:
        """Wait for all runs and return the completion.

        `meanwhile` is called first, while runs are played and their progress is shown. Once the
        workers have got the last task, `at_the_last` is called after each outcome, and again when
        all runs are stored and `is_done` is True.
        """
        failures = self._playing.collect(
            self._store, self._title, at_the_last=at_the_last, meanwhile=meanwhile
        )
        edited_sources.report(self.cells)
        if failures:
            _report(failures, self._computed, self._report)
        else:
            self._report.unlink(missing_ok=True)
        self.is_done = True
        at_the_last()
        return Completion(self._store, self._computed, tuple(failures))


def _report(failures: Sequence[runner.Outcome], runs: int, file: Path) -> None:
    described = [
        {
            "cell": failure.task.cell.description(),
            "runs": [failure.task.runs.start, failure.task.runs.stop - 1],
            "error": failure.error,
            "traceback": failure.trace,
        }
        for failure in failures
    ]
    write_atomically(file, to_json(described))
    first = failures[0].task
    failed = sum(len(failure.task.runs) for failure in failures)
    print(
        f"dpbandits: {failed} of {runs} runs failed, the others are kept; first failure:"
        f" {first.cell.name}, runs {first.runs.start}-{first.runs.stop - 1}: {failures[0].error}"
        f"{own_algorithms.advice(first.cell)}; all failures, with tracebacks, are in {file}; after"
        " a fix, the same command computes only the missing runs",
        file=sys.stderr,
    )
