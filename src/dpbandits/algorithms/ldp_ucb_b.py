"""LDP-UCB-B (ren2020, authors' code): UCB on one private bit per reward. ε-local DP."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.ldp_ucb_l import Start, guarantee
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.mechanisms.perturbation import randomised_response
from dpbandits.privacy.releases import ApproximateDP

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "LDP-UCB-B"


class Params(NamedTuple):
    """Local privacy budget of each reward, and the variant of the start."""

    epsilon: Positive
    start: Start = Start.ONE_PULL


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest mean of private bits + sqrt(2 log t/N) in round t."""
    arms = number_of_arms(bandit)
    phantom = params.start == Start.PHANTOM
    pulls = np.full(arms, 1.0 if phantom else 0.0)
    sums, index = np.zeros(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms or phantom:
            root = math.sqrt(math.log(t))
            for arm in range(arms):
                index[arm] = sums[arm] / pulls[arm] + math.sqrt(2.0 / pulls[arm]) * root
            chosen = argmax(index)
        sums[chosen] += randomised_response(rng, pull(bandit, chosen), params.epsilon)
        pulls[chosen] += 1.0


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield every reward once, by randomised response."""
    for arm in range(arms):
        yield ApproximateDP(arm, 1, horizon, params.epsilon, 0.0)
