"""DP-SE with Gaussian noise (sajed2019, section 6): Algorithm 3 for zCDP. ρ-zCDP.

The paper says that its results extend to concentrated DP, and gives no constants. Ours follow its
argument: N(0, 1/(2 ρ R²)) exceeds sqrt(L/ρ)/R with probability e^-L at most, in place of L/(ε R).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms.dp_se import Elimination, epochs, noise, noise_bound, play
from dpbandits.kernel.parameters import Positive, Rounds
from dpbandits.mechanisms.perturbation import gaussian
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Gaussian

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "DP-SE-Gauss"
guarantee = guaranteed(Notion.CONCENTRATED, "sajed2019, section 6")


class Params(NamedTuple):
    """Privacy budget of zCDP, horizon T, and the variant of Algorithm 3."""

    rho: Positive
    horizon: Rounds
    elimination: Elimination = Elimination.AT_ONCE


noise.register(Params)(lambda params, rng, sensitivity: gaussian(rng, sensitivity, params.rho))
noise_bound.register(Params)(
    lambda params, factor, logarithm, unit: factor * math.sqrt(logarithm / params.rho) / unit
)


def releases(params: Params, arms: int, horizon: int) -> Iterator[Gaussian]:
    """Yield one private mean per arm and epoch."""
    for arm, first, last, n in epochs(params, arms, horizon):
        yield Gaussian(arm, first, last, 1.0 / n, scale=1.0 / (n * math.sqrt(2.0 * params.rho)))
