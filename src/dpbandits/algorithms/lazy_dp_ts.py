"""Lazy-DP-TS (hu2022): Algorithm 2. ε-global DP, Theorem 3."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms._raised_means import Log, follow_posteriors, observe, raised_means
from dpbandits.core.bandit import number_of_arms, pull
from dpbandits.core.kernel import allocating, inlined, kernel
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace

LABEL = "Lazy-DP-TS"


class Params(NamedTuple):
    """Privacy budget, the reading of the logarithm, and the method that draws the largest θ."""

    epsilon: Positive
    log: Log = Log.TWO
    method: Method = Method.EXACT


class Fresh(NamedTuple):
    """Rewards since the last release of each arm, Ψ; `observe` writes the arrays."""

    total: np.ndarray  # float64, shape (arms,): their sum
    number: np.ndarray  # int64, shape (arms,): |Ψ|
    epsilon: float


@observe.register(Fresh)
def lazy_observe(fresh, means, rng, arm, reward):
    """Append a reward to Ψ; 2^(r+1) rewards replace the 2^r of the last release (lines 12-16)."""
    fresh.total[arm] += reward
    fresh.number[arm] += 1
    if fresh.number[arm] == 2 * means.rewards[arm]:
        release(means, rng, arm, fresh.total[arm], fresh.number[arm], fresh.epsilon)
        fresh.total[arm], fresh.number[arm] = 0.0, 0


@inlined
def release(means, rng, arm, total, n, epsilon):
    """Release the mean of n rewards of an arm, and set its bonus 3 log(t)/(ε O) (line 7)."""
    means.rewards[arm] = n
    means.mean[arm] = (total + laplace(rng, 1.0, epsilon)) / n
    means.slope[arm] = 3.0 / (epsilon * n)


@allocating
def first_pulls(params, bandit, rng):
    """Pull each arm once; return the posteriors and Ψ."""
    arms = number_of_arms(bandit)
    means = raised_means(arms)
    fresh = Fresh(np.zeros(arms), np.zeros(arms, np.int64), params.epsilon)
    for arm in range(arms):
        release(means, rng, arm, pull(bandit, arm), 1, params.epsilon)
    return means, fresh


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then that of largest θ; an arm's mean is renewed when its O doubles."""
    means, fresh = first_pulls(params, bandit, rng)
    follow_posteriors(params, fresh, means, bandit, rng)


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and doubling, of 1, 2, 4, ... rewards; they are disjoint."""
    for arm in range(arms):
        n = 1
        while 2 * n - 1 <= horizon:
            yield Laplace(arm, n, 2 * n - 1, sensitivity=1.0, scale=1.0 / params.epsilon)
            n *= 2


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 3."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "hu2022, Theorem 3")
