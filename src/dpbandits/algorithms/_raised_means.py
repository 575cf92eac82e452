"""Shared code of Lazy-DP-TS and DP-TS (hu2022): Beta posteriors of means raised with log t.

Between two releases an arm has O rewards, a private mean μ~ and a bonus w log t, and in round t

    θ(t) ~ Beta(m O + 1, (1 - m) O + 1),    m = max{0, min{μ~ + w log t, 1}}.

An algorithm registers a body of `observe` for the state that its pulls change.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import allocating, by_class, inlined


class Log(IntEnum):
    """Reading: base of the logarithms in the bonus."""

    TWO = 0  # the text: "log(x) is the base-2 logarithm of x"
    NATURAL = 1  # e


class RaisedMeans(NamedTuple):
    """Posterior of every arm, float64 of shape (arms,) each. `observe` writes the arrays."""

    rewards: np.ndarray  # O
    mean: np.ndarray  # μ~
    slope: np.ndarray  # w, the bonus divided by log t


@by_class
def observe(state, means, rng, arm, reward):
    """Add a reward of an arm; a release updates the posterior of the arm in `means`."""
    raise NotImplementedError("this state registered no body for `observe`")


@inlined
def logarithm(params, x):
    """Return log x in the base of the reading."""
    return math.log(x) / math.log(2.0) if params.log == Log.TWO else math.log(x)


@allocating
def raised_means(arms):
    """Return posteriors whose arrays are still to be filled."""
    return RaisedMeans(np.empty(arms), np.empty(arms), np.empty(arms))


@inlined
def raised(means, arm, log_t):
    """Return m, the private mean of an arm plus its bonus, clipped to [0, 1]."""
    return max(0.0, min(means.mean[arm] + means.slope[arm] * log_t, 1.0))


@inlined
def raised_numbers(means, arm, log_t):
    """Return the parameters of θ of an arm, m O + 1 and (1 - m) O + 1."""
    n, m = means.rewards[arm], raised(means, arm, log_t)
    return m * n + 1.0, (1.0 - m) * n + 1.0


@allocating
def follow_posteriors(params, state, means, bandit, rng):
    """Play the arm of largest θ in every round up to the horizon."""
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        log_t = logarithm(params, rounds_played(bandit) + 1)
        for arm in range(theta.size):
            a, b = raised_numbers(means, arm, log_t)
            theta[arm] = rng.beta(a, b)
        chosen = argmax(theta)
        observe(state, means, rng, chosen, pull(bandit, chosen))
