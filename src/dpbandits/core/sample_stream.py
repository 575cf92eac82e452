"""Samples that a stopping rule reads: independent, in [-R, R], with an unknown mean.

A rule is given R and may take the sum of the next n samples, in one step however large n is.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import inlined


class SampleStream(NamedTuple):
    """Samples with values R and -R."""

    radius: float  # R
    probability: float  # probability of the value R
    rng: np.random.Generator


@inlined
def take(samples, n):
    """Draw the sum of the next n samples."""
    return samples.radius * (2.0 * samples.rng.binomial(n, samples.probability) - n)


@inlined
def out_of_reach(samples, distance):
    """Return the largest n for which the sum of n samples cannot exceed `distance` in magnitude.

    The result is clipped to 1..2^53.
    """
    return max(1, int(min(distance / samples.radius, 2.0**53)))
