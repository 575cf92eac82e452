"""LDP-UCB-L (ren2020, authors' code): UCB on rewards with Laplace noise each. ε-local DP."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms._local import (
    Start,
    claim,
    enough_samples_until,
    play,
    short_of_samples,
    width,
)
from dpbandits.core.parameters import Positive
from dpbandits.core.vectors import fill_laplaces
from dpbandits.mechanisms.laplace import laplace
from dpbandits.mechanisms.local_sums import privatise, privatised, refill
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


@refill.register(Params)
def ldp_ucb_l_refill(params, lanes, drawn):
    fill_laplaces(lanes, drawn)


@privatise.register(Params)
def ldp_ucb_l_privatise(params, drawn, first, items, n):
    for i in range(n):
        items[i] += drawn[first + i] / params.epsilon


@short_of_samples.register(Params)
def ldp_ucb_l_short_of_samples(params, pulls, t):
    """Return the first arm with N ≤ 4 log(t + 1), or -1."""
    least = 4.0 * math.log(t + 1.0)
    for arm in range(pulls.size):
        if pulls[arm] <= least:
            return arm
    return -1


@enough_samples_until.register(Params)
def ldp_ucb_l_enough_samples_until(params, pulls):
    """Return a t with 4 log(t + 1) < N for all arms, a round or two before the last one."""
    fewest = 160.0  # e^40 rounds are never played, and are no overflow
    for arm in range(pulls.size):
        fewest = min(fewest, pulls[arm])
    return int(math.exp(0.25 * fewest)) - 2


@width.register(Params)
def ldp_ucb_l_width(params, n):
    """Return the width in the index: mean + sqrt(2 log t/N) + sqrt(32 log t/(ε² N))."""
    return math.sqrt(2.0 / n) + math.sqrt(32.0 / n) / params.epsilon


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield every reward once, with its own noise."""
    for arm in range(arms):
        yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=1.0 / params.epsilon)
