"""LDP-UCB-L (ren2020): UCB on rewards with Laplace noise each. ε-local DP.

Written from the authors' code and the abstract. The learner reads every reward through its own
mechanism alone. LDP-UCB-B has other bodies of the three functions of its Params.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import by_class, kernel
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, promise
from dpbandits.privacy.releases import Laplace

LABEL = "LDP-UCB-L"
claim = promise(Notion.LOCAL, "ren2020, abstract")  # epsilon for each private reward


class Start(IntEnum):
    """Reading: the count and the mean of an arm before its first pull."""

    ONE_PULL = 0  # none: every arm is pulled once at first
    PHANTOM = 1  # one pull with the private reward 0, as in the authors' code


class Params(NamedTuple):
    """Local privacy budget of each reward, and the reading of the start."""

    epsilon: Positive
    start: Start = Start.ONE_PULL


@by_class
def privatised(params, rng, reward):
    """Return a reward in [0, 1] plus Lap(1/ε), all that the learner sees of it."""
    return reward + laplace(rng, 1.0, params.epsilon)


@by_class
def short_of_samples(params, pulls, t):
    """Return the first arm with N ≤ 4 log(t + 1), pulled whatever its index; -1: there is none."""
    least = 4.0 * math.log(t + 1.0)
    for arm in range(pulls.size):
        if pulls[arm] <= least:
            return arm
    return -1


@by_class
def width(params, n):
    """Return the width in the index: mean + sqrt(2 log t/N) + sqrt(32 log t/(ε² N))."""
    return math.sqrt(2.0 / n) + math.sqrt(32.0 / n) / params.epsilon


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest mean of private rewards + width sqrt(log t) in round t."""
    arms = number_of_arms(bandit)
    phantom = params.start == Start.PHANTOM
    pulls = np.full(arms, 1.0 if phantom else 0.0)
    sums, index = np.zeros(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        if t <= arms and not phantom:
            chosen = t - 1
        else:
            chosen = short_of_samples(params, pulls, t)
        if chosen < 0:
            root = math.sqrt(math.log(t))
            for arm in range(arms):
                index[arm] = sums[arm] / pulls[arm] + width(params, pulls[arm]) * root
            chosen = argmax(index)
        sums[chosen] += privatised(params, rng, pull(bandit, chosen))
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield every reward once, with its own noise."""
    for arm in range(arms):
        yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=1.0 / params.epsilon)
