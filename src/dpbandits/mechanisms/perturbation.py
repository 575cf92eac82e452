"""Perturbation of a mean by the noise of Lemma 15 (wang2024) or of Gauss, and of a reward by a lie.

Lemma 15 makes a mean (epsilon, delta)-DP. Its law is symmetric. One reward moves a mean of N
rewards by at most 1/N, so all values here are in units of 1/N. With E = e^epsilon - 1, the quantile
at u <= 1/2 is

    log[(delta + u E)/(delta + E/2)]/epsilon = -log[1 + (1/2 - u)/(delta/E + u)]/epsilon.

It is log(2u)/epsilon for delta = 0 and (u - 1/2)/delta for epsilon = 0. The right-hand side has no
cancellation, however small any of its quantities is.
"""

import math
from typing import NamedTuple

from dpbandits.kernel.compilation import inlined


class Perturbation(NamedTuple):
    """Law of the noise for a budget; epsilon and delta are not both 0."""

    epsilon: float
    delta: float
    odds: float  # delta/E; inf for epsilon = 0


@inlined
def perturbation(epsilon, delta):
    """Return the distribution of Lemma 15 for this budget."""
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
def perturb(law, rng):
    """Draw the noise once."""
    u = rng.random()  # a multiple of 2^-53; 2^-54, the middle of [0, 2^-53), replaces its 0
    return math.copysign(reach(law, max(min(u, 1.0 - u), 2.0**-54)), u - 0.5)


@inlined
def gaussian(rng, sensitivity, rho):
    """Draw N(0, sensitivity²/(2 rho)), which makes a statistic of this L2 sensitivity rho-zCDP.

    Source: Bun and Steinke 2016, Proposition 1.6; azize2024, Theorem 2.14.
    """
    return rng.normal(0.0, sensitivity / math.sqrt(2.0 * rho))


@inlined
def randomised_response(rng, reward, epsilon):
    """Draw a private bit for a reward r in [0, 1] (Warner 1965; ren2020); it is ε-locally private.

    Both of its values are at most e^ε times as likely for one reward as for another, and exactly
    e^ε times for the rewards 0 and 1.
    """
    lie = math.exp(-epsilon)
    # (r e^ε + 1 - r)/(1 + e^ε), for any ε >= 0
    chance_of_one = (reward + (1.0 - reward) * lie) / (1.0 + lie)
    return 1.0 if rng.random() < chance_of_one else 0.0
