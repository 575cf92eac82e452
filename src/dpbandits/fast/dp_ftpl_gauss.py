"""DP-FTPL-Gauss that samples only the arms above a level."""

import math

from dpbandits.algorithms._ftpl import first_pulls
from dpbandits.algorithms.dp_ftpl_gauss import Params, start
from dpbandits.core.kernel import kernel
from dpbandits.fast._largest_sample import (
    chance_above,
    covers,
    follow_totals,
    numbers,
    sample,
    sample_above,
)

__all__ = ["covers", "play"]


@numbers.register(Params)
def gauss_numbers(params, total, n):
    """Return the mean and the standard deviation."""
    return total / n, math.sqrt(2.0 / n)


@sample.register(Params)
def gauss_sample(params, rng, mean, deviation):
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


@kernel
def play(params, bandit, rng):
    """Pull each arm N_G* times, then the arm of largest θ."""
    sums, pulls = first_pulls(bandit, start(params))
    follow_totals(params, bandit, rng, sums, pulls)
