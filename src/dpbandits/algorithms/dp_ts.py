"""DP-TS (hu2022): Algorithm 1. ε-global DP, Theorem 1.

The private sum of an arm's O rewards has two parts with ε/2 each. The logarithmic part C is renewed
at 3, 7, 15, ... rewards with a new Lap(1/(ε/2)); the rewards since then are in B, a binary tree of
r + 1 levels with Lap((r+1)/(ε/2)) per node (remark (b)). This is a hybrid counter, which renews its
sum at 2, 4, 8, ... items, if an item of 0 precedes the first reward; its k is r + 1.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms.lazy_dp_ts import (
    Log,
    RaisedMeans,
    first_pulls,
    logarithm,
    observe,
    play,
)
from dpbandits.kernel.bandit import number_of_arms, pull, rounds_left
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.counters import Hybrid, hybrid_counters, hybrid_releases, insert
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "DP-TS"
guarantee = guaranteed(Notion.GLOBAL, "hu2022, Theorem 1")


class Params(NamedTuple):
    """Privacy budget, the variant of the logarithm, and the method that draws the largest θ."""

    epsilon: Positive
    log: Log = Log.TWO
    method: Method = Method.EXACT


class Sums(NamedTuple):
    """Private sums C + B of every arm."""

    counters: Hybrid
    params: Params


@observe.register(Sums)
def dp_ts_observe(sums, means, rng, arm, reward):
    """Add the reward to C + B (lines 12-19) and set the posterior, with the bonus of line 7."""
    released = insert(sums.counters, rng, arm, reward)
    n = float(sums.counters.items[arm] - 1)
    weight = 6.0 * math.sqrt(8.0) * logarithm(sums.params, n + 1.0) / sums.params.epsilon
    means.rewards[arm] = n
    means.mean[arm] = released / n
    means.slope[arm] = weight / n


@first_pulls.register(Params)
def dp_ts_first_pulls(params, bandit, rng):
    """Pull each arm once; return the posteriors and the private sums."""
    arms, half = number_of_arms(bandit), 0.5 * params.epsilon
    counters = hybrid_counters(arms, rounds_left(bandit) + 1, half, half)
    counters.items[:] = 1  # the item of 0 before the first reward
    means = RaisedMeans(np.empty(arms), np.empty(arms), np.empty(arms))
    sums = Sums(counters, params)
    for arm in range(arms):
        observe(sums, means, rng, arm, pull(bandit, arm))
    return means, sums


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield the releases of the hybrid mechanism, whose item i + 1 is reward i."""
    half = 0.5 * params.epsilon
    for arm in range(arms):
        for release in hybrid_releases(arm, horizon + 1, half, half):
            yield release._replace(first=max(1, release.first - 1), last=release.last - 1)
