"""Anytime-Lazy-UCB (Hu, Huang and Mehta 2021, arXiv 2102.07929), reconstructed. ε-global DP.

Deviation: the paper's text could not be had. Releases are those of Lazy-DP-TS (hu2022), and the
index is the one that fits the curves of hu2022 best, of 84 pairs of coefficients and bases:

    μ~ + sqrt(3 log₂(t)/O) + 3 log₂(t)/(ε O).

These curves are therefore no evidence for it, and no comparison with it is judged.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._raised_means import observe
from dpbandits.algorithms.lazy_dp_ts import first_pulls, releases
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import kernel
from dpbandits.core.parameters import Positive
from dpbandits.privacy.notions import Guarantee, Notion

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "Anytime-Lazy-UCB (reconstructed)"


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


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the promise of its title, as hu2022 cites it; its theorem is not known."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "hu2022, section 2.3, reconstructed")
