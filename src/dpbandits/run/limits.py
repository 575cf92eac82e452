"""Limits of what the threads of this process play at once: their number, and large tables.

Figures that play side by side (in_turn.py) share them.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.core import registry
from dpbandits.core.errors import UserError

LARGE = 2**26  # bytes of a table of gains; only one table of this size or more is in memory

_large = threading.Lock()


@cache
def _slots(threads: int) -> threading.Semaphore:
    return threading.Semaphore(threads)


@contextmanager
def allowed(cell: AnyCell, threads: int) -> Iterator[None]:
    """Wait until a cell may be played on one of the threads, and hold its place meanwhile."""
    with ExitStack() as places:
        if table_bytes(cell) >= LARGE:
            places.enter_context(_large)  # first: while it waits, another figure uses the thread
        places.enter_context(_slots(threads))
        yield


def table_bytes(cell: AnyCell) -> int:
    """Return the memory of a run's table of gains; 0 without one, or if it cannot be imported."""
    if not isinstance(cell, Cell):
        return 0
    try:
        environment = registry.environment(cell.environment)
    except UserError:  # playing a run raises it again, with the task that failed
        return 0
    if not hasattr(environment, "table"):
        return 0
    arms: int = environment.arms(cell.instance)
    return cell.horizon * arms * 8  # float64
