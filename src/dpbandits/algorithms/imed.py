"""IMED (Honda and Takemura 2015) for Bernoulli arms, not private: the ancestor of DP-IMED."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.algorithms._argmax import argmax, random_argmax
from dpbandits.algorithms._private_batches import Rounding, pulls_after
from dpbandits.core.bandit import number_of_arms, playing, pull, pull_many, rounds_played
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.kl import bernoulli_kl, larger_kl_upper, wider
from dpbandits.core.parameters import Constraint
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.exact import exact_sums
from dpbandits.mechanisms.leader_runs import (
    new_draws,
    pull_while_leading,
    runs_ahead,
    window_end,
)

LABEL = "IMED"

Ratio = Annotated[float, Constraint(lambda x: 1 <= x < math.inf, "1 or more, and finite")]


class Params(NamedTuple):
    """Reading: α of the batches; 1 is the original, which decides in every round."""

    ratio: Ratio = 1.0
    ties: Ties = Ties.FIRST


@inlined
def largest_mean_to_catch_up(mean, pulls, leader, last):
    """Return a bound of the leader's mean at which a rival's index is at most log `last`.

    Above it, the leader has the largest mean and the smallest index, log N, while N ≤ `last`.
    """
    bound = 0.0
    for arm in range(mean.size):
        if arm != leader:
            level = max(0.0, math.log(last) - math.log(pulls[arm])) / pulls[arm]
            bound = larger_kl_upper(bound, mean[arm], wider(level))
    return bound


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of smallest N_a kl(μ^_a, μ^*) + log N_a.

    Without batches, the arm of largest mean is pulled as long as no rival can have a smaller index:
    the same arms as if all indices were computed in every round.
    """
    arms = number_of_arms(bandit)
    counters, draws = exact_sums(arms), new_draws()
    pulls = np.zeros(arms, np.int64)
    sums = np.zeros(arms)
    mean = np.empty(arms)
    indices = np.empty(arms)
    for arm in range(arms):
        sums[arm] = insert(counters, rng, arm, pull(bandit, arm))
        pulls[arm] = 1
        mean[arm] = sums[arm]
    while playing(bandit):
        leader = argmax(mean)
        for arm in range(arms):
            n = pulls[arm]
            indices[arm] = -(n * bernoulli_kl(mean[arm], mean[leader]) + math.log(n))
        if params.ties == Ties.RANDOM:
            chosen = random_argmax(indices, rng)
        else:
            chosen = argmax(indices)
        if params.ratio > 1.0:
            batch = pulls_after(pulls[chosen], params.ratio, Rounding.CEIL) - pulls[chosen]
            sums[chosen] += pull_many(bandit, chosen, batch)
            pulls[chosen] += batch
        else:
            end, line = rounds_played(bandit) + 1, math.inf
            if chosen == leader and runs_ahead(bandit):
                end = window_end(end)
                last = pulls[leader] + end - rounds_played(bandit)
                line = largest_mean_to_catch_up(mean, pulls, leader, last)
            pulls[chosen], sums[chosen] = pull_while_leading(
                bandit, counters, draws, rng, chosen, pulls[chosen], line, 0.0, end
            )
        mean[chosen] = sums[chosen] / pulls[chosen]
