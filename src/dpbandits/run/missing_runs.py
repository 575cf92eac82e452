"""Planning, playing and reporting of missing runs, shared by figures, the check and the search."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpbandits.cells.kinds import AnyCell
from dpbandits.config.settings import Settings
from dpbandits.files.atomic import check_writable, write_atomically
from dpbandits.run import edited_sources, runner, tasks
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
    store = Store(settings.cache)
    edited_sources.report(runs_of)
    missing = tasks.plan(runs_of, store, settings.block)
    if missing:  # a complete cache may be read-only
        check_writable(store.folder)
    computed = sum(len(task.runs) for task in missing)
    failures = runner.play(missing, store, settings.workers, title, settings.cluster)
    edited_sources.report(runs_of)
    report = folder / FAILURES
    if failures:
        _report(failures, computed, report)
    else:
        report.unlink(missing_ok=True)
    return Completion(store, computed, tuple(failures))


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
    write_atomically(file, (json.dumps(described, indent=1) + "\n").encode())
    first = failures[0].task
    failed = sum(len(failure.task.runs) for failure in failures)
    print(
        f"dpbandits: {failed} of {runs} runs failed, the others are kept; first failure:"
        f" {first.cell.name}, runs {first.runs.start}-{first.runs.stop - 1}: {failures[0].error};"
        f" all failures, with tracebacks, are in {file}; after a fix, the same command"
        " computes only the missing runs",
        file=sys.stderr,
    )
