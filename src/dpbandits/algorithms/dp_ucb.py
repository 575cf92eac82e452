"""DP-UCB (tossou2016): Algorithm 2, UCB on hybrid counters that all get an item in every round."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._hybrid_counters import Counter, claim, part_epsilon, releases
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_left, rounds_played
from dpbandits.core.kernel import allocating, kernel
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.hybrid import hybrid_counters
from dpbandits.mechanisms.single import single_counters

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "DP-UCB"


class Params(NamedTuple):
    """Privacy budget, and the reading of the counters."""

    epsilon: Positive
    counter: Counter = Counter.HYBRID_FULL


@kernel
def play(params, bandit, rng):
    """Run Algorithm 2 with the counters of the reading."""
    arms = number_of_arms(bandit)
    if params.counter == Counter.SINGLE:
        play_with(single_counters(arms, params.epsilon), bandit, rng)
    else:
        part = part_epsilon(params)
        play_with(hybrid_counters(arms, rounds_left(bandit), part, part), bandit, rng)


@allocating
def play_with(counters, bandit, rng):
    """Pull each arm once, then the arm of largest s~/n + sqrt(2 log t/n).

    The counters of the other arms get a 0, so that the noise has the same law in all counters.
    """
    arms = number_of_arms(bandit)
    released = np.empty(arms)
    pulls = np.zeros(arms)
    index = np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        if t <= arms:
            chosen = t - 1
        else:
            log_t = math.log(t)
            for arm in range(arms):
                index[arm] = released[arm] / pulls[arm] + math.sqrt(2.0 * log_t / pulls[arm])
            chosen = argmax(index)
        reward = pull(bandit, chosen)
        pulls[chosen] += 1.0
        for arm in range(arms):
            released[arm] = insert(counters, rng, arm, reward if arm == chosen else 0.0)
