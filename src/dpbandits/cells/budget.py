"""Privacy budget of a cell, composed from the releases that it declares."""

from functools import cache

from dpbandits.core import parameters
from dpbandits.experiments import Experiment
from dpbandits.privacy.notions import DELTA
from dpbandits.privacy.releases import composed_epsilon


@cache
def budget(cell: Experiment) -> float | None:
    """Return the epsilon that a cell's declared releases compose to; None if it declares none.

    The delta is that of `delta_of`. The result is math.inf if the number of releases is unbounded,
    or if their deltas add up to more than this delta.
    """
    releases = cell.releases()
    if releases is None:
        return None
    return composed_epsilon(releases, delta_of(cell))


def given(cell: Experiment) -> float:
    """Return the epsilon given to a private cell; for zCDP the one that its rho implies."""
    claim = cell.claim()
    values = parameters.plain(cell.params)
    if claim is None:
        return float(values["epsilon"])
    return claim.notion.epsilon(float(values[claim.notion.budget]), delta_of(cell))


def delta_of(cell: Experiment) -> float:
    """Return the delta of a cell's parameters, 0 without one; for zCDP the usual one."""
    claim = cell.claim()
    if claim and claim.notion.needs_delta:
        return DELTA
    return float(getattr(cell.params, "delta", 0.0))
