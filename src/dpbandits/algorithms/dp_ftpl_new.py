"""DP-FTPL-New (wang2024): Algorithm 3. Every round alone is (epsilon, delta)-DP, Theorem 16."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._ftpl import both_zero, first_pulls, samples
from dpbandits.bandit import number_of_arms, playing, pull
from dpbandits.kernel import inlined, kernel
from dpbandits.mechanisms.perturbation import perturb, perturbation, reach
from dpbandits.parameters import Budget, Delta, Rounds
from dpbandits.privacy.releases import Approximate

LABEL = "DP-FTPL-New"


class Params(NamedTuple):
    """The budget of a round, of which one part may be 0, and the horizon T."""

    epsilon: Budget
    delta: Delta
    horizon: Rounds

    def problem(self) -> tuple[str, str] | None:
        """Not both parts may be 0."""
        return both_zero(self)


@inlined
def centre(total, n, log_t, radius):
    """x_0 of line 7: the mean and both confidence radii."""
    return total / n + math.sqrt(log_t / n) + radius / n


@kernel
def play(params, bandit, rng):
    """Algorithm 3: each arm once, then the arm of largest theta_i ~ D(N_i, R_i)."""
    law = perturbation(params.epsilon, params.delta)
    radius = reach(law, 1.0 / params.horizon)
    log_t = math.log(params.horizon)
    sums, pulls = first_pulls(bandit, 1.0)
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        for arm in range(theta.size):
            n = pulls[arm]
            theta[arm] = centre(sums[arm], n, log_t, radius) + perturb(law, rng) / n
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[Approximate]:
    """A sample of every arm in every round after each was pulled once."""
    return samples(params, arms, horizon, 1.0)
