"""DP-UCB-BOUND (tossou2016): Algorithm 1, UCB on hybrid counters with a bound on their noise.

DP-UCB shares the counters, with another body of `play_with`.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_left, rounds_played
from dpbandits.kernel.compilation import by_class, inlined, kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.counters import (
    hybrid_counters,
    hybrid_releases,
    insert,
    single_counters,
    single_releases,
)
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "DP-UCB-BOUND"


class Counter(IntEnum):
    """Variant: the hybrid mechanism of tossou2016, section 2.3."""

    HYBRID_FULL = 0  # Lemma B.2: epsilon for each part; an item is in both, so 2 epsilon
    HYBRID_SPLIT = 1  # epsilon/2 for each part
    SINGLE = 2  # section 2.3 read literally, one fresh draw per release; not private


DIFFERS = {
    Counter.HYBRID_FULL: "either part of a counter has epsilon, and a reward is in both; Lemma B.2"
    " sees no need to compose them, as a sum is drawn from one part given all the others",
    Counter.HYBRID_SPLIT: "",
    Counter.SINGLE: "every sum has one draw of its own and reads all rewards before it: the budgets"
    " of all sums add up",
}
# By Lemma B.2. Algorithm 2 has no theorem of its own.
guarantee = guaranteed(
    Notion.PER_ROUND,
    "tossou2016, Theorem 3.1 (of Algorithm 1)",
    lambda params: DIFFERS[params.counter],
)


class PowerOfTwo(IntEnum):
    """Variant: ν of an arm whose number of pulls n is a power of two."""

    ON = 0  # without the factor log n + 1, as in Algorithm 1
    OFF = 1  # with the factor log n + 1, as for all other n


class Params(NamedTuple):
    """Privacy budget, and the variants."""

    epsilon: Positive
    counter: Counter = Counter.HYBRID_FULL
    power_of_two: PowerOfTwo = PowerOfTwo.ON


@inlined
def part_epsilon(params):
    """Return the budget of each of the two parts of a hybrid counter."""
    return 0.5 * params.epsilon if params.counter == Counter.HYBRID_SPLIT else params.epsilon


@inlined
def noise_factor(params, n):
    """Return ν/log(4 t⁴): sqrt(8)/ε, times log n + 1 unless n is a power of two."""
    factor = math.sqrt(8.0) / params.epsilon
    if params.power_of_two == PowerOfTwo.OFF or n & (n - 1) != 0:
        factor *= math.log(n) + 1.0
    return factor


@partial(by_class, allocating=True)
def play_with(params, counters, bandit, rng):
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


@kernel
def play(params, bandit, rng):
    """Play UCB on private sums, by one counter of the variant per arm."""
    arms, part = number_of_arms(bandit), part_epsilon(params)
    if params.counter == Counter.SINGLE:
        play_with(params, single_counters(arms, params.epsilon), bandit, rng)
    else:
        play_with(params, hybrid_counters(arms, rounds_left(bandit), part, part), bandit, rng)


def releases(params: Any, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield the releases of one counter per arm, which gets an item per pull or per round."""
    part = part_epsilon(params)
    for arm in range(arms):
        if params.counter == Counter.SINGLE:
            yield from single_releases(arm, horizon, params.epsilon)
        else:
            yield from hybrid_releases(arm, horizon, part, part)
