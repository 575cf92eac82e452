"""Shared code of EXP3 and its private versions: the probabilities (2.1) of tossou2017.

    pᵢ = (1 - γ) exp(vᵢ)/sum_j exp(vⱼ) + γ/K,    vᵢ = γ/K times the estimated
                                                            cumulative gain of arm i.

A weight is exp(vᵢ - shift). A round changes v of a single arm, so it costs one exponential. The
shift moves to the largest v once that exceeds it by more than STEP. So no weight overflows, however
long the game, and the largest weight is never below 1.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, inlined

# More than 1, the largest growth of v in one round, as p is never below gamma/K.
STEP = 30.0


class Estimates(NamedTuple):
    """Estimated gains of all arms, times γ/K. `add_gain` writes the arrays in place."""

    v: np.ndarray  # float64, shape (arms,)
    weights: np.ndarray  # float64, shape (arms,)
    shift: np.ndarray  # float64, shape (1,)


@inlined
def exploration(arms, rounds):
    """Return γ = min{1, sqrt(K ln K/((e-1) T))} for T rounds (Auer et al. 2002)."""
    return min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * rounds)))


@allocating
def no_estimates(arms):
    """Return the estimates before the first round."""
    return Estimates(np.zeros(arms), np.ones(arms), np.zeros(1))


@inlined
def draw_arm(estimates, gamma, rng):
    """Draw an arm; return it and its probability pᵢ."""
    weights = estimates.weights
    total = 0.0
    for arm in range(weights.size):
        total += weights[arm]
    exploitation, floor = (1.0 - gamma) / total, gamma / weights.size
    arm, p = 0, exploitation * weights[0] + floor
    left = rng.random() - p
    while left >= 0.0 and arm < weights.size - 1:
        arm += 1
        p = exploitation * weights[arm] + floor
        left -= p
    return arm, p


@inlined
def add_gain(estimates, arm, gain):
    """Add an estimated gain, γ/K times g/p, to v of an arm."""
    v, weights, shift = estimates
    v[arm] += gain
    # A single exit for both cases: with two, a round takes 15 % longer.
    if v[arm] - shift[0] > STEP:
        # No other arm exceeds the step, so this v is the largest.
        shift[0] = v[arm]
        for other in range(v.size):
            weights[other] = math.exp(v[other] - shift[0])
    weights[arm] = math.exp(v[arm] - shift[0])
