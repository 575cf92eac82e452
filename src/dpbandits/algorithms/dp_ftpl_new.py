"""DP-FTPL-New (wang2024): Algorithm 3, θᵢ ~ D(Nᵢ, Rᵢ). (ε, δ)-DP in every round alone."""

import math
from typing import NamedTuple

from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms._ftpl import (
    BOTH_ZERO,
    ONE_ROUND,
    CoinOrReward,
    Observation,
    law_of_theta,
    numbers,
    play,
    releases,
    sample,
)
from dpbandits.kernel.parameters import Budget, Delta, Rounds
from dpbandits.mechanisms.perturbation import Perturbation, perturb, perturbation, reach
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "DP-FTPL-New"
guarantee = guaranteed(Notion.PER_ROUND, "wang2024, Theorem 16", ONE_ROUND, delta="delta")


class Params(NamedTuple):
    """Budget of one round (one part may be 0), horizon T, sampling method and variant."""

    epsilon: Budget
    delta: Delta
    horizon: Rounds
    method: Method = Method.EXACT
    observation: CoinOrReward = Observation.REWARD

    def problem(self) -> tuple[str, str] | None:
        """Return a problem if both ε and δ are 0; else None."""
        return None if self.epsilon or self.delta else BOTH_ZERO


class Samples(NamedTuple):
    """Law of θᵢ, given Rᵢ and Nᵢ."""

    noise: Perturbation
    log_t: float  # log T
    radius: float  # reach of the noise at probability 1/T, in units of 1/N_i


@law_of_theta.register(Params)
def sample_law(params):
    """Return the distribution of θ for a budget and a horizon."""
    noise = perturbation(params.epsilon, params.delta)
    return Samples(noise, math.log(params.horizon), reach(noise, 1.0 / params.horizon))


@numbers.register(Samples)
def new_numbers(law, total, n):
    """Return x₀, the mean plus both confidence radii (line 7), and 1/N, the unit of the noise."""
    unit = 1.0 / n
    return (total + law.radius) * unit + math.sqrt(law.log_t * unit), unit


# x₀ plus the noise of Lemma 15 in units of 1/N
sample.register(Samples)(lambda law, rng, x0, unit: x0 + perturb(law.noise, rng) * unit)
