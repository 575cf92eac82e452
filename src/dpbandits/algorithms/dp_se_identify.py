"""DP-SE that answers (sajed2019): Algorithm 3 with β = risk, up to the last arm. ε-DP, Theorem 4.1.

The passes of an epoch are those of DP-SE.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms import dp_se
from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.dp_se import Elimination, passes_of_epoch
from dpbandits.kernel.answers import answer
from dpbandits.kernel.bandit import number_of_arms, pull_each, pull_many, rounds_left
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

KIND = "identification"
LABEL = "DP-SE"
guarantee = guaranteed(Notion.GLOBAL, "sajed2019, Theorem 4.1")


class EpochMean(IntEnum):
    """Variant: the mean of an epoch, line 14."""

    OF_EPOCH = 0
    DIVIDED_BY_ALL_PULLS = 1  # the sum of the epoch over all pulls of the arm: as drawn


class Passes(IntEnum):
    """Variant: passes of an epoch, for the real number R_e of line 8."""

    CEIL = 0  # `while r < R_e: r += 1`
    FLOOR = 1  # as drawn


class Params(NamedTuple):
    """Privacy budget, chance of a wrong answer β, and the variants of the published curves."""

    epsilon: Positive
    risk: Fraction
    epoch_mean: EpochMean = EpochMean.OF_EPOCH
    passes: Passes = Passes.CEIL


@inlined
def real_passes(params, epoch, arms):
    """Return R_e of line 8; DP-SE has β = 1/T."""
    inverse = dp_se.Params(params.epsilon, 1.0 / params.risk, Elimination.AT_ONCE)
    return passes_of_epoch(inverse, epoch, arms)


@inlined
def passes_of(params, real):
    """Return the passes of an epoch as a float."""
    return math.floor(real) if params.passes == Passes.FLOOR else math.ceil(real)


@kernel
def play(params, bandit, rng):
    """Play epochs of round-robin pulls until one arm is left; return the pulls of whole epochs."""
    active = np.arange(number_of_arms(bandit))  # S
    epoch, pulls, completed = 0, 0, 0
    while active.size > 1:
        epoch += 1
        arms = active.size
        real = real_passes(params, epoch, arms)
        if passes_of(params, real) * arms > rounds_left(bandit):  # undecided at the limit
            pull_many(bandit, active[0], rounds_left(bandit))
            return completed
        r = int(passes_of(params, real))
        sums = pull_each(bandit, active, r)
        pulls += r
        completed += r * arms
        logarithm = math.log(4.0 * arms * float(epoch) * epoch / params.risk)
        h = math.sqrt((logarithm + math.log(2.0)) / (2.0 * real))
        c = logarithm / (real * params.epsilon)
        divisor = pulls if params.epoch_mean == EpochMean.DIVIDED_BY_ALL_PULLS else r
        private_mean = np.empty(arms)
        for i in range(arms):
            private_mean[i] = sums[i] / divisor + laplace(rng, 1.0 / r, params.epsilon)
        largest = private_mean[argmax(private_mean)]
        kept = 0
        for i in range(arms):
            if largest - private_mean[i] <= 2.0 * h + 2.0 * c:
                active[kept] = active[i]
                kept += 1
        active = active[:kept]
    answer(bandit, active[0])
    return completed


def releases(params: Params, arms: int, limit: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and epoch, disjoint also where arms are eliminated."""
    epoch, last = 1, 0
    while (last + (n := int(passes_of(params, real_passes(params, epoch, arms))))) * arms <= limit:
        divisor = last + n if params.epoch_mean == EpochMean.DIVIDED_BY_ALL_PULLS else n
        for arm in range(arms):
            scale = 1.0 / (n * params.epsilon)
            yield Laplace(arm, last + 1, last + n, 1.0 / divisor, scale)
        epoch, last = epoch + 1, last + n
