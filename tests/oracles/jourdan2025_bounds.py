"""Characteristic times of best-arm identification, from the poster of jourdan2025 alone.

The definition itself: the largest v such that v <= w* d-(mu*, x) + w_a d+(mu_a, x) for every arm a
and every x of a fine grid, over allocations w. It is a linear program. The grid makes it too large,
by about 1e-5 of its value.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from azize2022 import divergence as kl
from scipy.optimize import linprog

POINTS = 1000
Divergence = Callable[[float, float], float]


def d_plus(mean: float, x: float, epsilon: float) -> float:
    """Return the signed divergence of the box: 0 below the mean, kl up to g, linear beyond."""
    if x <= mean:
        return 0.0
    if epsilon > 700:
        return kl(mean, x)
    g = mean * math.exp(epsilon) / (mean * (math.exp(epsilon) - 1) + 1)
    if x <= g:
        return kl(mean, x)
    return -math.log(1 - x * (1 - math.exp(-epsilon))) - epsilon * mean


def time(means: Sequence[float], plus: Divergence) -> float:
    """Return 1/max_w min_a min_x {w* d-(mu*, x) + w_a d+(mu_a, x)}; d-(m, x) = d+(1-m, 1-x)."""
    best = max(range(len(means)), key=means.__getitem__)
    rows = []
    for arm, mean in enumerate(means):
        if arm != best:
            for part in np.sin(np.linspace(0, math.pi / 2, POINTS)[1:-1]) ** 2:
                x = mean + float(part) * (means[best] - mean)
                row = np.zeros(len(means) + 1)
                row[best] = -plus(1 - means[best], 1 - x)
                row[arm] = -plus(mean, x)
                row[-1] = 1.0
                rows.append(row)
    scale = -min(float(row[:-1].min()) for row in rows)
    goal = np.zeros(len(means) + 1)
    goal[-1] = -1.0
    matrix = np.array(rows)
    matrix[:, :-1] /= scale
    simplex = np.ones((1, len(means) + 1))
    simplex[0, -1] = 0.0
    solved = linprog(goal, matrix, np.zeros(len(rows)), simplex, np.ones(1))
    return 1.0 / (-float(solved.fun) * scale)


def characteristic_time(means: Sequence[float], epsilon: float) -> float:
    """Return T*_epsilon."""
    return time(means, lambda mean, x: d_plus(mean, x, epsilon))


def lower_bound(means: Sequence[float], epsilon: float, risk: float) -> float:
    """Return T*_epsilon log(1/(3 delta))."""
    return characteristic_time(means, epsilon) * math.log(1 / (3 * risk))


def transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return max over a of log(mu* (1 - mu_a)/(mu_a (1 - mu*))), the box on the free regime."""
    best = max(means)
    if best == 1 or min(means) == 0:
        return ()
    worse = [mean for mean in means if mean < best]
    return (max(math.log(best * (1 - mean) / (mean * (1 - best))) for mean in worse),)
