"""ren2020: UCB on rewards that are made private before the learner sees them (local DP).

Written from the authors' code and the abstract. An algorithm reads every reward through its own
mechanism alone, so that whatever it computes is private.
"""

import math
from enum import IntEnum
from typing import Any

import numpy as np

from dpbandits.algorithms._growing_index import largest_index, largest_rival
from dpbandits.core.bandit import NEVER, number_of_arms, playing, rounds_played
from dpbandits.core.kernel import by_class, kernel
from dpbandits.mechanisms.leader_runs import (
    new_draws,
    pull_while_leading,
    runs_ahead,
    window_end,
)
from dpbandits.mechanisms.local_sums import local_sums
from dpbandits.privacy.notions import Guarantee, Notion


class Start(IntEnum):
    """Reading: the count and the mean of an arm before its first pull."""

    ONE_PULL = 0  # none: every arm is pulled once at first
    PHANTOM = 1  # one pull with the private reward 0, as in the authors' code


@by_class
def width(params, n):
    """Return the factor of sqrt(log t) in the index of an arm of n private rewards.

    Its product with n must not decrease in n.
    """
    raise NotImplementedError("these Params registered no width")


@by_class
def short_of_samples(params, pulls, t):
    """Return the first arm that must be pulled in round t whatever its index; -1: there is none."""
    return -1


@by_class
def enough_samples_until(params, pulls):
    """Return a round until which no arm is short of samples if none is now and pulls only grow."""
    return NEVER


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest mean of private rewards + width sqrt(log t) in round t."""
    arms = number_of_arms(bandit)
    counters = local_sums(params, arms)
    draws = new_draws()
    phantom = params.start == Start.PHANTOM
    pulls = np.full(arms, 1 if phantom else 0)
    mean = np.zeros(arms)
    widths = np.full(arms, width(params, 1.0))
    slope = np.zeros(arms)
    index = np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        if t <= arms and not phantom:
            chosen = t - 1
        else:
            chosen = short_of_samples(params, pulls, t)
        line, end = math.inf, t
        if chosen < 0:
            chosen = largest_index(mean, widths, slope, index, t)
            if runs_ahead(bandit):
                end = min(window_end(t), enough_samples_until(params, pulls))
                line = largest_rival(mean, widths, slope, index, chosen, end)
        n = pulls[chosen]
        bonus = n * widths[chosen] * math.sqrt(math.log(t))
        pulls[chosen], total = pull_while_leading(
            bandit, counters, draws, rng, chosen, n, line, bonus, end
        )
        mean[chosen] = total / pulls[chosen]
        widths[chosen] = width(params, float(pulls[chosen]))


def claim(params: Any, arms: int, horizon: int) -> Guarantee:
    """Return the claim of the abstract: epsilon for each private reward."""
    return Guarantee(Notion.LOCAL, params.epsilon, 0.0, "ren2020, abstract")
