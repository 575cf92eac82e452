"""DP-KLUCB (azize2025), from slides: an index of the divergence d_ε. ε-global DP."""

import math
from enum import IntEnum
from typing import NamedTuple

from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.algorithms._private_batches import Ratio, Rounding, claim, index, play, releases
from dpbandits.algorithms._private_divergence import private_divergence_upper
from dpbandits.core.parameters import Count, Positive

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "DP-KLUCB"


class LogT(IntEnum):
    """Reading: t_l of the index, before the batch l."""

    NEXT = 0  # the first round of the batch
    PLAYED = 1  # the number of rounds played


class Params(NamedTuple):
    """Privacy budget, α of the batches, and the readings of the slides."""

    epsilon: Positive
    ratio: Ratio = 1.5
    rounding: Rounding = Rounding.CEIL
    first_batch: Count = 1
    log_t: LogT = LogT.NEXT
    ties: Ties = Ties.FIRST


@index.register(Params)
def dp_klucb_index(params, mean, best, n, t):
    """Return max {μ in [0, 1]: d_ε(clip_[0,1](μ~), μ) ≤ log t_l / N_a}."""
    t_l = t + 1 if params.log_t == LogT.NEXT else t
    return private_divergence_upper(mean, math.log(t_l) / n, params.epsilon)
