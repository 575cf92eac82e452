"""AdaP-UCB (azize2022): Algorithm 1 with index (7). ε-global DP, Theorem 6."""

import math
from typing import NamedTuple

from dpbandits.algorithms._adaptive_episodes import (
    FirstEpisode,
    Ties,
    claim,
    index,
    play,
    releases,
)
from dpbandits.core.parameters import Positive

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "AdaP-UCB"


class Params(NamedTuple):
    """Privacy budget, α of (7), and the readings of Algorithm 1."""

    epsilon: Positive
    alpha: Positive = 3.1
    ties: Ties = Ties.FIRST
    first_episode: FirstEpisode = FirstEpisode.ONE


@index.register(Params)
def adap_ucb_index(params, private_mean, m, log_t):
    """Return (7): μ~ + sqrt(α log t_l / (2 m)) + α log t_l / (ε m)."""
    exploration = params.alpha * log_t / m
    return private_mean + math.sqrt(0.5 * exploration) + exploration / params.epsilon
