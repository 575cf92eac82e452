"""DP-Λ-Lap (tossou2017, section 3.1) with UCB or Thompson sampling as base Λ. ε-DP, Theorem 3.2.

DP-EXP3-Lap is the same with EXP3. The base sees the noisy rewards within [-b, b+1], scaled to
[0, 1], and no others.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.dp_exp3_lap import warning
from dpbandits.algorithms.ldp_ucb_l import releases
from dpbandits.kernel.bandit import number_of_arms, playing, pull
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive, Rounds
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["LABEL", "Params", "guarantee", "play", "releases", "warning"]

LABEL = "DP-Lambda-Lap"
guarantee = guaranteed(Notion.LOCAL, "tossou2017, Theorem 3.2")


class Base(IntEnum):
    """Base algorithm Λ."""

    UCB = 0  # UCB1, by the rewards that it has seen
    TS = 1  # Thompson sampling for rewards in [0, 1]


class Params(NamedTuple):
    """Privacy budget, horizon T, which determines the threshold b = ln T/ε, and the base."""

    epsilon: Positive
    horizon: Rounds
    base: Base = Base.UCB


@kernel
def play(params, bandit, rng):
    """Let the base choose by the scaled noisy rewards that it accepts."""
    arms = number_of_arms(bandit)
    b = math.log(params.horizon) / params.epsilon
    seen, sums, index = np.zeros(arms), np.zeros(arms), np.empty(arms)
    rounds = 0  # of the base
    while playing(bandit):
        log_t = math.log(rounds + 1)
        for arm in range(arms):
            if params.base == Base.TS:
                index[arm] = rng.beta(sums[arm] + 1.0, seen[arm] - sums[arm] + 1.0)
            elif seen[arm] == 0.0:
                index[arm] = math.inf
            else:
                index[arm] = sums[arm] / seen[arm] + math.sqrt(2.0 * log_t / seen[arm])
        chosen = argmax(index)
        noisy = pull(bandit, chosen) + laplace(rng, 1.0, params.epsilon)
        if -b <= noisy <= b + 1.0:
            sums[chosen] += (noisy + b) / (2.0 * b + 1.0)
            seen[chosen] += 1.0
            rounds += 1
