"""Bounds of wang2024 and the start phase of DP-FTPL-Gauss, written again from the paper.

A function has the name and the arguments of the package's. Logarithms in which e^epsilon - 1 almost
cancels are evaluated with 60 digits.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from wang2024 import Beta, Gauss

# Theorems ----------------------------------------------------------------------------------------


def log_fraction(epsilon: float, delta: float, a: float, b: float, c: float, d: float) -> float:
    """Return (1/epsilon) log[(a E + b delta)/(c E + d delta)] with E = e^epsilon - 1.

    epsilon = 0 is replaced by 10^-25: the limit to 20 digits.
    """
    with localcontext() as context:
        context.prec = 60
        small = Decimal(epsilon) or Decimal("1e-25")
        e, share = small.exp() - 1, Decimal(delta)
        top = Decimal(a) * e + Decimal(b) * share
        return float((top / (Decimal(c) * e + Decimal(d) * share)).ln() / small)


def global_lower_bound(
    horizon: int, epsilon: float, delta: float, c0: float, exponent: float
) -> float:
    """Return Theorem 4, (3), but 0 where the logarithm is negative."""
    s = float(horizon) ** (1 - exponent)
    return max(0.0, log_fraction(epsilon, delta, s, 5 * s, 40 * c0, 5 * s) / 16)


def ftpl_new_upper_bound(
    means: Sequence[float], horizon: int, epsilon: float, delta: float
) -> float:
    """Return Theorem 16 over the suboptimal arms."""
    t = horizon
    private = 4 * log_fraction(epsilon, delta, t, 2 * t, 2, 2 * t)
    return sum(max(16 * math.log(t) / g, private) for g in gaps_of(means)) + 4 * len(means)


def gdp_elim_upper_bound(
    means: Sequence[float], horizon: int, epsilon: float, delta: float
) -> float:
    """Return Theorem 18."""
    t, gaps = horizon, gaps_of(means)
    private = log_fraction(epsilon, delta, t**2, t**2, 2, t**2)
    return 4 * len(means) + sum(
        1024 * g * math.log(t) / min(gaps) ** 2 + 32 * g / min(gaps) * private for g in gaps
    )


def gaps_of(means: Sequence[float]) -> list[float]:
    """Return Delta_i of the suboptimal arms."""
    return [max(means) - mean for mean in means if mean < max(means)]


# Start phases ------------------------------------------------------------------------------------


def gauss_start(epsilon: float, delta: float) -> float:
    """Return N_G*, at least 1."""
    return max(1.0, Gauss(epsilon, delta).start())


def beta_start(epsilon: float, delta: float) -> float:
    """Return N_B*."""
    return Beta(epsilon, delta).start()


def gauss_start_regret(means: Sequence[float], horizon: int, epsilon: float, delta: float) -> float:
    """Return the regret of lines 2 to 7 of Algorithm 1, pull by pull."""
    total, t, start = 0.0, 0, gauss_start(epsilon, delta)
    for mean in means:
        n = 0
        while n < start and t < horizon:
            n, t, total = n + 1, t + 1, total + max(means) - mean
    return total


def gauss_start_deltas(arms: int, horizon: int, epsilon: float) -> tuple[float, ...]:
    """Return the deltas at which N_G* > 1 changes its term, and where its first term is T/K."""
    crossings = [0.5 / math.sqrt(math.pi * horizon / arms)]
    if epsilon > 0:
        if 1 / (4 * math.pi * crossings[0] ** 2) > second_term(epsilon, crossings[0]) * (1 + 1e-9):
            crossings = []  # there the second term is the smaller one
        grid = np.geomspace(1e-9, 0.5 / math.sqrt(math.pi) * 0.999, 2000)
        crossings += roots(lambda d: 1 / (4 * math.pi * d**2) - second_term(epsilon, d), grid)
    return tuple(sorted(crossings))


def gauss_start_epsilons(arms: int, horizon: int, delta: float) -> tuple[float, ...]:
    """Return the epsilons at which N_G* > 1 changes its term, and where its second is T/K."""
    first, full, grid = 1 / (4 * math.pi * delta**2), horizon / arms, np.geomspace(1e-9, 10, 2000)
    crossings = roots(lambda e: first - second_term(e, delta), grid) if first > 1 else []
    if 1 < full < first:
        crossings += roots(lambda e: full - second_term(e, delta), grid)
    return tuple(sorted(crossings))


def second_term(epsilon: float, delta: float) -> float:
    """Return log(e/(4 pi delta^2))/epsilon^2."""
    return math.log(math.e / (4 * math.pi * delta**2)) / epsilon**2


def roots(f: Callable[[float], float], grid: np.ndarray) -> list[float]:
    """Return a root between any two neighbours of the grid at which f has opposite signs."""
    return [
        float(brentq(f, a, b, xtol=1e-300, rtol=1e-14))
        for a, b in pairwise(grid)
        if f(a) * f(b) < 0
    ]
