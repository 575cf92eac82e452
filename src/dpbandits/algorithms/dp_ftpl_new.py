"""DP-FTPL-New (wang2024): Algorithm 3. Every round alone is (epsilon, delta)-DP, Theorem 16."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._ftpl import both_zero, claim_of_a_round, first_pulls, samples
from dpbandits.algorithms._largest_sample import (
    Method,
    chance_above,
    numbers,
    play_exact,
    sample,
    sample_above,
)
from dpbandits.core.bandit import number_of_arms, playing, pull
from dpbandits.core.kernel import kernel
from dpbandits.core.parameters import Budget, Delta, Rounds
from dpbandits.mechanisms.perturbation import Perturbation, perturb, perturbation, reach, tail
from dpbandits.privacy.notions import Claim
from dpbandits.privacy.releases import Approximate

LABEL = "DP-FTPL-New"


class Params(NamedTuple):
    """The budget of a round, of which one part may be 0, the horizon T, and the method."""

    epsilon: Budget
    delta: Delta
    horizon: Rounds
    method: Method = Method.EXACT

    def problem(self) -> tuple[str, str] | None:
        """Not both parts may be 0."""
        return both_zero(self)


class Samples(NamedTuple):
    """The law of theta_i but for R_i and N_i."""

    noise: Perturbation
    log_t: float
    radius: float


@numbers.register(Samples)
def new_numbers(law, total, n):
    """Line 7: x_0, the mean and both confidence radii, and 1/N, the unit of the noise."""
    unit = 1.0 / n
    return (total + law.radius) * unit + math.sqrt(law.log_t * unit), unit


@sample.register(Samples)
def new_sample(law, rng, x0, unit):
    """D(N, R)."""
    return x0 + perturb(law.noise, rng) * unit


@chance_above.register(Samples)
def new_chance_above(law, x0, unit, level):
    """The tail of Lemma 15 itself, no bound of it."""
    return tail(law.noise, (level - x0) / unit)


@sample_above.register(Samples)
def new_sample_above(law, rng, x0, unit, level):
    """What reaches as far as a uniform part of that tail."""
    part = (1.0 - rng.random()) * tail(law.noise, (level - x0) / unit)
    return x0 + reach(law.noise, part) * unit


@kernel
def play(params, bandit, rng):
    """Algorithm 3: each arm once, then the arm of largest theta_i ~ D(N_i, R_i)."""
    noise = perturbation(params.epsilon, params.delta)
    law = Samples(noise, math.log(params.horizon), reach(noise, 1.0 / params.horizon))
    sums, pulls = first_pulls(bandit, 1.0)
    if params.method == Method.EXACT:
        play_exact(law, bandit, rng, sums, pulls)
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        for arm in range(theta.size):
            a, b = numbers(law, sums[arm], pulls[arm])
            theta[arm] = sample(law, rng, a, b)
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[Approximate]:
    """A sample of every arm in every round after each was pulled once."""
    return samples(params, arms, horizon, 1.0)


def claim(params: Params, arms: int, horizon: int) -> Claim:
    """Of every round alone."""
    return claim_of_a_round(params, "Theorem 16")
