"""Tasks: which runs are played in one call of a worker, in what order, and what comes of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpbandits.experiments import Experiment
from dpbandits.store.blocks import Store

TASKS_PER_CELL = 16  # at most: every task writes a file


@dataclass(frozen=True)
class Task:
    """Consecutive runs of one cell: one call in a worker, one block on disk."""

    cell: Experiment
    runs: range


@dataclass(frozen=True)
class Outcome:
    """Result of a task: the curves and the seconds of its runs, or the text of the error."""

    task: Task
    curves: np.ndarray | None = None  # float64 of shape (runs, columns); None: failed
    seconds: np.ndarray | None = None  # float64 of shape (runs,)
    error: str | None = None  # the exception in one line
    trace: str | None = None


def plan(runs_of: Mapping[Experiment, int], store: Store, block: int) -> list[Task]:
    """Return the tasks that are missing for the given number of runs of every cell.

    A task has `block` runs or more, unless fewer are left in a gap. The first task of every cell
    comes before the second task of any cell: failures show early, and the time of a run is soon
    known for every cell.
    """
    ranked: list[tuple[int, Task]] = []
    for cell, runs in runs_of.items():
        gaps = store.missing(cell, runs)
        size = max(block, -(-sum(map(len, gaps)) // TASKS_PER_CELL))
        pieces = [gap[start : start + size] for gap in gaps for start in range(0, len(gap), size)]
        ranked += [(rank, Task(cell, piece)) for rank, piece in enumerate(pieces)]
    return [task for _, task in sorted(ranked, key=lambda entry: entry[0])]
