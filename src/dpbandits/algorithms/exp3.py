"""EXP3 (Auer, Cesa-Bianchi, Freund, Schapire 2002) as in tossou2017, section 2.1. Not private.

    pᵢ = (1 - γ) exp(vᵢ)/sum_j exp(vⱼ) + γ/K,    vᵢ = γ/K times i's estimated cumulative gain.

A weight is exp(vᵢ - shift). The shift moves to the largest v once that exceeds it by more than
STEP: no weight overflows, and the largest is never below 1.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.kernel.bandit import number_of_arms, playing, pull
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Rounds

LABEL = "EXP3"
STEP = 30.0  # more than 1, the largest growth of v in one round, as p is never below gamma/K


class Params(NamedTuple):
    """Horizon T, which determines γ."""

    horizon: Rounds


class Estimates(NamedTuple):
    """Estimated gains of all arms, times γ/K. `add_gain` writes the arrays in place."""

    v: np.ndarray  # float64, shape (arms,)
    weights: np.ndarray  # float64, shape (arms,)
    shift: np.ndarray  # float64, shape (1,)


@inlined
def exploration(arms, rounds):
    """Return γ = min{1, sqrt(K ln K/((e-1) T))} for T rounds (Auer et al. 2002)."""
    return min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * rounds)))


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
    if v[arm] - shift[0] > STEP:
        # No other arm exceeds the step, so this v is the largest.
        shift[0] = v[arm]
        for other in range(v.size):
            weights[other] = math.exp(v[other] - shift[0])
    weights[arm] = math.exp(v[arm] - shift[0])


@kernel
def play(params, bandit, rng):
    """Draw an arm from p and add g/p to its estimated cumulative gain."""
    arms = number_of_arms(bandit)
    gamma = exploration(arms, params.horizon)
    estimates = Estimates(np.zeros(arms), np.ones(arms), np.zeros(1))
    while playing(bandit):
        arm, p = draw_arm(estimates, gamma, rng)
        gain = pull(bandit, arm)
        add_gain(estimates, arm, gamma / arms * (gain / p))
