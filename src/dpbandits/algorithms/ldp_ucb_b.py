"""LDP-UCB-B (ren2020, authors' code): UCB on one private bit per reward. ε-local DP."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms.ldp_ucb_l import Start, claim, play, privatised, short_of_samples, width
from dpbandits.core.parameters import Positive
from dpbandits.mechanisms.perturbation import randomised_response
from dpbandits.privacy.releases import ApproximateDP

__all__ = ["LABEL", "Params", "claim", "play", "releases"]

LABEL = "LDP-UCB-B"


class Params(NamedTuple):
    """Local privacy budget of each reward, and the reading of the start."""

    epsilon: Positive
    start: Start = Start.ONE_PULL


@privatised.register(Params)
def ldp_ucb_b_privatised(params, rng, reward):
    """Draw a bit of probability (r e^ε + 1 - r)/(1 + e^ε)."""
    return randomised_response(rng, reward, params.epsilon)


@short_of_samples.register(Params)
def ldp_ucb_b_short_of_samples(params, pulls, t):
    """Return -1: the index decides in every round."""
    return -1


@width.register(Params)
def ldp_ucb_b_width(params, n):
    """Return sqrt(2/N): the index is the mean of the bits + sqrt(2 log t/N)."""
    return math.sqrt(2.0 / n)


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield every reward once, by randomised response."""
    for arm in range(arms):
        yield ApproximateDP(arm, 1, horizon, params.epsilon, 0.0)
