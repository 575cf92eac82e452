"""Perturbed distributions of wang2024, Figs. 1 to 3, and the conditions of Lemma 8 on them.

A function has the name and the arguments of the package's. The smallest delta is the largest
violation of the inequalities over a fine grid, refined around its maximum: it needs no formula.
"""

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np
from scipy import special
from scipy.optimize import minimize_scalar
from wang2024 import New

Cdf = Callable[[float], float]
Function = Callable[..., float]

# Distributions -----------------------------------------------------------------------------------


def gauss_cdf(x: float, pulls: int, successes: int) -> float:
    """Return F of N(R/N, 2/N)."""
    return math.erfc((successes / pulls - x) / (math.sqrt(2 / pulls) * math.sqrt(2))) / 2


def beta_cdf(x: float, pulls: int, successes: int, with_k: bool) -> float:
    """Return F of Beta(a + k, b + k), or of Beta(a, b)."""
    k = pulls // 8 + 1 if with_k else 0
    inside = min(max(x, 0.0), 1.0)
    return float(special.betainc(successes + 1 + k, pulls - successes + 1 + k, inside))


def new_cdf(
    x: float, pulls: int, successes: int, horizon: int, epsilon: float, delta: float
) -> float:
    """Return F of Lemma 15 with the x_0 of Algorithm 3."""
    return New(epsilon, delta, horizon).law(successes, pulls).cdf(x)


def neighbour(cdf: Function) -> Function:
    """Return F with one more 1."""
    return lambda x, pulls, successes, *rest: cdf(x, pulls, successes + 1, *rest)


gauss_neighbour_cdf, beta_neighbour_cdf = neighbour(gauss_cdf), neighbour(beta_cdf)
new_neighbour_cdf = neighbour(new_cdf)

# Lemma 8, in both directions ---------------------------------------------------------------------


def lowest(f: float, epsilon: float, delta: float) -> float:
    """Return the least F' with F <= e^eps F' + delta and 1 - F' <= e^eps (1 - F) + delta."""
    e = math.exp(epsilon)
    return max(0.0, (f - delta) / e, 1 - e * (1 - f) - delta)


def highest(f: float, epsilon: float, delta: float) -> float:
    """Return the largest F' with F' <= e^eps F + delta and 1 - F <= e^eps (1 - F') + delta."""
    e = math.exp(epsilon)
    return min(1.0, e * f + delta, 1 - (1 - f - delta) / e)


def region(end: Function, cdf: Function) -> Function:
    """Return an end of the region of Figs. 1 to 3, of the arguments of F and the budget."""

    def value(*arguments: float) -> float:
        # The law of Algorithm 3 depends on the budget, too.
        f = cdf(*arguments) if cdf is new_cdf else cdf(*arguments[:-2])
        return float(end(f, *arguments[-2:]))

    return value


CDFS = (gauss_cdf, beta_cdf, new_cdf)
gauss_region_low, beta_region_low, new_region_low = (region(lowest, cdf) for cdf in CDFS)
gauss_region_high, beta_region_high, new_region_high = (region(highest, cdf) for cdf in CDFS)

# The smallest delta ------------------------------------------------------------------------------


def violation(f: Cdf, g: Cdf, x: float, epsilon: float) -> float:
    """Return the delta that both inequalities of Lemma 8 need at x, for F and F' and vice versa."""
    e, a, b = math.exp(epsilon), f(x), g(x)
    return max(0.0, a - e * b, b - e * a, 1 - a - e * (1 - b), 1 - b - e * (1 - a))


def largest_violation(f: Cdf, g: Cdf, xs: Iterable[float], epsilon: float) -> float:
    """Return the largest violation at the points or between the neighbours of the worst one."""
    points = sorted(xs)
    needs = [violation(f, g, x, epsilon) for x in points]
    i = int(np.argmax(needs))
    best = minimize_scalar(
        lambda x: -violation(f, g, x, epsilon),
        bounds=(points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return max(needs[i], -float(best.fun))


def gauss_smallest_delta(pulls: int, epsilon: float) -> float:
    """Return the delta that a shift by 1/N needs."""
    xs = np.linspace(-12, 12, 400) * (math.sqrt(2 / pulls) + epsilon)
    return largest_violation(
        lambda x: gauss_cdf(x, pulls, 0), lambda x: gauss_cdf(x, pulls, 1), xs, epsilon
    )


def beta_smallest_delta(pulls: int, epsilon: float, with_k: bool) -> float:
    """Return the delta that the worst history needs, of all."""
    return max(
        largest_violation(
            lambda x, r=r: beta_cdf(x, pulls, r, with_k),  # type: ignore[misc]
            lambda x, r=r: beta_cdf(x, pulls, r + 1, with_k),  # type: ignore[misc]
            np.linspace(0, 1, 60),
            epsilon,
        )
        for r in range(pulls)
    )


def new_smallest_delta(pulls: int, epsilon: float, delta: float) -> float:
    """Return the delta that a shift by 1/N needs; the CDF has kinks at its ends and at x_0."""
    law, shifted = (New(epsilon, delta, 100).law(r, pulls) for r in (0, 1))
    ends = [each.quantile(u) for each in (law, shifted) for u in (0.0, 0.5, 1.0) if delta > 0]
    xs = [*ends, *(law.x0 + np.linspace(-30, 31, 300) / pulls)]
    return largest_violation(law.cdf, shifted.cdf, xs, epsilon)


# Start phases ------------------------------------------------------------------------------------


def gauss_smallest_start(epsilon: float, delta: float) -> float:
    """Return the least N at which Lemma 8 holds."""
    return fewest(lambda pulls: gauss_smallest_delta(pulls, epsilon) <= delta)


def beta_smallest_start(epsilon: float, delta: float) -> float:
    """Return the least N at which Lemma 8 holds, for every history."""
    return fewest(lambda pulls: beta_smallest_delta(pulls, epsilon, True) <= delta)


def fewest(enough: Callable[[int], bool]) -> float:
    """Return the first number of pulls that is enough."""
    return next(float(pulls) for pulls in itertools.count(1) if enough(pulls))
