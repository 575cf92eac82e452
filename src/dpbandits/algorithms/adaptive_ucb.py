"""UCB with adaptive episodes (azize2024, section 5.5.2): AdaC-UCB without noise, not private."""

import math
from typing import NamedTuple

from dpbandits.algorithms.adap_ucb import FirstEpisode, Ties, index, noise, play
from dpbandits.core.parameters import Positive

__all__ = ["LABEL", "Params", "play"]

LABEL = "Adaptive-UCB"


class Params(NamedTuple):
    """β of (5.4), and the readings of Algorithm 1."""

    beta: Positive = 1.0
    ties: Ties = Ties.FIRST
    first_episode: FirstEpisode = FirstEpisode.ONE


@noise.register(Params)
def adaptive_ucb_noise(params, rng, sensitivity):
    """Return 0: the means are released as they are."""
    return 0.0


@index.register(Params)
def adaptive_ucb_index(params, private_mean, m, log_t):
    """Return (5.4) without 1/(ρ m²), the term for the noise: μ + sqrt(β log t_l/(2 m))."""
    return private_mean + math.sqrt(0.5 / m * params.beta * log_t)
