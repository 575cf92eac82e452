"""DP-UCB (tossou2016): Algorithm 2, UCB on hybrid counters that all get an item in every round."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax, argmax_of_rows
from dpbandits.algorithms._hybrid_counters import Counter, claim, part_epsilon, releases
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_left, rounds_played
from dpbandits.core.kernel import allocating, by_class, kernel
from dpbandits.core.lane_rows import add_chosen, get, put, put_chosen, zero_rows
from dpbandits.core.lanes import LaneStream, LaneStreams, root
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.hybrid import hybrid_counters
from dpbandits.mechanisms.leader_runs import noise_ahead
from dpbandits.mechanisms.shared_clock import advance, shared_clock
from dpbandits.mechanisms.single import single_counters

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "DP-UCB"
IN_LANES = "everywhere"


class Params(NamedTuple):
    """Privacy budget, and the reading of the counters."""

    epsilon: Positive
    counter: Counter = Counter.HYBRID_FULL


@kernel
def play(params, bandit, rng):
    """Run Algorithm 2 with the counters of the reading."""
    play_with_counters(rng, params, bandit)


@partial(by_class, allocating=True)
def play_with_counters(rng, params, bandit):
    """Play with noise for all counters in one step, if it may be drawn ahead."""
    arms = number_of_arms(bandit)
    part = part_epsilon(params)
    if noise_ahead(bandit):
        play_together(params, bandit, rng)
    elif params.counter == Counter.SINGLE:
        play_with(single_counters(arms, params.epsilon), bandit, rng)
    else:
        play_with(hybrid_counters(arms, rounds_left(bandit), part, part), bandit, rng)


@play_with_counters.register(LaneStream)
def play_lane(rng, params, bandit):
    play_together(params, bandit, rng)


play_with_counters.register(LaneStreams)(play_lane)


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


@allocating
def play_together(params, bandit, rng):
    """Play as `play_with`, with noise for all counters in one step, or sixteen runs in step."""
    arms = number_of_arms(bandit)
    part = part_epsilon(params)
    tree_part = 0.0 if params.counter == Counter.SINGLE else part
    shared = shared_clock(arms, rounds_left(bandit), part, tree_part, rng)
    sums, pulls, index = zero_rows(rng, arms), zero_rows(rng, arms), zero_rows(rng, arms)
    width = zero_rows(rng, arms)  # sqrt(2/n)
    for arm in range(arms):
        if playing(bandit):
            put(sums, arm, pull(bandit, arm))
            put(pulls, arm, 1.0)
            put(width, arm, math.sqrt(2.0))
            advance(shared)
    while playing(bandit):
        root_log_t = math.sqrt(math.log(rounds_played(bandit) + 1))
        for arm in range(arms):
            w = get(width, arm)
            half_mean = (get(sums, arm) + get(shared.noise, arm)) * (0.5 * w)  # over w
            put(index, arm, (half_mean + root_log_t) * w)
        chosen = argmax_of_rows(index)
        add_chosen(sums, chosen, pull(bandit, chosen))
        put_chosen(width, chosen, root(2.0 / add_chosen(pulls, chosen, 1.0)))
        advance(shared)
