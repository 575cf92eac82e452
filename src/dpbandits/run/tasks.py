"""Tasks: which runs are played in one call of a worker, and in what order."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpbandits.experiments import Experiment
from dpbandits.store.blocks import Store

TASKS_PER_CELL = 64  # at most: every task writes a file
SECONDS_PER_TASK = 0.5  # up to this, tasks of short runs are joined, for the same reason


@dataclass(frozen=True)
class Task:
    """Consecutive runs of one cell: one call in a worker, one block on disk."""

    cell: Experiment
    runs: range


def plan(runs_of: Mapping[Experiment, int], store: Store, block: int) -> list[Task]:
    """Return the tasks that are missing for the given number of runs of every cell.

    A task has `block` runs or more, unless fewer are left in a gap. The first task of every cell
    comes before the second task of any cell: failures show early, and the time of a run is soon
    known for every cell.
    """
    ranked: list[tuple[int, int, Task]] = []
    for position, (cell, runs) in enumerate(runs_of.items()):
        gaps = store.missing(cell, runs)
        size = max(block, -(-sum(map(len, gaps)) // TASKS_PER_CELL))
        pieces = [piece for gap in gaps for piece in _pieces(gap, size)]
        ranked += [(rank, position, Task(cell, piece)) for rank, piece in enumerate(pieces)]
    return [task for _, _, task in sorted(ranked, key=lambda entry: entry[:2])]


def _pieces(gap: range, size: int) -> Iterator[range]:
    # Yields consecutive runs of a gap.
    while gap:
        yield gap[:size]
        gap = gap[size:]


def joined(tasks: Sequence[Task], pace: Mapping[Experiment, float]) -> Iterator[Task]:
    """Yield the tasks from the slowest on, each joined with those that continue it.

    They are joined while their total time, estimated from the pace of the cell (seconds of its
    latest run), stays short. A cell whose pace is not known yet joins none.
    """
    waiting = {(task.cell, task.runs.start): task for task in tasks}
    for task in _longest_early(tasks, pace):
        cell, runs = task.cell, task.runs
        if waiting.pop((cell, runs.start), None) is None:
            continue  # already part of an earlier one
        while more := waiting.get((cell, runs.stop)):
            both = range(runs.start, more.runs.stop)
            if len(both) * pace.get(cell, math.inf) > SECONDS_PER_TASK:
                break
            del waiting[cell, runs.stop]
            runs = both
        yield Task(cell, runs)


def _longest_early(tasks: Sequence[Task], pace: Mapping[Experiment, float]) -> Iterator[Task]:
    # Yields the first task of every cell, then the others from the slowest cell on, by the paces
    # known by then, so that only short tasks remain at the end.
    first = dict[Experiment, Task]()
    for task in tasks:
        first.setdefault(task.cell, task)
    yield from first.values()
    ranks = {cell: rank for rank, cell in enumerate(first)}

    def urgency(task: Task) -> tuple[float, int, int]:
        return -pace.get(task.cell, math.inf), ranks[task.cell], task.runs.start

    yield from sorted((task for task in tasks if first[task.cell] is not task), key=urgency)
