"""DP-FTPL-Gauss (wang2024): Algorithm 1. Every round alone is (epsilon, delta)-DP, Theorem 11."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._ftpl import first_pulls, no_delta, samples
from dpbandits.bandit import number_of_arms, playing, pull
from dpbandits.kernel import inlined, kernel
from dpbandits.parameters import Budget, Delta
from dpbandits.privacy.releases import Approximate

LABEL = "DP-FTPL-Gauss"


class Params(NamedTuple):
    """The budget of a round; epsilon may be 0."""

    epsilon: Budget
    delta: Delta

    def problem(self) -> tuple[str, str] | None:
        """Without a delta N* is infinite."""
        return no_delta(self, LABEL)


@inlined
def start(params):
    """N_G* = min{1/(4 pi delta^2), log(e/(4 pi delta^2))/epsilon^2}, a real number.

    No larger than 0 where delta is large: an arm needs one pull for its mean all the same.
    """
    # Divided step by step: delta^2 and epsilon^2 may be too small for a number.
    half = 0.5 / params.delta
    alone = half / math.pi * half
    if params.epsilon == 0.0:
        return alone
    log_part = 1.0 - math.log(4.0 * math.pi) - 2.0 * math.log(params.delta)
    return min(alone, log_part / params.epsilon / params.epsilon)


@kernel
def play(params, bandit, rng):
    """Algorithm 1: N_G* pulls of each arm, then the arm of largest theta_i ~ N(R_i/N_i, 2/N_i)."""
    sums, pulls = first_pulls(bandit, start(params))
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        for arm in range(theta.size):
            n = pulls[arm]
            theta[arm] = rng.normal(sums[arm] / n, math.sqrt(2.0 / n))
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[Approximate]:
    """A sample of every arm in every round after the start."""
    return samples(params, arms, horizon, start(params))
