"""Noise from a target: the budget whose releases are (epsilon, delta)-DP."""

import math
from collections.abc import Callable, Iterable

from dpbandits.kernel.errors import UserError
from dpbandits.privacy.releases import (
    ApproximateDP,
    Gaussian,
    Laplace,
    Release,
    composed_epsilon,
    composed_rho,
    gaussian_epsilon,
)

DIGITS = 1e-9  # relative accuracy of a budget, which never exceeds the target
ENDS = (1e-12, 1e12)  # budgets among which one is sought


def largest_budget(
    releases: Callable[[float], list[Release]],
    target: float,
    delta: float,
    name: str,
    unit: str,
) -> float:
    """Return the largest budget at which `releases` are (target, delta)-DP, up to DIGITS.

    Gaussian noise alone and equal releases of which only (epsilon, delta)-DP is known compose by
    their closed forms, everything else by `composed_epsilon`. Raises UserError if no budget does,
    or if every one does.
    """

    def meets(budget: float) -> bool:
        declared = releases(budget)
        if declared and all(isinstance(release, Gaussian) for release in declared):
            return gaussian_epsilon(composed_rho(declared), delta) <= target
        if len({release._replace(arm=0) for release in declared}) == 1 and isinstance(
            declared[0], ApproximateDP
        ):
            from dpbandits.privacy.accounting import tight_epsilon  # late: it imports scipy

            return tight_epsilon(declared, delta) <= target
        return composed_epsilon(declared, delta) <= target

    low, high = ENDS
    aim = f"{name}: no {unit} gives epsilon = {target:g} at delta = {delta:g}"
    if not meets(low):
        reason = "zCDP needs a delta above 0" if unit == "rho" and not delta else ""
        raise UserError(f"{aim}: {reason or 'its releases compose to more whatever their noise'}")
    if meets(high):
        raise UserError(f"{aim} exactly: its releases compose to less whatever {unit} is")
    while high > low * (1.0 + DIGITS):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (middle, high) if meets(middle) else (low, middle)
    if not releases(low):
        raise UserError(f"{aim}: so small a {unit} leaves no rounds for releases")
    return low


def least_noise(releases: Iterable[Release]) -> float | None:
    """Return the least scale of noise in units of the sensitivity; None without added noise."""
    scales = [
        release.scale / release.sensitivity
        for release in releases
        if isinstance(release, Gaussian | Laplace) and release.sensitivity > 0.0
    ]
    return min(scales, default=None)
