"""DP-FTPL-Gauss that samples only the arms above a level."""

import math

from dpbandits.algorithms._ftpl import first_pulls
from dpbandits.algorithms.dp_ftpl_gauss import Params
from dpbandits.core.kernel import kernel
from dpbandits.fast import _largest_sample as largest_sample
from dpbandits.fast._largest_sample import covers, follow_totals

__all__ = ["covers", "play"]


@largest_sample.numbers.register(Params)
def gauss_numbers(params, total, n):
    """Return the mean and the standard deviation."""
    return total / n, math.sqrt(2.0 / n)


@largest_sample.sample.register(Params)
def gauss_sample(params, rng, mean, deviation):
    return rng.normal(mean, deviation)


@largest_sample.chance_above.register(Params)
def gauss_chance_above(params, mean, deviation, level):
    """Return the bound φ(z)/z, the integral of φ(z) exp(-z (x - z)) ≥ φ(x) over x > z.

    z is the level in standard deviations above the mean; for z ≤ 0 the bound is 1.
    """
    z = (level - mean) / deviation
    return math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * z) if z > 0.0 else 1.0


@largest_sample.sample_above.register(Params)
def gauss_sample_above(params, rng, mean, deviation, level):
    """Draw an exponential beyond z, accepted with probability exp(-(x - z)²/2)."""
    beyond = rng.standard_exponential() * deviation / (level - mean)
    accepted = rng.standard_exponential() >= 0.5 * beyond * beyond
    return level + beyond * deviation if accepted else -math.inf


@kernel
def play(params, bandit, rng):
    """Pull each arm N_G* times, then the arm of largest θ."""
    sums, pulls = first_pulls(params, bandit)
    follow_totals(params, bandit, rng, sums, pulls)
