"""DP-FTPL-Beta (wang2024): Algorithm 2. Every round alone is (ε, δ)-DP, Theorem 13."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import Method, argmax
from dpbandits.algorithms._ftpl import claim_of_a_round, first_pulls, long_start, no_delta, samples
from dpbandits.core.bandit import playing, pull
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Budget, Delta
from dpbandits.privacy.notions import Guarantee
from dpbandits.privacy.releases import ApproximateDP

LABEL = "DP-FTPL-Beta"


class Params(NamedTuple):
    """Budget of one round (ε may be 0), and the method that draws the largest sample."""

    epsilon: Budget
    delta: Delta
    method: Method = Method.EXACT

    def problem(self) -> tuple[str, str] | None:
        """Return a problem if δ = 0, for which N* is infinite; else None."""
        return no_delta(self, LABEL)


@inlined
def start(params):
    """Return N_B*, a real number.

    max{min{40e/(9 π δ²), 8000 log(e/(2 π δ²))/(81 ε²)}, 1000e/(9 π)}.
    """
    # Divided step by step: delta^2 and epsilon^2 may underflow.
    least = 1000.0 * math.e / (9.0 * math.pi)
    needed = 40.0 * math.e / (9.0 * math.pi) / params.delta / params.delta
    if params.epsilon > 0.0:
        log_part = 1.0 - math.log(2.0 * math.pi) - 2.0 * math.log(params.delta)
        needed = min(needed, 8000.0 / 81.0 * log_part / params.epsilon / params.epsilon)
    return max(needed, least)


@inlined
def numbers(total, n):
    """Return a + k = R + 1 + k and b + k = N - R + 1 + k (line 9)."""
    k = math.floor(n / 8.0) + 1.0
    return total + 1.0 + k, n - total + 1.0 + k


@kernel
def play(params, bandit, rng):
    """Pull each arm N_B* times, then the arm of largest θᵢ ~ B(aᵢ+kᵢ, bᵢ+kᵢ).

    Algorithm 2. For rewards other than 0 and 1 the sum Rᵢ and both parameters are real numbers.
    """
    sums, pulls = first_pulls(bandit, start(params))
    theta = np.empty(sums.size)
    while playing(bandit):
        for arm in range(theta.size):
            a, b = numbers(sums[arm], pulls[arm])
            theta[arm] = rng.beta(a, b)
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield a sample of every arm in every round after the start."""
    return samples(params, arms, horizon, start(params))


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 13, for every round alone."""
    return claim_of_a_round(params, "Theorem 13")


def warning(params: Params, arms: int, horizon: int) -> str | None:
    """Return a warning if the start takes all rounds; else None."""
    return long_start(start(params), arms, horizon)
