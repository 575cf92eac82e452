"""UCB (UCB1 of Auer, Cesa-Bianchi, Fischer 2002), not private; as in tossou2016, section 2.1."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import kernel

LABEL = "UCB"


class Params(NamedTuple):
    """UCB has no parameters."""


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest s/n + sqrt(2 log t/n)."""
    arms = number_of_arms(bandit)
    pulls, sums, index = np.zeros(arms), np.zeros(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms:
            log_t = math.log(t)
            for arm in range(arms):
                index[arm] = sums[arm] / pulls[arm] + math.sqrt(2.0 * log_t / pulls[arm])
            chosen = argmax(index)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
