"""AdaP-KLUCB (azize2022): Algorithm 1 with index (8). ε-global DP, Theorem 6."""

from typing import NamedTuple

from dpbandits.algorithms._adaptive_episodes import (
    FirstEpisode,
    Ties,
    claim,
    index,
    play,
    releases,
)
from dpbandits.core.kl import bernoulli_kl_upper
from dpbandits.core.parameters import Positive

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "AdaP-KLUCB"


class Params(NamedTuple):
    """Privacy budget, α of (8), and the readings of Algorithm 1."""

    epsilon: Positive
    alpha: Positive = 3.1
    ties: Ties = Ties.FIRST
    first_episode: FirstEpisode = FirstEpisode.ONE


@index.register(Params)
def adap_klucb_index(params, private_mean, m, log_t):
    """Return (8): max {q: d(clip_[0,1](μ~ + α log t_l/(ε m)), q) ≤ α log t_l/m}."""
    exploration = params.alpha * log_t / m
    clipped = min(max(0.0, private_mean + exploration / params.epsilon), 1.0)
    return bernoulli_kl_upper(clipped, exploration)
