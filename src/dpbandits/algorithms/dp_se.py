"""DP-SE (sajed2019): Algorithm 3, private successive elimination. ε-DP, Theorem 4.1."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull_each, pull_many, rounds_left
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Positive, Rounds
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, promise
from dpbandits.privacy.releases import Laplace

LABEL = "DP-SE"
claim = promise(Notion.GLOBAL, "sajed2019, Theorem 4.1")


class Params(NamedTuple):
    """Privacy budget, and horizon T, which sets the confidence β = 1/T (section 5)."""

    epsilon: Positive
    horizon: Rounds


@inlined
def passes_of_epoch(params, epoch, arms):
    """Return Rₑ of line 8, a real number; `arms` is |S| at the beginning of the epoch."""
    e2 = float(epoch) * epoch
    gap = math.pow(2.0, -epoch)  # Delta_e
    statistics = 32.0 * math.log(8.0 * arms * e2 * params.horizon) / (gap * gap)
    privacy = 8.0 * math.log(4.0 * arms * e2 * params.horizon) / (params.epsilon * gap)
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
        c = math.log(4.0 * arms * e2 * params.horizon) / (real_passes * params.epsilon)
        private_mean = np.empty(arms)
        for i in range(arms):
            private_mean[i] = sums[i] / r + laplace(rng, 1.0 / r, params.epsilon)
        largest = private_mean[argmax(private_mean)]
        kept = 0
        for i in range(arms):
            if largest - private_mean[i] <= 2.0 * h + 2.0 * c:
                active[kept] = active[i]
                kept += 1
        active = active[:kept]
    pull_many(bandit, active[0], rounds_left(bandit))


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and epoch, disjoint also where arms are eliminated."""
    epoch, last = 1, 0
    while (last + (n := math.ceil(passes_of_epoch(params, epoch, arms)))) * arms <= horizon:
        for arm in range(arms):
            yield Laplace(arm, last + 1, last + n, 1.0 / n, scale=1.0 / (n * params.epsilon))
        epoch, last = epoch + 1, last + n
