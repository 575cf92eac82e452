"""DP-UCB (tossou2016): Algorithm 2, UCB on hybrid counters that all get an item in every round."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.dp_ucb_bound import Counter, guarantee, play, play_with, releases
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.counters import insert

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "DP-UCB"


class Params(NamedTuple):
    """Privacy budget, and the variant of the counters."""

    epsilon: Positive
    counter: Counter = Counter.HYBRID_FULL


@play_with.register(Params)
def dp_ucb_play(params, counters, bandit, rng):
    """Pull each arm once, then the arm of largest s~/n + sqrt(2 log t/n); others' items are 0."""
    arms = number_of_arms(bandit)
    pulls, released, index = np.zeros(arms), np.empty(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms:
            log_t = math.log(t)
            for arm in range(arms):
                index[arm] = released[arm] / pulls[arm] + math.sqrt(2.0 * log_t / pulls[arm])
            chosen = argmax(index)
        reward = pull(bandit, chosen)
        pulls[chosen] += 1.0
        for arm in range(arms):
            released[arm] = insert(counters, rng, arm, reward if arm == chosen else 0.0)
