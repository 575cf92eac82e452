"""Lazy-DP-TS (hu2022): Algorithm 2. ε-global DP, Theorem 3.

Between two releases an arm has O rewards, a private mean μ~ and a bonus w log t, and in round t

    θ(t) ~ Beta(m O + 1, (1 - m) O + 1),    m = max{0, min{μ~ + w log t, 1}}.

DP-TS plays the same loop, with bodies of `first_pulls` and of `observe` for its own state.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import Method, argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import by_class, inlined, kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "Lazy-DP-TS"
guarantee = guaranteed(Notion.GLOBAL, "hu2022, Theorem 3")


class Log(IntEnum):
    """Variant: base of the logarithms in the bonus."""

    TWO = 0  # the text: "log(x) is the base-2 logarithm of x"
    NATURAL = 1  # e


class Params(NamedTuple):
    """Privacy budget, the variant of the logarithm, and the method that draws the largest θ."""

    epsilon: Positive
    log: Log = Log.TWO
    method: Method = Method.EXACT


class RaisedMeans(NamedTuple):
    """Posterior of every arm, float64 of shape (arms,) each. `observe` writes the arrays."""

    rewards: np.ndarray  # O
    mean: np.ndarray  # μ~
    slope: np.ndarray  # w, the bonus divided by log t


class Fresh(NamedTuple):
    """Rewards since the last release of each arm, Ψ; `observe` writes the arrays."""

    total: np.ndarray  # float64, shape (arms,): their sum
    number: np.ndarray  # int64, shape (arms,): |Ψ|
    epsilon: float


@by_class
def observe(fresh, means, rng, arm, reward):
    """Append a reward to Ψ; 2^(r+1) rewards replace the 2^r of the last release (lines 12-16)."""
    fresh.total[arm] += reward
    fresh.number[arm] += 1
    n, epsilon = fresh.number[arm], fresh.epsilon
    if n == 2 * means.rewards[arm]:
        means.rewards[arm] = n
        means.mean[arm] = (fresh.total[arm] + laplace(rng, 1.0, epsilon)) / n
        means.slope[arm] = 3.0 / (epsilon * n)  # the bonus is 3 log(t)/(ε O) (line 7)
        fresh.total[arm], fresh.number[arm] = 0.0, 0


@inlined
def logarithm(params, x):
    """Return log x in the base of the variant."""
    return math.log(x) / math.log(2.0) if params.log == Log.TWO else math.log(x)


@inlined
def raised_numbers(means, arm, log_t):
    """Return the parameters of θ of an arm, m O + 1 and (1 - m) O + 1."""
    n, m = means.rewards[arm], max(0.0, min(means.mean[arm] + means.slope[arm] * log_t, 1.0))
    return m * n + 1.0, (1.0 - m) * n + 1.0


@partial(by_class, allocating=True)
def first_pulls(params, bandit, rng):
    """Pull each arm once; return the posteriors and the private state, by default Ψ."""
    arms = number_of_arms(bandit)
    # O = 1/2, so that the first reward doubles it and is released.
    means = RaisedMeans(np.full(arms, 0.5), np.empty(arms), np.empty(arms))
    fresh = Fresh(np.zeros(arms), np.zeros(arms, np.int64), params.epsilon)
    for arm in range(arms):
        observe(fresh, means, rng, arm, pull(bandit, arm))
    return means, fresh


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then that of largest θ; `observe` renews its private mean."""
    means, state = first_pulls(params, bandit, rng)
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        log_t = logarithm(params, rounds_played(bandit) + 1)
        for arm in range(theta.size):
            a, b = raised_numbers(means, arm, log_t)
            theta[arm] = rng.beta(a, b)
        chosen = argmax(theta)
        observe(state, means, rng, chosen, pull(bandit, chosen))


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and doubling, of 1, 2, 4, ... rewards; they are disjoint."""
    for arm in range(arms):
        n = 1
        while 2 * n - 1 <= horizon:
            yield Laplace(arm, n, 2 * n - 1, sensitivity=1.0, scale=1.0 / params.epsilon)
            n *= 2
