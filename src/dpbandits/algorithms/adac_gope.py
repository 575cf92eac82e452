"""AdaC-GOPE (azize2024): Algorithm 8, phased elimination with Gaussian noise. ρ-zCDP, Theorem 5.11.

Deviation: the noise of line 12 is N(0, 2 g/(ρ c_l)), with the g that the design of the phase has
reached. Line 12 has d for g, which is that of an exact design of actions that span R^d: with a
design within a tolerance of it, a phase would spend ρ (1 + tolerance).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms.gope import LINEAR, RANGE, Tolerance, add_noise, longer, play
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.mechanisms.perturbation import gaussian
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Gaussian

__all__ = ["LABEL", "LINEAR", "RANGE", "Params", "guarantee", "play", "releases"]

LABEL = "AdaC-GOPE"
guarantee = guaranteed(Notion.CONCENTRATED, "azize2024, Theorem 5.11")


class Params(NamedTuple):
    """Privacy budget of zCDP, risk δ, and how far a design may be from G-optimal."""

    rho: Positive
    risk: Fraction = 0.001
    tolerance: Tolerance = 0.01


@longer.register(Params)
def adac_gope_longer(params, d, beta, risk):
    """Return 2 d/β sqrt(2 f(d, δ)/ρ) of (5.6)."""
    log = math.log(2.0 / risk)
    f = d + 2.0 * math.sqrt(d * log) + 2.0 * log
    return 2.0 * d / beta * math.sqrt(2.0 * f / params.rho)


@add_noise.register(Params)
def adac_gope_noise(params, rng, statistics, sensitivity):
    """Add N(0, sensitivity²/(2 ρ)) to each component."""
    for k in range(statistics.size):
        statistics[k] += gaussian(rng, sensitivity, params.rho)


def releases(params: Params, arms: int, horizon: int) -> Iterator[Gaussian]:
    """Yield, for every arm, the statistics of all phases over the scale of their noise.

    A reward enters one phase, and moves its statistics by at most sqrt(2 ρ) scales. A game that is
    shorter than the first phase of actions in one dimension, the shortest, has no release.
    """
    risk = params.risk / (2.0 * arms)
    first = 32.0 * math.log(4.0 / risk) + adac_gope_longer(params, 1, 0.5, risk)
    for arm in range(arms if first <= horizon else 0):
        yield Gaussian(arm, 1, horizon, sensitivity=math.sqrt(2.0 * params.rho), scale=1.0)
