"""AdaC-UCB (azize2024): Algorithm 1 of azize2022 with index (5.4). ρ-zCDP, Theorem 5.5."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms.adap_ucb import FirstEpisode, Ties, episodes, index, noise, play
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.perturbation import gaussian
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Gaussian

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "AdaC-UCB"
guarantee = guaranteed(Notion.CONCENTRATED, "azize2024, Theorem 5.5")


class Params(NamedTuple):
    """Privacy budget of zCDP, β of (5.4), and the variants of Algorithm 1."""

    rho: Positive
    beta: Positive = 1.0
    ties: Ties = Ties.FIRST
    first_episode: FirstEpisode = FirstEpisode.ONE


# N(0, 1/(2 ρ m²)), the variance of (5.4)
noise.register(Params)(lambda params, rng, sensitivity: gaussian(rng, sensitivity, params.rho))


@index.register(Params)
def adac_ucb_index(params, private_mean, m, log_t):
    """Return (5.4): μ~ + sqrt((1/(2 m) + 1/(ρ m²)) β log t_l)."""
    width = 0.5 / m + 1.0 / (params.rho * m * m)
    return private_mean + math.sqrt(width * params.beta * log_t)


def releases(params: Params, arms: int, horizon: int) -> Iterator[Gaussian]:
    """Yield one private mean per arm and episode."""
    for arm, first, last, moved, m in episodes(params, arms, horizon):
        yield Gaussian(arm, first, last, moved, scale=1.0 / (m * math.sqrt(2.0 * params.rho)))
