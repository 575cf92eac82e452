"""DP-FTPL-Gauss (wang2024): Algorithm 1. Every round alone is (ε, δ)-DP, Theorem 11."""

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

LABEL = "DP-FTPL-Gauss"


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
    """Return N_G* = min{1/(4 π δ²), log(e/(4 π δ²))/ε²}, a real number.

    It can be 0 or negative for a large δ; an arm still needs one pull for its mean.
    """
    # Divided step by step: delta^2 and epsilon^2 may underflow.
    half = 0.5 / params.delta
    alone = half / math.pi * half
    if params.epsilon == 0.0:
        return alone
    log_part = 1.0 - math.log(4.0 * math.pi) - 2.0 * math.log(params.delta)
    return min(alone, log_part / params.epsilon / params.epsilon)


@kernel
def play(params, bandit, rng):
    """Pull each arm N_G* times, then that of largest θᵢ ~ N(Rᵢ/Nᵢ, 2/Nᵢ) (Algorithm 1)."""
    sums, pulls = first_pulls(bandit, start(params))
    theta = np.empty(sums.size)
    while playing(bandit):
        for arm in range(theta.size):
            theta[arm] = rng.normal(sums[arm] / pulls[arm], math.sqrt(2.0 / pulls[arm]))
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield a sample of every arm in every round after the start."""
    return samples(params, arms, horizon, start(params))


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 11, for every round alone."""
    return claim_of_a_round(params, "Theorem 11")


def warning(params: Params, arms: int, horizon: int) -> str | None:
    """Return a warning if the start takes all rounds; else None."""
    return long_start(start(params), arms, horizon)
