"""Top Two: azize2024 (thesis), Algorithm 10, and jourdan2025 (poster), Algorithm 1.

In every round a leader and a challenger are chosen, and one of them is pulled. The algorithms
differ in their means, leaders, costs and thresholds: functions that have a body for a class of
Params. Those without a body are the functions of TTUCB, which has no noise and no phases.
"""

import math
from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._thresholds import transport
from dpbandits.kernel.answers import answer
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import by_class, inlined, kernel

BETA = 0.5  # target share of the leader


class Tracking(IntEnum):
    """Variant: how leader and challenger take turns."""

    DETERMINISTIC = 0  # line 18: the leader while it has at most β of its rounds as the leader
    RANDOM = 1  # a fair coin


# What the algorithms differ in -------------------------------------------------------------------


@by_class
def doubles(params):
    """Return True if an arm gets a new mean when its pulls have doubled, else with every pull."""
    return False


@by_class
def observed(params, rng, reward):
    """Return what the statistics have of a reward."""
    return reward


@by_class
def new_mean(params, rng, sums, used, arm, total, n):
    """Return the mean of `arm` after a phase of n rewards of sum `total`.

    Writes the sum of all that it is made of, `sums[arm]`, and the number of rewards, `used[arm]`.
    """
    sums[arm] += total
    used[arm] += n
    return sums[arm] / used[arm]


@by_class
def constant(params, arms):
    """Return the part of the threshold that depends on no round."""
    return 0.0


@by_class
def threshold(params, arms, fixed, gap, n, m, rounds):
    """Return what the cost of two arms of n and m rewards must reach at a gap of their means."""
    raise NotImplementedError("these Params registered no body for `threshold`")


@by_class
def grows(params):
    """Return True if the index of the leader changes with every round."""
    return False


@by_class
def index(params, mean, n, phase, log):
    """Return the index of the leader, for an arm in its phase k; `log` is that of the round."""
    return mean


@by_class
def cost(params, mean, other, n, m):
    """Return the transportation cost of an arm and another one, with n and m rewards."""
    return transport(mean - other, n, m)


@by_class
def exploration(params, n):
    """Return what a challenger's index has besides its cost, for n pulls."""
    return 0.0


@by_class
def is_leaders_turn(params, rng, pulled, led):
    """Return True if the leader is pulled: it led in `led` rounds, with this, and got `pulled`."""
    return pulled <= BETA * led


# Algorithm ---------------------------------------------------------------------------------------


@inlined
def stops(params, fixed, mean, used, best, rounds):
    """Return True if the cost of the best arm and of every other one reaches its threshold."""
    for arm in range(mean.size):
        if arm != best:
            gap, n, m = mean[best] - mean[arm], used[best], used[arm]
            evidence = cost(params, mean[best], mean[arm], n, m)
            if evidence < threshold(params, mean.size, fixed, gap, n, m, rounds):
                return False
    return True


@inlined
def leader_of(params, mean, used, phase, rounds, indices):
    """Return the arm of largest index, line 16; writes the indices."""
    log = math.log(rounds)
    for arm in range(mean.size):
        indices[arm] = index(params, mean[arm], used[arm], phase[arm], log)
    return argmax(indices)


@inlined
def challenger_of(params, mean, pulls, leader, changed, costs):
    """Return the arm that costs least beside the leader, line 17; writes the negative costs.

    Only the arm `changed` has another mean and other pulls than in `costs`, or if it is -1, all.
    """
    for arm in range(mean.size):
        if arm == leader:
            costs[arm] = -math.inf
        elif changed in (arm, -1):
            least = cost(params, mean[leader], mean[arm], pulls[leader], pulls[arm])
            costs[arm] = -least - exploration(params, pulls[arm])
    return argmax(costs)


@kernel
def play(params, bandit, rng):
    """Pull leaders and challengers; return the pulls of the completed phases of all arms."""
    arms = number_of_arms(bandit)
    fixed = constant(params, arms)
    sums, used = np.zeros(arms), np.zeros(arms)  # N~_a
    mean, indices, costs = np.empty(arms), np.empty(arms), np.empty(arms)
    for arm in range(arms):  # line 3
        total = observed(params, rng, pull(bandit, arm))
        mean[arm] = new_mean(params, rng, sums, used, arm, total, 1.0)
    pulls, begun, phase = np.ones(arms), np.ones(arms), np.ones(arms)  # N_a, N_{T_k(a),a}, k_a
    running = np.zeros(arms)  # rewards of the running phases
    led, pulled = np.zeros(arms), np.zeros(arms)  # L_a, N^a_a
    leader, chosen, is_new = -1, -1, True
    while True:
        rounds = rounds_played(bandit) + 1
        if is_new and stops(params, fixed, mean, used, argmax(mean), rounds):  # lines 11 and 12
            answer(bandit, argmax(mean))
            break
        if not playing(bandit):
            break
        before = leader
        if is_new or grows(params):
            leader = leader_of(params, mean, used, phase, rounds, indices)
        changed = chosen if leader == before and leader != chosen else -1
        challenger = challenger_of(params, mean, pulls, leader, changed, costs)
        led[leader] += 1.0
        is_turn = is_leaders_turn(params, rng, pulled[leader], led[leader])  # line 18
        chosen = leader if is_turn else challenger
        pulled[leader] += 1.0 if is_turn else 0.0
        running[chosen] += observed(params, rng, pull(bandit, chosen))  # line 19
        pulls[chosen] += 1.0
        is_new = not doubles(params) or pulls[chosen] >= 2.0 * begun[chosen]  # line 5
        if is_new:
            n = pulls[chosen] - begun[chosen]
            mean[chosen] = new_mean(params, rng, sums, used, chosen, running[chosen], n)
            running[chosen], begun[chosen] = 0.0, pulls[chosen]
            phase[chosen] += 1.0
    completed = 0.0
    for arm in range(arms):
        completed += begun[arm]
    return completed


def doubling(arms: int, limit: int) -> Iterator[tuple[int, int, int]]:
    """Yield arm, first and last reward of each phase: 1, 2, 3 and 4, 5 to 8, ..."""
    for arm in range(arms):
        first, last = 1, 1
        while last <= limit:
            yield arm, first, last
            first, last = last + 1, 2 * last
