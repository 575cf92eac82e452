"""Privacy budget of a cell, composed from the releases that it declares."""

from functools import cache

from dpbandits.cells.kinds import AnyCell
from dpbandits.privacy.releases import composed_epsilon


@cache
def budget(cell: AnyCell) -> float | None:
    """Return the epsilon that a cell's declared releases compose to; None if it declares none.

    The delta is that of the cell's parameters, or 0 if they have none. The result is math.inf if
    the number of releases is unbounded, or if their deltas add up to more than this delta.
    """
    releases = cell.releases()
    if releases is None:
        return None
    return composed_epsilon(releases, getattr(cell.params, "delta", 0.0))
