"""UCB (UCB1 of Auer, Cesa-Bianchi, Fischer 2002), not private; as in tossou2016, section 2.1."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._growing_index import largest_index, largest_rival
from dpbandits.core.bandit import number_of_arms, playing, rounds_played
from dpbandits.core.kernel import kernel
from dpbandits.mechanisms.exact import exact_sums
from dpbandits.mechanisms.leader_runs import (
    new_draws,
    pull_while_leading,
    runs_ahead,
    window_end,
)

LABEL = "UCB"


class Params(NamedTuple):
    """UCB has no parameters."""


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest s/n + sqrt(2 log t / n)."""
    arms = number_of_arms(bandit)
    counters = exact_sums(arms)
    draws = new_draws()
    pulls = np.zeros(arms, np.int64)
    mean = np.empty(arms)
    width = np.empty(arms)
    slope = np.zeros(arms)
    index = np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1 if t <= arms else largest_index(mean, width, slope, index, t)
        end = window_end(t)
        line = math.inf
        if t > arms and runs_ahead(bandit):
            line = largest_rival(mean, width, slope, index, chosen, end)
        bonus = math.sqrt(2.0 * pulls[chosen] * math.log(t))
        pulls[chosen], total = pull_while_leading(
            bandit, counters, draws, rng, chosen, pulls[chosen], line, bonus, end
        )
        mean[chosen] = total / pulls[chosen]
        width[chosen] = math.sqrt(2.0 / pulls[chosen])
