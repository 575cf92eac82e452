"""DP-IMED (azize2025), from a summary of the paper: IMED with the divergence d_ε. ε-global DP."""

import math
from typing import NamedTuple

from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.algorithms._private_batches import Ratio, Rounding, index, play, releases
from dpbandits.algorithms._private_divergence import private_divergence
from dpbandits.core.parameters import Count, Positive
from dpbandits.privacy.notions import Guarantee, Notion

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "DP-IMED"


class Params(NamedTuple):
    """Privacy budget, α of the batches, and the readings of the summary."""

    epsilon: Positive
    ratio: Ratio = 1.5
    rounding: Rounding = Rounding.CEIL
    first_batch: Count = 1
    ties: Ties = Ties.FIRST


@index.register(Params)
def dp_imed_index(params, mean, best, n, t):
    """Return -(N_a d_ε(clip_[0,1](μ~_a), clip_[0,1](μ~*)) + log N_a): the smallest is played."""
    return -(n * private_divergence(mean, best, params.epsilon) + math.log(n))


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the promise of the summary: batches and releases are those of DP-KLUCB."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "azize2025, DP-IMED (summary)")
