"""Lazy-DP-TS and DP-TS in the scheme of _largest_sample.py: posteriors that rise with log t.

An arm whose mean is clipped to 1 stays clipped until it is pulled, and -log θ is an exponential
time with rate a.
"""

import math
from typing import Any, NamedTuple

from dpbandits.algorithms._raised_means import (
    RaisedMeans,
    logarithm,
    observe,
    raised,
    raised_numbers,
)
from dpbandits.fast._beta import sample_tail, tail_bound
from dpbandits.fast._largest_sample import (
    chance_above,
    clock,
    learn,
    numbers_at,
    rate,
    sample,
    sample_above,
)


class Raised(NamedTuple):
    """State: posteriors, and what the algorithm keeps of the rewards."""

    law: RaisedMeans
    rewards: Any
    params: Any


chance_above.register(RaisedMeans)(tail_bound)
sample_above.register(RaisedMeans)(sample_tail)


@sample.register(RaisedMeans)
def raised_sample(means, rng, a, b):
    """Draw θ; by inversion where m is clipped, so that a or b is 1."""
    if b == 1.0:
        return math.exp(-rng.standard_exponential() / a)
    if a == 1.0:
        return -math.expm1(-rng.standard_exponential() / b)
    return rng.beta(a, b)


@clock.register(Raised)
def raised_clock(state, t):
    return logarithm(state.params, t)


@rate.register(Raised)
def raised_rate(state, arm, log_t):
    return state.law.rewards[arm] + 1.0 if raised(state.law, arm, log_t) == 1.0 else 0.0


@numbers_at.register(Raised)
def raised_numbers_at(state, arm, log_t):
    return raised_numbers(state.law, arm, log_t)


@learn.register(Raised)
def raised_learn(state, rng, arm, reward):
    observe(state.rewards, state.law, rng, arm, reward)
