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
        size = max(block, -(-sum(map(len, gaps)) // TASKS_PER_CELL))
        pieces = [piece for gap in gaps for piece in _pieces(gap, size, _step(cell))]
        ranked += [(rank, position, Task(cell, piece)) for rank, piece in enumerate(pieces)]
    return [task for _, _, task in sorted(ranked, key=lambda entry: entry[:2])]


def kernel_by_kernel(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks of one kernel after the other, in the order of the kernels' first tasks.

    While the threads play the first kernel, another process may compile the next ones.
    """
    ranks = dict[Hashable, int]()
    for task in tasks:
        ranks.setdefault(kernel_of(task.cell), len(ranks))
    return sorted(tasks, key=lambda task: ranks[kernel_of(task.cell)])


def kernel_of(cell: AnyCell) -> Hashable:
    """Return a name that is equal only for cells that the same machine code plays."""
    law: tuple[Hashable, ...] = ()
    if isinstance(cell, Cell):
        law = cell.environment, type(cell.instance), cell.regret, cell.pulls_of is None
    return type(cell), cell.member, tuple(map(type, cell.params)), law


def _pieces(gap: range, size: int, step: int) -> Iterator[range]:
    # Yields consecutive runs of a gap, cut where a step begins.
    size = -(-size // step) * step
    while gap:
        first = size - gap.start % step
        yield gap[:first]
        gap = gap[first:]


def joined(tasks: Sequence[Task], pace: Mapping[AnyCell, float]) -> Iterator[Task]:
    """Yield the tasks from the slowest on, each joined with those that continue it.

    They are joined while their total time, estimated from the pace of the cell (seconds of its
    latest run), stays short. A cell whose pace is not known yet joins none, nor does one that
    shares its tables with other cells: these are played on a table before the next is drawn.
    """
    waiting = {(task.cell, task.runs.start): task for task in tasks}
    for task in _longest_early(tasks, pace):
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


def _longest_early(tasks: Sequence[Task], pace: Mapping[AnyCell, float]) -> Iterator[Task]:
    # Yields the first task of every cell, then the others from the slowest cell on, by the paces
    # known by then, so that only short tasks remain at the end. Cells that share tables count as
    # one, with the pace of the slowest, and proceed side by side.
    first = dict[AnyCell, Task]()
    for task in tasks:
        first.setdefault(task.cell, task)
    yield from first.values()
    group = {cell: _shared(cell) for cell in first}
    slowest = dict[Hashable, float]()
    for cell, name in group.items():
        slowest[name] = max(slowest.get(name, 0.0), pace.get(cell, math.inf))
    ranks = {name: rank for rank, name in enumerate(slowest)}

    def urgency(task: Task) -> tuple[float, int, int]:
        name = group[task.cell]
        return -slowest[name], ranks[name], task.runs.start

    yield from sorted((task for task in tasks if first[task.cell] is not task), key=urgency)


def _shared(cell: AnyCell) -> Hashable:
    # Returns a name that is equal for cells that share their tables.
    return table_name(cell) if isinstance(cell, Cell) and _step(cell) > 1 else cell


def _step(cell: AnyCell) -> int:
    return cell.runs_in_step if isinstance(cell, Cell) else 1
