"""UCB (UCB1 of Auer, Cesa-Bianchi, Fischer 2002), not private; as in tossou2016, section 2.1."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.kernel.randomness import AddedLater

LABEL = "UCB"


class Params(NamedTuple):
    """Exploration of the index, sqrt(α log t/(2 n)) as in (7) of azize2022; UCB1 has α = 4."""

    alpha: Annotated[Positive, AddedLater(4.0)] = 4.0


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest s/n + sqrt(α log t/(2 n))."""
    arms = number_of_arms(bandit)
    pulls, sums, index = np.zeros(arms), np.zeros(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms:
            explored = 0.5 * params.alpha * math.log(t)
            for arm in range(arms):
                index[arm] = sums[arm] / pulls[arm] + math.sqrt(explored / pulls[arm])
            chosen = argmax(index)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
