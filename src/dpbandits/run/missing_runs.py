"""Planning, playing and reporting of missing runs: the one door to computation."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dpbandits.config.settings import Settings
from dpbandits.experiments import Experiment
from dpbandits.files.atomic import check_writable, write_atomically
from dpbandits.files.schemas import to_json
from dpbandits.run import runner, user_sources
from dpbandits.run.in_memory import is_stored
from dpbandits.run.tasks import Outcome, plan
from dpbandits.store.blocks import Store
from dpbandits.store.key import check_sources

FAILURES = "failures.json"


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
            f" {first.cell.name}, runs {first.runs.start}-{first.runs.stop - 1}:"
            f" {self.failures[0].error}{user_sources.advice(first.cell)}"
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
    Raises UserError if the store cannot be written, if the engine cannot be used, or if sources of
    missing runs have been edited since the process started.
    """
    store = store or Store(settings.cache)
    missing = plan(runs_of, store, settings.block)
    stored = dict.fromkeys(task.cell for task in missing if is_stored(task.cell))
    user_sources.report_uncompiled(stored)
    for cell in stored:
        check_sources(cell)
    if stored:  # a complete cache may be read-only
        check_writable(store.folder)
    failures = runner.play(missing, store, settings.workers, title, settings.cluster, progress)
    done = Completion(store, sum(len(task.runs) for task in missing), tuple(failures))
    if folder is not None and not failures:
        (folder / FAILURES).unlink(missing_ok=True)
    elif folder is not None:
        described = [
            {
                "cell": failure.task.cell.description(),
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
