"""UCB with adaptive episodes (azize2024, section 5.5.2): AdaC-UCB without noise, not private."""

import math
from typing import NamedTuple

from dpbandits.algorithms.adap_ucb import FirstEpisode, Ties, index, noise, play
from dpbandits.kernel.parameters import Positive

__all__ = ["LABEL", "Params", "play"]

LABEL = "Adaptive-UCB"


class Params(NamedTuple):
    """β of (5.4), and the variants of Algorithm 1."""

    beta: Positive = 1.0
    ties: Ties = Ties.FIRST
    first_episode: FirstEpisode = FirstEpisode.ONE


# The means are released as they are, and (5.4) lacks 1/(ρ m²), its term for the noise:
# μ + sqrt(β log t_l/(2 m)).
noise.register(Params)(lambda params, rng, sensitivity: 0.0)
index.register(Params)(
    lambda params, mean, m, log_t: mean + math.sqrt(0.5 / m * params.beta * log_t)
)
