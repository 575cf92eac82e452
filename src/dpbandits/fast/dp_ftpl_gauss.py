"""DP-FTPL-Gauss that samples only the arms above a level."""

import math

from dpbandits.algorithms._ftpl import first_pulls
from dpbandits.algorithms.dp_ftpl_gauss import Params
from dpbandits.fast._largest_sample import Totals, chance_above, covers, follow_exact, sample_above
from dpbandits.kernel.compilation import kernel

__all__ = ["covers", "play"]


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
    accepted = rng.standard_exponential() >= 0.5 * beyond * beyond
    return level + beyond * deviation if accepted else -math.inf


@kernel
def play(params, bandit, rng):
    """Pull each arm N* times, then the arm of largest θ."""
    sums, pulls = first_pulls(params, bandit, rng)
    follow_exact(Totals(params, sums, pulls), bandit, rng)
