"""AdaC-OFUL (azize2024): Algorithm 9, RS-OFUL with Gaussian noise. ρ-zCDP, Theorem 5.14."""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from dpbandits.algorithms.rs_oful import LINEAR, RANGE, add_noise, play, wider
from dpbandits.kernel.parameters import Fraction, Positive, Rounds
from dpbandits.mechanisms.perturbation import gaussian
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Gaussian

__all__ = ["LABEL", "LINEAR", "RANGE", "Params", "guarantee", "play", "releases"]

LABEL = "AdaC-OFUL"
guarantee = guaranteed(Notion.CONCENTRATED, "azize2024, Theorem 5.14")


class Beta(IntEnum):
    """Variant: what the noise adds to the radius β_t, with the γ_t of Theorem C.13."""

    APPENDIX = 0  # γ_t/sqrt(t), which is derived there
    PAGE_114 = 1  # γ_t sqrt(t)


class F(IntEnum):
    """Variant: the bound on the norm of the noise, d + 2 sqrt(d log .) + 2 log(T/δ)."""

    DELTA_OVER_T = 0  # log(T/δ) under the root: f(d, δ/T), as in the event E3
    ONE_OVER_DELTA = 1  # log(1/δ) under the root, as in step 4 of the proof


class G(IntEnum):
    """Variant: by how much the least eigenvalue of the sum of a a^T has grown after t rounds.

    The bound of Lemma 5.16 is negative up to t of about 10^5 for λ0 = 0.1. With it the radius does
    not shrink before, so that γ_t is not of the order sqrt(d log t/ρ) that the theorem states.
    """

    LEADING_TERM = 0  # λ0 t/4
    AS_PRINTED = 1  # λ0 t/4 - 8 log((t + 3) d/δ) - 2 sqrt(t log((t + 3) d/δ)), or 0 if it is less


class Params(NamedTuple):
    """Privacy budget, horizon T, the parameters of RS-OFUL, λ0 of Assumption 5.15, and variants.

    λ0 is the smallest eigenvalue of E[A A^T]; by default that of the thesis's contexts.
    """

    rho: Positive
    horizon: Rounds
    risk: Fraction = 0.001
    doubling: Positive = 1.0
    regulariser: Positive = 0.1
    eigenvalue: Positive = 0.1
    beta: Beta = Beta.APPENDIX
    f: F = F.DELTA_OVER_T
    g: G = G.LEADING_TERM


@wider.register(Params)
def adac_oful_wider(params, d, t, episodes):
    """Return γ_t/sqrt(t) = sqrt(2 l f/(ρ (λ + g))) (Theorem C.13, step 4), or times t."""
    log = math.log(params.horizon / params.risk)
    root = log if params.f == F.DELTA_OVER_T else math.log(1.0 / params.risk)
    f = d + 2.0 * math.sqrt(d * root) + 2.0 * log
    g = 0.25 * params.eigenvalue * t
    if params.g == G.AS_PRINTED:
        late = math.log((t + 3.0) * d / params.risk)
        g = max(g - 8.0 * late - 2.0 * math.sqrt(t * late), 0.0)
    added = math.sqrt(2.0 * episodes * f / (params.rho * (params.regulariser + g)))
    return added if params.beta == Beta.APPENDIX else added * t


@add_noise.register(Params)
def adac_oful_noise(params, rng, sums):
    """Add Y_l ~ N(0, 2/ρ I): a reward in [-1, 1] moves the sums by at most 2 ||a|| <= 2."""
    for k in range(sums.size):
        sums[k] += gaussian(rng, 2.0, params.rho)


def releases(params: Params, arms: int, horizon: int) -> Iterator[Gaussian]:
    """Yield, for every arm, the sums of all episodes, of which a reward enters one.

    The first episode ends with the first round or later, before the second choice.
    """
    for arm in range(arms if horizon > 1 else 0):
        scale = math.sqrt(2.0 / params.rho)
        yield Gaussian(arm, 1, horizon, sensitivity=2.0, scale=scale)
