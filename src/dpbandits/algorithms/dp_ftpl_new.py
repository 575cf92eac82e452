"""DP-FTPL-New (wang2024): Algorithm 3. Every round alone is (ε, δ)-DP, Theorem 16."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import Method, argmax
from dpbandits.algorithms._ftpl import both_zero, claim_of_a_round, first_pulls, samples
from dpbandits.core.bandit import playing, pull
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Budget, Delta, Rounds
from dpbandits.mechanisms.perturbation import Perturbation, perturb, perturbation, reach
from dpbandits.privacy.notions import Guarantee
from dpbandits.privacy.releases import ApproximateDP

LABEL = "DP-FTPL-New"


class Params(NamedTuple):
    """Budget of one round (one part may be 0), horizon T, and sampling method."""

    epsilon: Budget
    delta: Delta
    horizon: Rounds
    method: Method = Method.EXACT

    def problem(self) -> tuple[str, str] | None:
        """Return a problem if both ε and δ are 0; else None."""
        return both_zero(self)


class Samples(NamedTuple):
    """Law of θᵢ, given Rᵢ and Nᵢ."""

    noise: Perturbation
    log_t: float  # log T
    radius: float  # reach of the noise at probability 1/T, in units of 1/N_i


@inlined
def sample_law(params):
    """Return the law of θ for a budget and a horizon."""
    noise = perturbation(params.epsilon, params.delta)
    return Samples(noise, math.log(params.horizon), reach(noise, 1.0 / params.horizon))


@inlined
def numbers(law, total, n):
    """Return x₀, the mean plus both confidence radii (line 7), and 1/N, the unit of the noise."""
    unit = 1.0 / n
    return (total + law.radius) * unit + math.sqrt(law.log_t * unit), unit


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest θᵢ ~ D(Nᵢ, Rᵢ) (Algorithm 3)."""
    law = sample_law(params)
    sums, pulls = first_pulls(bandit, 1.0)
    theta = np.empty(sums.size)
    while playing(bandit):
        for arm in range(theta.size):
            x0, unit = numbers(law, sums[arm], pulls[arm])
            theta[arm] = x0 + perturb(law.noise, rng) * unit
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield a sample of every arm in every round after each arm was pulled once."""
    return samples(params, arms, horizon, 1.0)


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 16, for every round alone."""
    return claim_of_a_round(params, "Theorem 16")
