"""DP-UCB-BOUND (tossou2016): Algorithm 1, UCB on hybrid counters with a bound on their noise."""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._hybrid_counters import Counter, claim, part_epsilon, releases
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_left, rounds_played
from dpbandits.core.kernel import allocating, inlined, kernel
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.hybrid import hybrid_counters
from dpbandits.mechanisms.single import single_counters

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "DP-UCB-BOUND"


class PowerOfTwo(IntEnum):
    """Reading: ν of an arm whose number of pulls n is a power of two."""

    ON = 0  # without the factor log n + 1, as in Algorithm 1
    OFF = 1  # with the factor log n + 1, as for all other n


class Params(NamedTuple):
    """Privacy budget, and the readings."""

    epsilon: Positive
    counter: Counter = Counter.HYBRID_FULL
    power_of_two: PowerOfTwo = PowerOfTwo.ON


@kernel
def play(params, bandit, rng):
    """Run Algorithm 1 with the counters of the reading."""
    arms = number_of_arms(bandit)
    if params.counter == Counter.SINGLE:
        play_with(single_counters(arms, params.epsilon), params, bandit, rng)
    else:
        part = part_epsilon(params)
        play_with(hybrid_counters(arms, rounds_left(bandit), part, part), params, bandit, rng)


@inlined
def noise_factor(params, n):
    """Return ν/log(4 t⁴): sqrt(8)/ε, times log n + 1 unless n is a power of two."""
    factor = math.sqrt(8.0) / params.epsilon
    if params.power_of_two == PowerOfTwo.OFF or n & (n - 1) != 0:
        factor *= math.log(n) + 1.0
    return factor


@allocating
def play_with(counters, params, bandit, rng):
    """Pull each arm once, then the arm of largest s~/n + sqrt(2 log t/n) + ν/n."""
    arms = number_of_arms(bandit)
    pulls = np.zeros(arms, np.int64)
    released, index = np.empty(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms:
            log_t = math.log(t)
            for arm in range(arms):
                n = pulls[arm]
                noise = noise_factor(params, n) * (math.log(4.0) + 4.0 * log_t)
                index[arm] = (released[arm] + noise) / n + math.sqrt(2.0 * log_t / n)
            chosen = argmax(index)
        released[chosen] = insert(counters, rng, chosen, pull(bandit, chosen))
        pulls[chosen] += 1
