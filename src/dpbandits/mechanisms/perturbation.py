"""The perturbation of Lemma 15 (wang2024): the noise that makes a mean (epsilon, delta)-DP.

Its law is symmetric, and one reward moves a mean of N by 1/N at most: everything here is in units
of 1/N. With E = e^epsilon - 1 the quantile of u <= 1/2 is

    log[(delta + u E)/(delta + E/2)]/epsilon = -log[1 + (1/2 - u)/(delta/E + u)]/epsilon,

log(2u)/epsilon for delta = 0, and (u - 1/2)/delta for epsilon = 0. Of the right-hand side nothing
cancels, whatever is small.
"""

import math
from typing import NamedTuple

from dpbandits.core.kernel import inlined

# rng.random() is a multiple of 2^-53; its 0 stands for the middle of what it was rounded from.
SMALLEST = 2.0**-54


class Perturbation(NamedTuple):
    """The law for a budget; epsilon and delta are not both 0."""

    epsilon: float
    delta: float
    odds: float  # delta/E


@inlined
def perturbation(epsilon, delta):
    """The law of Lemma 15."""
    # Over e^epsilon, which may be too large for a number.
    growth = -math.expm1(-epsilon)
    return Perturbation(
        epsilon, delta, delta * math.exp(-epsilon) / growth if growth > 0.0 else math.inf
    )


@inlined
def reach(law, tail):
    """How far out the law has the probability `tail`, 0 < tail <= 1/2, on either side.

    At 1/T it is the radius of DP-FTPL-New: log[(T E + 2 T delta)/(2 E + 2 T delta)]/epsilon.
    """
    if law.odds == math.inf:
        return (0.5 - tail) / law.delta
    return math.log1p((0.5 - tail) / (law.odds + tail)) / law.epsilon


@inlined
def tail(law, far):
    """The probability beyond `far`; 1/2 is as much as is told. The inverse of `reach`."""
    if far <= 0.0:
        return 0.5
    if law.odds == math.inf:
        return max(0.5 - law.delta * far, 0.0)
    scaled = -law.epsilon * far
    return max(0.5 * math.exp(scaled) + law.odds * math.expm1(scaled), 0.0)


@inlined
def quantile(law, u):
    """Where the distribution function is u, 0 < u < 1."""
    return math.copysign(reach(law, min(u, 1.0 - u)), u - 0.5)


@inlined
def perturb(law, rng):
    """One draw."""
    u = rng.random()
    return math.copysign(reach(law, max(min(u, 1.0 - u), SMALLEST)), u - 0.5)
