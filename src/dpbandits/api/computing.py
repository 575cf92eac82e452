"""Computation of what a specification lacks, as for a figure: cached, on all cores."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dpbandits.config import described
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.files.atomic import check_writable
from dpbandits.run import edited_sources, runner, tasks
from dpbandits.run.in_memory import MemoryCell, StoreWithMemory
from dpbandits.spec.figure import FigureSpec


class Computed(NamedTuple):
    """Store with all runs of a figure, and how many of them were missing."""

    store: StoreWithMemory
    runs: int


def settings_of(name: str, workers: Any, seed: Any) -> tuple[Settings, Any]:
    """Return the settings of the current project, with a number of threads, and the seed.

    A seed of None is the project's.
    """
    words: Sequence[str] = () if workers is None else (f"engine.workers={workers}",)
    settings, usual = described.settings_of(words, name)
    return settings, usual if seed is None else seed


def computed(spec: FigureSpec, settings: Settings, progress: bool) -> Computed:
    """Play the missing runs of a figure, in the store of the settings, and return the store.

    Algorithms of this process are played in memory. Raises UserError if the store cannot be
    written, or if runs failed; those that did not fail are kept.
    """
    runs_of = spec.runs_of_cells()
    store = StoreWithMemory(settings.cache)
    stored = [cell for cell in runs_of if not isinstance(cell, MemoryCell)]
    if len(stored) < len(runs_of):
        settings = replace(settings, cluster=None)
    edited_sources.report(stored)
    missing = tasks.plan(runs_of, store, settings.block)
    if any(not isinstance(task.cell, MemoryCell) for task in missing):
        check_writable(store.folder)
    failures = runner.play(missing, store, settings.workers, spec.name, settings.cluster, progress)
    if failures:
        raise _error(failures, sum(len(task.runs) for task in missing))
    return Computed(store, sum(len(task.runs) for task in missing))


def _error(failures: Sequence[runner.Outcome], runs: int) -> UserError:
    first = failures[0]
    failed = sum(len(failure.task.runs) for failure in failures)
    error = UserError(
        f"{failed} of {runs} runs failed, the others are kept; first failure:"
        f" {first.task.cell.name}, run {first.task.runs.start}: {first.error}"
    )
    if first.trace:
        error.add_note(first.trace)
    return error
