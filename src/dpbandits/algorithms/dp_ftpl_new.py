"""DP-FTPL-New (wang2024): Algorithm 3. Every round alone is (ε, δ)-DP, Theorem 16."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms._ftpl import both_zero, claim_of_a_round, first_pulls, samples
from dpbandits.algorithms._largest_sample import (
    Method,
    centre,
    chance_above,
    chance_exceeding,
    exceeded_with,
    fill_noise,
    follow_largest,
    numbers,
    parts_by_pulls,
    play_in_vectors,
    play_masked,
    sample,
    sample_above,
    symmetric,
)
from dpbandits.core.kernel import kernel
from dpbandits.core.parameters import Budget, Delta, Rounds
from dpbandits.mechanisms.perturbation import (
    Perturbation,
    chance_exceeding_noise,
    fill_perturbations,
    noise_exceeded_with,
    perturb,
    perturbation,
    reach,
    tail,
)
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


@parts_by_pulls.register(Samples)
def new_parts_by_pulls(law, n):
    """Return 1/N, the unit of the noise, and the confidence radius of the rewards (line 7)."""
    unit = 1.0 / n
    return unit, math.sqrt(law.log_t * unit)


@centre.register(Samples)
def new_centre(law, total, unit, bonus):
    """Return x₀, the mean plus both confidence radii."""
    return (total + law.radius) * unit + bonus


@numbers.register(Samples)
def new_numbers(law, total, n):
    """Return x₀ and 1/N."""
    unit, bonus = parts_by_pulls(law, n)
    return centre(law, total, unit, bonus), unit


@sample.register(Samples)
def new_sample(law, rng, x0, unit):
    """Draw θ ~ D(N, R)."""
    return x0 + perturb(law.noise, rng) * unit


@chance_above.register(Samples)
def new_chance_above(law, x0, unit, level):
    """Return the exact tail probability of Lemma 15."""
    return tail(law.noise, (level - x0) / unit)


@chance_exceeding.register(Samples)
def new_chance_exceeding(law, x0, unit, level):
    """Return P[θ > level] (Lemma 15)."""
    return chance_exceeding_noise(law.noise, (level - x0) / unit)


@exceeded_with.register(Samples)
def new_exceeded_with(law, x0, unit, u):
    """Return the value that θ exceeds with probability u, by inversion of Lemma 15."""
    return x0 + noise_exceeded_with(law.noise, u) * unit


play_in_vectors.register(Samples)(play_masked)


@fill_noise.register(Samples)
def new_fill_noise(law, rng, lanes, out):
    """Fill `out` with draws of the noise, in units of 1/N."""
    fill_perturbations(law.noise, rng, lanes, out)


@sample_above.register(Samples)
def new_sample_above(law, rng, x0, unit, level):
    """Draw θ above the level, by inversion at a uniform fraction of that tail."""
    part = (1.0 - rng.random()) * tail(law.noise, (level - x0) / unit)
    return x0 + reach(law.noise, part) * unit


@symmetric.register(Samples)
def new_symmetric(law):
    """Return True. The noise is symmetric; the bound holds since x₀ N - level N is concave in N."""
    return True


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest θᵢ ~ D(Nᵢ, Rᵢ) (Algorithm 3)."""
    noise = perturbation(params.epsilon, params.delta)
    law = Samples(noise, math.log(params.horizon), reach(noise, 1.0 / params.horizon))
    sums, pulls = first_pulls(bandit, 1.0)
    follow_largest(law, params.method, bandit, rng, sums, pulls)


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield a sample of every arm in every round after each arm was pulled once."""
    return samples(params, arms, horizon, 1.0)


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 16, for every round alone."""
    return claim_of_a_round(params, "Theorem 16")
