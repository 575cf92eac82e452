"""KL-UCB (Garivier and Cappe 2011, Algorithm 1 with c = 0), not private."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.kl import bernoulli_kl_upper
from dpbandits.kernel.parameters import Positive
from dpbandits.kernel.randomness import AddedLater

LABEL = "KL-UCB"


class Params(NamedTuple):
    """Exploration of the index, α log t as in (8) of azize2022; Algorithm 1 has α = 1."""

    alpha: Annotated[Positive, AddedLater(1.0)] = 1.0


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest max {q in [0, 1]: n d(s/n, q) ≤ α log t}."""
    arms = number_of_arms(bandit)
    pulls, sums, index = np.zeros(arms), np.zeros(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms:
            explored = params.alpha * math.log(t)
            for arm in range(arms):
                index[arm] = bernoulli_kl_upper(sums[arm] / pulls[arm], explored / pulls[arm])
            chosen = argmax(index)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
