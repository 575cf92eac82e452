"""Anytime-Lazy-UCB (Hu, Huang and Mehta 2021, arXiv 2102.07929), reconstructed. ε-global DP.

Deviation: the paper's text could not be had. Releases are those of Lazy-DP-TS (hu2022), and the
index is the one that fits the curves of hu2022 best, of 84 pairs of coefficients and bases:

    μ~ + sqrt(3 log₂(t)/O) + 3 log₂(t)/(ε O).

No comparison with it is judged.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.lazy_dp_ts import first_pulls, observe, releases
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "Anytime-Lazy-UCB (reconstructed)"
guarantee = guaranteed(Notion.GLOBAL, "hu2022, section 2.3, reconstructed")


class Params(NamedTuple):
    """Privacy budget."""

    epsilon: Positive


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then that of largest index; an arm's mean is renewed when O doubles."""
    means, fresh = first_pulls(params, bandit, rng)
    index = np.empty(number_of_arms(bandit))
    while playing(bandit):
        log_t = math.log(rounds_played(bandit) + 1) / math.log(2.0)
        for arm in range(index.size):
            bonus = math.sqrt(3.0 * log_t / means.rewards[arm])
            index[arm] = means.mean[arm] + bonus + means.slope[arm] * log_t
        chosen = argmax(index)
        observe(fresh, means, rng, chosen, pull(bandit, chosen))
