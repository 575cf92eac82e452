"""LDP-UCB-L (ren2020, authors' code): UCB on rewards with Laplace noise each. ε-local DP.

Written from the authors' code and the abstract. The learner reads every reward through its own
mechanism alone.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "LDP-UCB-L"
guarantee = guaranteed(Notion.LOCAL, "ren2020, abstract")  # epsilon for each private reward


class Start(IntEnum):
    """Variant: the count and the mean of an arm before its first pull."""

    ONE_PULL = 0  # none: every arm is pulled once at first
    PHANTOM = 1  # one pull with the private reward 0, as in the authors' code


class Params(NamedTuple):
    """Local privacy budget of each reward, and the variant of the start."""

    epsilon: Positive
    start: Start = Start.ONE_PULL


@kernel
def play(params, bandit, rng):
    """Pull the first arm with N ≤ 4 log(t + 1); if there is none, that of largest index in round t.

    The index is the mean of the private rewards + sqrt(2 log t/N) + sqrt(32 log t/(ε² N)).
    """
    arms = number_of_arms(bandit)
    phantom = params.start == Start.PHANTOM
    pulls = np.full(arms, 1.0 if phantom else 0.0)
    sums, index = np.zeros(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms or phantom:
            chosen, least = 0, 4.0 * math.log(t + 1.0)
            while chosen < arms and pulls[chosen] > least:
                chosen += 1
        if chosen == arms:
            root = math.sqrt(math.log(t))
            for arm in range(arms):
                n = pulls[arm]
                width = math.sqrt(2.0 / n) + math.sqrt(32.0 / n) / params.epsilon
                index[arm] = sums[arm] / n + width * root
            chosen = argmax(index)
        sums[chosen] += pull(bandit, chosen) + laplace(rng, 1.0, params.epsilon)
        pulls[chosen] += 1.0


def releases(params: Any, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield every reward once, with its own noise."""
    for arm in range(arms):
        yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=1.0 / params.epsilon)
