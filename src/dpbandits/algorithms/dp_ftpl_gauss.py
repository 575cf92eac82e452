"""DP-FTPL-Gauss (wang2024): Algorithm 1. Every round alone is (ε, δ)-DP, Theorem 11."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms._ftpl import claim_of_a_round, first_pulls, long_start, no_delta, samples
from dpbandits.algorithms._largest_sample import (
    Method,
    chance_above,
    follow_largest,
    numbers,
    sample,
    sample_above,
    symmetric,
)
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


@numbers.register(Params)
def gauss_numbers(params, total, n):
    """Return the mean R/N and the standard deviation sqrt(2/N) (line 9)."""
    return total / n, math.sqrt(2.0 / n)


@sample.register(Params)
def gauss_sample(params, rng, mean, deviation):
    """Draw θ ~ N(mean, deviation²)."""
    return rng.normal(mean, deviation)


@chance_above.register(Params)
def gauss_chance_above(params, mean, deviation, level):
    """Return the bound φ(z)/z, the integral of φ(z) exp(-z (x - z)) ≥ φ(x) over x > z.

    z is the level in standard deviations above the mean; for z ≤ 0 the bound is 1.
    """
    z = (level - mean) / deviation
    return math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * z) if z > 0.0 else 1.0


@sample_above.register(Params)
def gauss_sample_above(params, rng, mean, deviation, level):
    """Draw an exponential beyond z, accepted with probability exp(-(x - z)²/2)."""
    beyond = rng.standard_exponential() * deviation / (level - mean)
    if rng.standard_exponential() < 0.5 * beyond * beyond:
        return -math.inf
    return level + beyond * deviation


@symmetric.register(Params)
def gauss_symmetric(params):
    """Return True. A normal law; the bound holds since (R - level N)/sqrt(2 N) decreases in N."""
    return True


@kernel
def play(params, bandit, rng):
    """Pull each arm N_G* times, then that of largest θᵢ ~ N(Rᵢ/Nᵢ, 2/Nᵢ) (Algorithm 1)."""
    sums, pulls = first_pulls(bandit, start(params))
    follow_largest(params, params.method, bandit, rng, sums, pulls)


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield a sample of every arm in every round after the start."""
    return samples(params, arms, horizon, start(params))


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 11, for every round alone."""
    return claim_of_a_round(params, "Theorem 11")


def warning(params: Params, arms: int, horizon: int) -> str | None:
    """Return a warning if the start takes all rounds; else None."""
    return long_start(start(params), arms, horizon)
