"""Privacy budget of a cell, composed from the releases that it declares."""

from functools import cache

from dpbandits.cells.kinds import AnyCell
from dpbandits.core import parameters
from dpbandits.privacy.notions import Notion, approximate
from dpbandits.privacy.releases import composed_epsilon


@cache
def budget(cell: AnyCell) -> float | None:
    """Return the epsilon that a cell's declared releases compose to; None if it declares none.

    The delta is that of the cell's parameters, or 0 if they have none; for zCDP it is that at which
    `approximate` states it. The result is math.inf if
    the number of releases is unbounded, or if their deltas add up to more than this delta.
    """
    releases = cell.releases()
    if releases is None:
        return None
    return composed_epsilon(releases, delta_of(cell))


def given(cell: AnyCell) -> float:
    """Return the epsilon given to a private cell; for zCDP the one that its rho implies."""
    claim = cell.claim()
    if claim and claim.notion is Notion.CONCENTRATED:
        return approximate(claim).epsilon
    return float(parameters.plain(cell.params)["epsilon"])


def delta_of(cell: AnyCell) -> float:
    """Return the delta of a cell's budget, 0 if it has none."""
    claim = cell.claim()
    if claim and claim.notion is Notion.CONCENTRATED:
        return approximate(claim).delta
    return float(getattr(cell.params, "delta", 0.0))
