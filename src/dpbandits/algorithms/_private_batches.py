"""azize2025: batches of geometric growth make any index policy ε-global DP. From slides.

The arm of largest index is played until its pulls are α times what they were. All its rewards count
(no forgetting): the sum of a batch is released with noise once and added to a cumulative sum. The
batches of an arm are disjoint, so every reward is in one release.

An algorithm registers a body of `index` for its Params, which must have the fields `epsilon`,
`ratio`, `rounding`, `first_batch` and `ties`.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, Any

import numpy as np

from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.algorithms._argmax import argmax, random_argmax
from dpbandits.core.bandit import number_of_arms, playing, pull_many, rounds_played
from dpbandits.core.kernel import by_class, inlined, kernel
from dpbandits.core.parameters import Constraint
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace

Ratio = Annotated[float, Constraint(lambda x: 1 < x < math.inf, "above 1 and finite")]


class Rounding(IntEnum):
    """Reading: whole number of pulls that α N stands for; a batch has one pull at least."""

    CEIL = 0
    FLOOR = 1


@inlined
def pulls_after(pulls, ratio, rounding):
    """Return N_a at the end of the next batch, α N_a as a whole number, an int."""
    product = min(ratio * pulls, 2.0**53)  # no horizon is longer
    nearest = math.floor(product + 0.5)
    if abs(product - nearest) <= 1e-12 * product:  # 1.1 * 10 is 11 up to rounding
        whole = nearest
    elif rounding == Rounding.CEIL:
        whole = math.ceil(product)
    else:
        whole = math.floor(product)
    return max(whole, pulls + 1)


@by_class
def index(params, mean, best, n, t):
    """Return the index of an arm; the largest one is played.

    `mean` and `best`: its private mean and the largest of all, both clipped to [0, 1]; `n`: N_a;
    `t`: rounds played.
    """
    raise NotImplementedError("these Params registered no index")


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index until its pulls are α times what they were."""
    arms = number_of_arms(bandit)
    pulls = np.zeros(arms, np.int64)  # N_a
    private_sum = np.zeros(arms)  # S_a
    mean = np.empty(arms)
    indices = np.empty(arms)
    for arm in range(arms):
        pulls[arm] = params.first_batch
        private_sum[arm] = pull_many(bandit, arm, pulls[arm]) + laplace(rng, 1.0, params.epsilon)
        mean[arm] = min(max(0.0, private_sum[arm] / pulls[arm]), 1.0)
    while playing(bandit):
        t, best = rounds_played(bandit), mean[argmax(mean)]
        for arm in range(arms):
            indices[arm] = index(params, mean[arm], best, pulls[arm], t)
        if params.ties == Ties.RANDOM:
            chosen = random_argmax(indices, rng)
        else:
            chosen = argmax(indices)
        batch = pulls_after(pulls[chosen], params.ratio, params.rounding) - pulls[chosen]
        total = pull_many(bandit, chosen, batch) + laplace(rng, 1.0, params.epsilon)
        private_sum[chosen] += total
        pulls[chosen] += batch
        mean[chosen] = min(max(0.0, private_sum[chosen] / pulls[chosen]), 1.0)


def releases(params: Any, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private sum per arm and batch; the batches of an arm are disjoint."""
    for arm in range(arms):
        before, after = 0, params.first_batch
        while after <= horizon:
            yield Laplace(arm, before + 1, after, sensitivity=1.0, scale=1.0 / params.epsilon)
            before, after = after, pulls_after(after, params.ratio, params.rounding)


def claim(params: Any, arms: int, horizon: int) -> Guarantee:
    """Return the promise of the slides: every reward is in the sum of one batch."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "azize2025, theorem on DP-KLUCB (slides)")
