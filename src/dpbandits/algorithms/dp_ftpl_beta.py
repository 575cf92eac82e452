"""DP-FTPL-Beta (wang2024): Algorithm 2. Every round alone is (epsilon, delta)-DP, Theorem 13."""

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

LABEL = "DP-FTPL-Beta"


class Params(NamedTuple):
    """The budget of a round; epsilon may be 0."""

    epsilon: Budget
    delta: Delta

    def problem(self) -> tuple[str, str] | None:
        """Without a delta N* is infinite."""
        return no_delta(self, LABEL)


@inlined
def start(params):
    """N_B*, a real number:

    max{min{40e/(9 pi delta^2), 8000 log(e/(2 pi delta^2))/(81 epsilon^2)}, 1000e/(9 pi)}.
    """
    # Divided step by step: delta^2 and epsilon^2 may be too small for a number.
    least = 1000.0 * math.e / (9.0 * math.pi)
    needed = 40.0 * math.e / (9.0 * math.pi) / params.delta / params.delta
    if params.epsilon > 0.0:
        log_part = 1.0 - math.log(2.0 * math.pi) - 2.0 * math.log(params.delta)
        needed = min(needed, 8000.0 / 81.0 * log_part / params.epsilon / params.epsilon)
    return max(needed, least)


@kernel
def play(params, bandit, rng):
    """Algorithm 2: N_B* pulls of each arm, then the arm of largest theta_i ~ B(a_i+k_i, b_i+k_i).

    Of rewards that are not 0 or 1 the sum R_i is a real number, and so are both parameters.
    """
    sums, pulls = first_pulls(bandit, start(params))
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        for arm in range(theta.size):
            a, b = sums[arm] + 1.0, pulls[arm] - sums[arm] + 1.0
            k = math.floor(pulls[arm] / 8.0) + 1.0
            theta[arm] = rng.beta(a + k, b + k)
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[Approximate]:
    """A sample of every arm in every round after the start."""
    return samples(params, arms, horizon, start(params))
