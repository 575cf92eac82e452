"""DP-FTPL-New with the noise of all arms drawn ahead.

The noise of Lemma 15 is that of Lap(1/ε) within [-m, m], where exp(-m ε) = odds/(odds + 1/2).
"""

from typing import Any

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._ftpl import first_pulls, law_of_theta, numbers
from dpbandits.fast import _largest_sample
from dpbandits.fast._noise import noise_ahead, take
from dpbandits.kernel.bandit import playing, pull
from dpbandits.kernel.compilation import kernel
from dpbandits.mechanisms.perturbation import perturbation

FLAT = 2.0**20  # odds from which on a truncated exponential is too flat to draw by its logarithm


def covers(params: Any) -> bool:
    """Return True unless a sample of every arm is asked for, or the noise is nearly uniform."""
    odds = perturbation(params.epsilon, params.delta).odds
    return _largest_sample.covers(params) and bool(odds < FLAT)


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest θᵢ = x₀ + X/Nᵢ, where X is the noise."""
    law = law_of_theta(params)
    sums, pulls = first_pulls(params, bandit, rng)
    arms = sums.size
    x0, scale, theta = np.empty(arms), np.empty(arms), np.empty(arms)
    for arm in range(arms):
        x0[arm], unit = numbers(law, sums[arm], pulls[arm])
        scale[arm] = unit / params.epsilon
    noise = noise_ahead(rng, arms, law.noise.odds / (law.noise.odds + 0.5))
    while playing(bandit):
        first = take(noise, arms)
        for arm in range(arms):
            theta[arm] = x0[arm] + noise.drawn[first + arm] * scale[arm]
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
        x0[chosen], unit = numbers(law, sums[chosen], pulls[chosen])
        scale[chosen] = unit / params.epsilon
