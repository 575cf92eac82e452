"""DP-SE (sajed2019): Algorithm 3, private successive elimination. ε-DP, Theorem 4.1."""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull_each, pull_many, rounds_left
from dpbandits.kernel.compilation import by_class, inlined, kernel
from dpbandits.kernel.parameters import Positive, Rounds
from dpbandits.kernel.randomness import AddedLater
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "DP-SE"
guarantee = guaranteed(Notion.GLOBAL, "sajed2019, Theorem 4.1")


class Elimination(IntEnum):
    """Variant: how line 19 removes the arms that are far behind."""

    AT_ONCE = 0  # all of them
    # One by one, by a loop over the list that it shortens, which passes over the arm that follows a
    # removed one: `for a in S: if ...: S.remove(a)` in Python. The published curve of azize2022.
    WHILE_ITERATING = 1


class Params(NamedTuple):
    """Privacy budget, horizon T, which sets the confidence β = 1/T (section 5), and the variant."""

    epsilon: Positive
    horizon: Rounds
    elimination: Annotated[Elimination, AddedLater(Elimination.AT_ONCE)] = Elimination.AT_ONCE


@by_class
def noise(params, rng, sensitivity):
    """Draw the noise of a mean of this sensitivity; by default that of line 15, Lap(1/(ε r))."""
    return laplace(rng, sensitivity, params.epsilon)


@by_class
def noise_bound(params, factor, logarithm, unit):
    """Return `factor` times what the noise exceeds with probability e^-logarithm, over `unit`.

    The noise is that of a single reward, sensitivity 1.
    """
    return factor * logarithm / (params.epsilon * unit)


@inlined
def passes_of_epoch(params, epoch, arms):
    """Return Rₑ of line 8, a real number; `arms` is |S| at the beginning of the epoch."""
    e2 = float(epoch) * epoch
    gap = math.pow(2.0, -epoch)  # Delta_e
    statistics = 32.0 * math.log(8.0 * arms * e2 * params.horizon) / (gap * gap)
    privacy = noise_bound(params, 8.0, math.log(4.0 * arms * e2 * params.horizon), gap)
    return max(statistics, privacy) + 1.0


@kernel
def play(params, bandit, rng):
    """Play epochs of round-robin pulls, each with fresh means and fresh noise (Algorithm 3)."""
    active = np.arange(number_of_arms(bandit))  # S
    epoch = 0
    while active.size > 1 and playing(bandit):
        epoch += 1
        arms = active.size
        real_passes = passes_of_epoch(params, epoch, arms)
        # `while r < R_e: r += 1` ends at r = ceil(R_e); at most as many passes as rounds are left.
        r = math.ceil(min(real_passes, float(rounds_left(bandit))))
        sums = pull_each(bandit, active, r)
        e2 = float(epoch) * epoch
        h = math.sqrt(math.log(8.0 * arms * e2 * params.horizon) / (2.0 * real_passes))
        c = noise_bound(params, 1.0, math.log(4.0 * arms * e2 * params.horizon), real_passes)
        private_mean = np.empty(arms)
        for i in range(arms):
            private_mean[i] = sums[i] / r + noise(params, rng, 1.0 / r)
        largest = private_mean[argmax(private_mean)]
        kept, is_examined = 0, True
        for i in range(arms):
            if largest - private_mean[i] <= 2.0 * h + 2.0 * c or not is_examined:
                active[kept] = active[i]
                kept += 1
                is_examined = True
            else:
                is_examined = params.elimination == Elimination.AT_ONCE
        active = active[:kept]
    pull_many(bandit, active[0], rounds_left(bandit))


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and epoch, disjoint also where arms are eliminated."""
    for arm, first, last, n in epochs(params, arms, horizon):
        yield Laplace(arm, first, last, 1.0 / n, scale=1.0 / (n * params.epsilon))


def epochs(params: Any, arms: int, horizon: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield arm, first and last reward, and number of rewards of every mean."""
    epoch, last = 1, 0
    while (last + (n := math.ceil(passes_of_epoch(params, epoch, arms)))) * arms <= horizon:
        for arm in range(arms):
            yield arm, last + 1, last + n, n
        epoch, last = epoch + 1, last + n
