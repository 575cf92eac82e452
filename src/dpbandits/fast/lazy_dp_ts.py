"""Lazy-DP-TS that samples only the arms above a level, with posteriors that rise with log t.

An arm whose mean is clipped to 1 stays clipped until it is pulled, and -log θ is an exponential
time with rate a.
"""

import math
from typing import Any, NamedTuple

from dpbandits.algorithms._ftpl import sample
from dpbandits.algorithms.lazy_dp_ts import (
    RaisedMeans,
    first_pulls,
    logarithm,
    observe,
    raised_numbers,
)
from dpbandits.fast import _largest_sample as largest_sample
from dpbandits.fast._largest_sample import covers, follow_exact
from dpbandits.kernel.compilation import kernel

__all__ = ["covers", "play"]


class Rising(NamedTuple):
    """State: posteriors, and what the algorithm keeps of the rewards."""

    law: RaisedMeans
    rewards: Any
    params: Any


@sample.register(RaisedMeans)
def rising_sample(means, rng, a, b):
    """Draw θ; by inversion where m is clipped, so that a or b is 1."""
    if b == 1.0:
        return math.exp(-rng.standard_exponential() / a)
    if a == 1.0:
        return -math.expm1(-rng.standard_exponential() / b)
    return rng.beta(a, b)


largest_sample.clock.register(Rising)(lambda state, t: logarithm(state.params, t))


@largest_sample.numbers_at.register(Rising)
def rising_numbers(state, arm, log_t):
    means = state.law
    a, b = raised_numbers(means, arm, log_t)
    clipped = means.mean[arm] + means.slope[arm] * log_t >= 1.0
    return a, b, means.rewards[arm] + 1.0 if clipped else 0.0


@largest_sample.learn.register(Rising)
def rising_learn(state, rng, arm, reward):
    observe(state.rewards, state.law, rng, arm, reward)


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest θ."""
    means, rewards = first_pulls(params, bandit, rng)
    follow_exact(Rising(means, rewards, params), bandit, rng)
