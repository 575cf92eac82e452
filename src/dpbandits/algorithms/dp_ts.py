"""DP-TS (hu2022): Algorithm 1. ε-global DP, Theorem 1.

The private sum of an arm's O rewards has two parts with ε/2 each. The logarithmic part C is renewed
at 3, 7, 15, ... rewards: the 2^(r+1) rewards since the last renewal get a new Lap(1/(ε/2)). Between
two renewals, the rewards since then are in B, a binary tree of r + 1 levels with Lap((r+1)/(ε/2))
per node (remark (b)). This is the hybrid mechanism of mechanisms/hybrid.py, which renews its sum at
2, 4, 8, ... items, if an item of 0 without noise precedes the first reward; its k is r + 1.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms._largest_sample import Method
from dpbandits.algorithms._raised_leads import lead_floor, play_raised_leads, pull_leader
from dpbandits.algorithms._raised_means import (
    Log,
    follow_posteriors,
    logarithm,
    observe,
    play_leads,
    raised,
    raised_means,
)
from dpbandits.core.bandit import number_of_arms, pull, rounds_left, rounds_played
from dpbandits.core.kernel import allocating, inlined, kernel
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.hybrid import Hybrid, hybrid_counters, hybrid_releases
from dpbandits.mechanisms.leader_runs import Draws, new_draws, pull_while_leading
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace

LABEL = "DP-TS"
SLACK = 0.1  # of the distance to the rivals: how far the next sums may lower a leader's mean


class Params(NamedTuple):
    """Privacy budget, the reading of the logarithm, and the method that draws the largest θ."""

    epsilon: Positive
    log: Log = Log.TWO
    method: Method = Method.EXACT


class Sums(NamedTuple):
    """Private sums C + B of every arm."""

    counters: Hybrid
    params: Params
    draws: Draws  # of a leader's pulls


@allocating
def private_sums(params, arms, horizon):
    """Return the sums of no rewards."""
    half = 0.5 * params.epsilon
    counters = hybrid_counters(arms, horizon + 1, half, half)
    for arm in range(arms):
        counters.items[arm] = 1  # the item of 0 before the first reward
    return Sums(counters, params, new_draws())


@observe.register(Sums)
def dp_ts_observe(sums, means, rng, arm, total, n):
    """Add the one reward to C + B (lines 12-19)."""
    renew(sums, means, arm, insert(sums.counters, rng, arm, total))


@inlined
def renew(sums, means, arm, released):
    """Set the posterior of an arm to its private sum, with the bonus of line 7."""
    n = float(sums.counters.items[arm] - 1)
    means.rewards[arm] = n
    means.mean[arm] = released / n
    means.slope[arm] = weight(sums, n) / n


@inlined
def weight(sums, n):
    """Return w n, where w log t is the bonus of line 7 after n rewards."""
    return 6.0 * math.sqrt(8.0) * logarithm(sums.params, n + 1.0) / sums.params.epsilon


@lead_floor.register(Sums)
def dp_ts_lead_floor(sums, means, arm, log_t, rival):
    m = raised(means, arm, log_t)
    return m - SLACK * (m - rival)


@pull_leader.register(Sums)
def dp_ts_pull_leader(sums, means, bandit, rng, arm, log_t, floor, most):
    """Pull while C + B + w O log t > floor O, where w O grows with O and is taken from before."""
    n, end = sums.counters.items[arm] - 1, rounds_played(bandit) + most
    bonus = weight(sums, float(n)) * log_t
    pulls, released = pull_while_leading(
        bandit, sums.counters, sums.draws, rng, arm, n, floor, bonus, end
    )
    renew(sums, means, arm, released)
    return pulls - n


play_leads.register(Sums)(play_raised_leads)


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then that of largest θ, whose private mean every pull renews."""
    arms = number_of_arms(bandit)
    means, sums = raised_means(arms), private_sums(params, arms, rounds_left(bandit))
    for arm in range(arms):
        observe(sums, means, rng, arm, pull(bandit, arm), 1)
    follow_posteriors(params, sums, means, bandit, rng)


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield the disjoint sums of the logarithmic part as one release, and the levels of each tree.

    They are those of the hybrid mechanism, whose item i + 1 is reward i.
    """
    half = 0.5 * params.epsilon
    for arm in range(arms):
        for one in hybrid_releases(arm, horizon + 1, half, half):
            yield one._replace(first=max(1, one.first - 1), last=one.last - 1)


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 1."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "hu2022, Theorem 1")
