"""DP-FTPL-Gauss (wang2024): Algorithm 1. Every round alone is (epsilon, delta)-DP, Theorem 11."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._ftpl import claim_of_a_round, first_pulls, long_start, no_delta, samples
from dpbandits.algorithms._largest_sample import (
    Method,
    chance_above,
    numbers,
    play_exact,
    sample,
    sample_above,
)
from dpbandits.core.bandit import number_of_arms, playing, pull
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Budget, Delta
from dpbandits.privacy.notions import Claim
from dpbandits.privacy.releases import Approximate

LABEL = "DP-FTPL-Gauss"


class Params(NamedTuple):
    """The budget of a round, of which epsilon may be 0, and how the largest sample is found."""

    epsilon: Budget
    delta: Delta
    method: Method = Method.EXACT

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


@numbers.register(Params)
def gauss_numbers(params, total, n):
    """Line 9: mean R/N and standard deviation, that of a variance of 2/N."""
    return total / n, math.sqrt(2.0 / n)


@sample.register(Params)
def gauss_sample(params, rng, mean, deviation):
    """N(mean, deviation^2)."""
    return rng.normal(mean, deviation)


@chance_above.register(Params)
def gauss_chance_above(params, mean, deviation, level):
    """phi(z)/z, the integral of phi(z) exp(-z (x - z)) >= phi(x) over x > z."""
    z = (level - mean) / deviation
    return math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * z) if z > 0.0 else 1.0


@sample_above.register(Params)
def gauss_sample_above(params, rng, mean, deviation, level):
    """Exponential beyond z, accepted with exp(-(x - z)^2/2)."""
    beyond = rng.standard_exponential() * deviation / (level - mean)
    if rng.standard_exponential() < 0.5 * beyond * beyond:
        return -math.inf
    return level + beyond * deviation


@kernel
def play(params, bandit, rng):
    """Algorithm 1: N_G* pulls of each arm, then the arm of largest theta_i ~ N(R_i/N_i, 2/N_i)."""
    sums, pulls = first_pulls(bandit, start(params))
    if params.method == Method.EXACT:
        play_exact(params, bandit, rng, sums, pulls)
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        for arm in range(theta.size):
            a, b = numbers(params, sums[arm], pulls[arm])
            theta[arm] = sample(params, rng, a, b)
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[Approximate]:
    """A sample of every arm in every round after the start."""
    return samples(params, arms, horizon, start(params))


def claim(params: Params, arms: int, horizon: int) -> Claim:
    """Of every round alone."""
    return claim_of_a_round(params, "Theorem 11")


def warning(params: Params, arms: int, horizon: int) -> str | None:
    """Whether it is the start and nothing else."""
    return long_start(start(params), arms, horizon)
