"""UCB in runs of the leader."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import number_of_arms
from dpbandits.core.kernel import kernel
from dpbandits.fast._leader_runs import coefficients, follow_leaders
from dpbandits.mechanisms.counter import insert


class Sums(NamedTuple):
    """Exact sums of the rewards, float64 of shape (arms,)."""

    sums: np.ndarray


class Law(NamedTuple):
    """The index s/n + sqrt(2 log t/n)."""


@insert.register(Sums)
def exact_insert(counters, rng, which, item):
    counters.sums[which] += item
    return counters.sums[which]


@coefficients.register(Law)
def ucb_coefficients(law, n):
    return 0.0, math.sqrt(2.0 / n), 0.0


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index."""
    follow_leaders(Law(), Sums(np.zeros(number_of_arms(bandit))), bandit, rng)
