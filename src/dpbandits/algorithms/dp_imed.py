"""DP-IMED (azize2025), from a summary of the paper: IMED with the divergence d_ε. ε-global DP."""

import math
from typing import NamedTuple

from dpbandits.algorithms.adap_ucb import Ties
from dpbandits.algorithms.dp_klucb import (
    Ratio,
    Rounding,
    earlier,
    index,
    play,
    private_divergence,
    releases,
)
from dpbandits.kernel.parameters import Count, Positive
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "DP-IMED"
guarantee = guaranteed(Notion.GLOBAL, "azize2025, DP-IMED (summary)")


class Params(NamedTuple):
    """Privacy budget, α of the batches, and the variants of the summary."""

    epsilon: Positive
    ratio: Ratio = 1.5
    rounding: Rounding = Rounding.CEIL
    first_batch: Count = 1
    ties: Ties = Ties.FIRST


@index.register(Params)
def dp_imed_index(params, mean, best, n, t):
    """Return -(N_a d_ε(clip_[0,1](μ~_a), clip_[0,1](μ~*)) + log N_a): the smallest is played."""
    clipped = min(max(0.0, mean), 1.0)
    return -(n * private_divergence(clipped, best, params.epsilon) + math.log(n))


@earlier.register(Params)
def dp_imed_earlier(params):
    """Return 1: all rewards count."""
    return 1
