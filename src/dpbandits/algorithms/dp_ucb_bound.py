"""DP-UCB-BOUND (tossou2016): Algorithm 1, UCB on hybrid counters with a bound on their noise."""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._growing_index import largest_index, largest_rival
from dpbandits.algorithms._hybrid_counters import Counter, claim, part_epsilon, releases
from dpbandits.core.bandit import number_of_arms, playing, rounds_left, rounds_played
from dpbandits.core.kernel import allocating, inlined, kernel
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.hybrid import hybrid_counters
from dpbandits.mechanisms.leader_runs import (
    new_draws,
    pull_while_leading,
    runs_ahead,
    window_end,
)
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
def rounds_to_power(n):
    """Return how many pulls after n the next power of two comes."""
    power = 1
    while power <= n:
        power *= 2
    return power - n


@allocating
def play_with(counters, params, bandit, rng):
    """Pull each arm once, then the arm of largest s~/n + sqrt(2 log t/n) + ν/n.

    ν = sqrt(8)/ε log(4 t⁴), times log n + 1 unless n is a power of two.
    """
    arms = number_of_arms(bandit)
    fixed = np.empty(arms)
    width = np.empty(arms)
    slope = np.empty(arms)
    index = np.empty(arms)
    pulls = np.zeros(arms, np.int64)
    draws = new_draws()
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1 if t <= arms else largest_index(fixed, width, slope, index, t)
        n = pulls[chosen]
        end = min(window_end(t), t - 1 + rounds_to_power(n))  # ν falls at a power of two
        line = math.inf
        if t > arms and runs_ahead(bandit):
            line = largest_rival(fixed, width, slope, index, chosen, end)
        between = math.sqrt(8.0) / params.epsilon * (math.log(max(n, 1)) + 1.0)
        bonus = between * math.log(4.0 * float(t) ** 4) + math.sqrt(2.0 * n * math.log(t))
        pulls[chosen], released = pull_while_leading(
            bandit, counters, draws, rng, chosen, n, line, bonus, end
        )
        n = pulls[chosen]
        factor = math.sqrt(8.0) / params.epsilon
        if params.power_of_two == PowerOfTwo.OFF or n & (n - 1) != 0:
            factor *= math.log(n) + 1.0
        fixed[chosen] = (released + factor * math.log(4.0)) / n
        width[chosen] = math.sqrt(2.0 / n)
        slope[chosen] = 4.0 * factor / n
