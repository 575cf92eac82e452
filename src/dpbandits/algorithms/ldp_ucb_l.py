"""LDP-UCB-L (ren2020, authors' code): UCB on rewards with Laplace noise each. ε-local DP."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms._local import Start, claim, play, privatised, short_of_samples, width
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "LDP-UCB-L"


class Params(NamedTuple):
    """Local privacy budget of each reward, and the reading of the start."""

    epsilon: Positive
    start: Start = Start.ONE_PULL


@privatised.register(Params)
def ldp_ucb_l_privatised(params, rng, reward):
    """Add Lap(1/ε) to a reward."""
    return reward + laplace(rng, 1.0, params.epsilon)


@short_of_samples.register(Params)
def ldp_ucb_l_short_of_samples(params, pulls, t):
    """Return the first arm with N ≤ 4 log(t + 1), or -1."""
    least = 4.0 * math.log(t + 1.0)
    for arm in range(pulls.size):
        if pulls[arm] <= least:
            return arm
    return -1


@width.register(Params)
def ldp_ucb_l_width(params, n):
    """Return the width in the index: mean + sqrt(2 log t/N) + sqrt(32 log t/(ε² N))."""
    return math.sqrt(2.0 / n) + math.sqrt(32.0 / n) / params.epsilon


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield every reward once, with its own noise."""
    for arm in range(arms):
        yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=1.0 / params.epsilon)
