"""Tasks: which runs are played in one call of a worker, and in what order."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.cells.shared_tables import table_name
from dpbandits.store.blocks import Store

TASKS_PER_CELL = 64  # at most: every task writes a file
SECONDS_PER_TASK = 0.5  # up to this, tasks of short runs are joined, for the same reason


@dataclass(frozen=True)
class Task:
    """Consecutive runs of one cell: one call in a worker, one block on disk."""

    cell: AnyCell
    runs: range


def plan(runs_of: Mapping[AnyCell, int], store: Store, block: int) -> list[Task]:
    """Return the tasks that are missing for the given number of runs of every cell.

    A task has `block` runs or more, unless fewer are left in a gap, and does not divide runs that
    are played in step. The first task of every cell comes before the second task of any cell:
    failures show early, and the time of a run is soon known for every cell.
    """
    ranked: list[tuple[int, int, Task]] = []
    for position, (cell, runs) in enumerate(runs_of.items()):
        gaps = store.missing(cell, runs)
        step = _step(cell)
        size = max(block, -(-sum(map(len, gaps)) // TASKS_PER_CELL))
        size = -(-size // step) * step
        pieces = []
        for gap in gaps:
            while gap:  # cut where a step begins
                first = size - gap.start % step
                pieces.append(gap[:first])
                gap = gap[first:]
        ranked += [(rank, position, Task(cell, piece)) for rank, piece in enumerate(pieces)]
    return [task for _, _, task in sorted(ranked, key=lambda entry: entry[:2])]


def joined(tasks: Sequence[Task], pace: Mapping[AnyCell, float]) -> Iterator[Task]:
    """Yield the tasks from the slowest on, each joined with those that continue it.

    The first task of every cell comes first, then the others from the slowest cell on, by the paces
    (seconds of a cell's latest run) that are known by then, so that only short tasks remain at the
    end. Tasks are joined while their total time stays short. A cell whose pace is not known yet
    joins none, nor does one that shares its tables with other cells: these count as one cell and
    are played side by side on a table before the next is drawn.
    """
    first = {task.cell: task for task in reversed(tasks)}

    def in_order() -> Iterator[Task]:
        yield from (task for task in tasks if first[task.cell] is task)
        slowest = dict[Hashable, float]()
        for task in tasks:
            seconds = pace.get(task.cell, math.inf)
            slowest[_shared(task.cell)] = max(slowest.get(_shared(task.cell), 0.0), seconds)
        ranks = {name: rank for rank, name in enumerate(slowest)}

        def urgency(task: Task) -> tuple[float, int, int]:
            name = _shared(task.cell)
            return -slowest[name], ranks[name], task.runs.start

        yield from sorted((task for task in tasks if first[task.cell] is not task), key=urgency)

    waiting = {(task.cell, task.runs.start): task for task in tasks}
    for task in in_order():
        cell, runs = task.cell, task.runs
        if waiting.pop((cell, runs.start), None) is None:
            continue  # already part of an earlier one
        while (more := waiting.get((cell, runs.stop))) and _step(cell) == 1:
            both = range(runs.start, more.runs.stop)
            if len(both) * pace.get(cell, math.inf) > SECONDS_PER_TASK:
                break
            del waiting[cell, runs.stop]
            runs = both
        yield Task(cell, runs)


def _shared(cell: AnyCell) -> Hashable:
    # Returns a name that is equal for cells that share their tables.
    return table_name(cell) if isinstance(cell, Cell) and _step(cell) > 1 else cell


def _step(cell: AnyCell) -> int:
    return cell.runs_in_step if isinstance(cell, Cell) else 1
