"""The samples that a stopping rule reads: independent, in [-R, R], of an unknown mean.

A rule may take the sum of the next n of them, in one step however many they are, and knows R.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import inlined


class Samples(NamedTuple):
    """Samples that are R or -R."""

    radius: float  # R
    probability: float  # of R
    rng: np.random.Generator


@inlined
def take(samples, n):
    """The sum of the next n samples."""
    return samples.radius * (2.0 * samples.rng.binomial(n, samples.probability) - n)


@inlined
def out_of_reach(samples, distance):
    """How many samples can be taken, one at least, before their sum may exceed a distance."""
    return max(1, int(min(distance / samples.radius, 2.0**53)))
