"""ren2020: UCB on rewards that are made private before the learner sees them (local DP).

Written from the authors' code and the abstract. An algorithm reads every reward through its own
mechanism alone, so that whatever it computes is private.
"""

import math
from enum import IntEnum
from typing import Any

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import by_class, kernel
from dpbandits.privacy.notions import Guarantee, Notion


class Start(IntEnum):
    """Reading: the count and the mean of an arm before its first pull."""

    ONE_PULL = 0  # none: every arm is pulled once at first
    PHANTOM = 1  # one pull with the private reward 0, as in the authors' code


@by_class
def privatised(params, rng, reward):
    """Return the private version of a reward in [0, 1], all that the learner sees of it."""
    raise NotImplementedError("these Params registered no mechanism")


@by_class
def width(params, n):
    """Return the factor of sqrt(log t) in the index of an arm of n private rewards."""
    raise NotImplementedError("these Params registered no width")


@by_class
def short_of_samples(params, pulls, t):
    """Return the first arm that must be pulled in round t whatever its index; -1: there is none."""
    return -1


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


def claim(params: Any, arms: int, horizon: int) -> Guarantee:
    """Return the claim of the abstract: epsilon for each private reward."""
    return Guarantee(Notion.LOCAL, params.epsilon, 0.0, "ren2020, abstract")
