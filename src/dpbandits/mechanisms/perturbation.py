"""Perturbation of Lemma 15 (wang2024): noise that makes a mean (epsilon, delta)-DP.

The law is symmetric. One reward moves a mean of N rewards by at most 1/N, so all values here are in
units of 1/N. With E = e^epsilon - 1, the quantile at u <= 1/2 is

    log[(delta + u E)/(delta + E/2)]/epsilon = -log[1 + (1/2 - u)/(delta/E + u)]/epsilon.

It is log(2u)/epsilon for delta = 0 and (u - 1/2)/delta for epsilon = 0. The right-hand side has no
cancellation, however small any of its quantities is.
"""

import math
from typing import NamedTuple

from dpbandits.core.kernel import inlined

# rng.random() is a multiple of 2^-53. This replaces its 0: the middle of [0, 2^-53).
SMALLEST = 2.0**-54


class Perturbation(NamedTuple):
    """Law of the noise for a budget; epsilon and delta are not both 0."""

    epsilon: float
    delta: float
    odds: float  # delta/E; inf for epsilon = 0


@inlined
def perturbation(epsilon, delta):
    """Return the law of Lemma 15 for this budget."""
    # Numerator and denominator are divided by e^epsilon, which may overflow.
    growth = -math.expm1(-epsilon)
    odds = delta * math.exp(-epsilon) / growth if growth > 0.0 else math.inf
    return Perturbation(epsilon, delta, odds)


@inlined
def reach(law, tail):
    """Return x >= 0 such that the noise exceeds x with probability `tail`, 0 < tail <= 1/2.

    At tail = 1/T it is the radius of DP-FTPL-New: log[(T E + 2 T delta)/(2 E + 2 T delta)]/epsilon.
    """
    if law.odds == math.inf:
        return (0.5 - tail) / law.delta
    return math.log1p((0.5 - tail) / (law.odds + tail)) / law.epsilon


@inlined
def tail(law, far):
    """Return the probability that the noise exceeds `far`; 1/2 for far <= 0. Inverse of `reach`."""
    if far <= 0.0:
        return 0.5
    if law.odds == math.inf:
        return max(0.5 - law.delta * far, 0.0)
    scaled = -law.epsilon * far
    if law.odds == 0.0:  # spares half of the time
        return 0.5 * math.exp(scaled)
    return max(0.5 * math.exp(scaled) + law.odds * math.expm1(scaled), 0.0)


@inlined
def quantile(law, u):
    """Return the quantile at u, 0 < u < 1."""
    return math.copysign(reach(law, min(u, 1.0 - u)), u - 0.5)


@inlined
def perturb(law, rng):
    """Draw the noise once."""
    u = rng.random()
    return math.copysign(reach(law, max(min(u, 1.0 - u), SMALLEST)), u - 0.5)
