"""The divergence and the lower bound of azize2025 from the slides alone.

The divergence is the printed infimum, by a search over z. It is exact to about 1e-9, because a
search that compares values of a flat function cannot do better.
"""

import math
from collections.abc import Sequence

from azize2022 import divergence as kl
from scipy.optimize import minimize_scalar


def divergence(x: float, y: float, epsilon: float) -> float:
    """Return d_epsilon(x, y) = inf {epsilon |z - x| + kl(z, y): z between x and y}."""

    def value(z: float) -> float:
        return epsilon * abs(z - x) + kl(z, y)

    if y in (0, 1):  # kl is infinite but at z = y
        return value(y)
    inside = minimize_scalar(
        value, bounds=(min(x, y), max(x, y)), method="bounded", options={"xatol": 1e-13}
    )
    return min(value(x), value(y), float(inside.fun))


def lower_bound(means: Sequence[float], horizon: int, epsilon: float) -> float:
    """Return log T times the sum of Delta_a/d_epsilon(mu_a, mu*) over Delta_a > 0."""
    best = max(means)
    worse = [mean for mean in means if best - mean > 0]
    return math.log(horizon) * math.fsum(
        (best - mean) / divergence(mean, best, epsilon) for mean in worse
    )


def transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return the epsilon at which the two cases of the closed form meet, arm by arm."""
    best = max(means)
    worse = sorted({mean for mean in means if 0 < mean < best < 1}, reverse=True)
    return tuple(math.log(best / mean) + math.log((1 - mean) / (1 - best)) for mean in worse)
