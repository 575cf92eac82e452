"""Privacy budget of a cell, composed from the releases that it declares."""

from functools import cache

from dpbandits.cells.kinds import AnyCell
from dpbandits.privacy.releases import composed_epsilon


@cache
def budget(cell: AnyCell) -> float | None:
    """Return the epsilon that the declared releases of a cell compose to; None without any.

    At the delta of its parameters, where they have one, and else at 0; math.inf where the number
    of releases has no bound.
    """
    releases = cell.releases()
    if releases is None:
        return None
    return composed_epsilon(releases, getattr(cell.params, "delta", 0.0))
