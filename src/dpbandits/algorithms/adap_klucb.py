"""AdaP-KLUCB (azize2022): Algorithm 1 with index (8). ε-global DP, Theorem 6."""

from enum import IntEnum
from typing import Annotated, NamedTuple

from dpbandits.algorithms.adap_ucb import FirstEpisode, Ties, guarantee, index, play, releases
from dpbandits.kernel.kl import bernoulli_kl_upper
from dpbandits.kernel.parameters import Positive
from dpbandits.kernel.randomness import AddedLater

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "AdaP-KLUCB"


class PrivacyBonus(IntEnum):
    """Variant: term of (8) that allows for the noise, α log t_l/(ε m)."""

    ON = 0  # as printed
    OFF = 1  # none: the index of KL-UCB at the private mean


class Params(NamedTuple):
    """Privacy budget, α of (8), and the variants of Algorithm 1 and of (8)."""

    epsilon: Positive
    alpha: Positive = 3.1
    ties: Ties = Ties.FIRST
    first_episode: FirstEpisode = FirstEpisode.ONE
    privacy_bonus: Annotated[PrivacyBonus, AddedLater(PrivacyBonus.ON, described=True)] = (
        PrivacyBonus.ON
    )


@index.register(Params)
def adap_klucb_index(params, private_mean, m, log_t):
    """Return (8): max {q: d(clip_[0,1](μ~ + α log t_l/(ε m)), q) ≤ α log t_l/m}."""
    exploration = params.alpha * log_t / m
    bonus = exploration / params.epsilon if params.privacy_bonus == PrivacyBonus.ON else 0.0
    return bernoulli_kl_upper(min(max(0.0, private_mean + bonus), 1.0), exploration)
