"""DP-KLUCB (azize2025), from slides: an index of the divergence d_ε. ε-global DP.

The arm of largest index is played until its pulls are α times what they were. All its rewards count
(no forgetting): the sum of each batch is released with noise once and added to a cumulative sum.
DP-IMED has another body of `index`. Both indices are made of

    d_ε(x, y) = inf {ε |z - x| + kl(z, y): z between x and y} ≤ min{kl(x, y), ε |x - y|}.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.adap_ucb import Ties, largest
from dpbandits.kernel.bandit import number_of_arms, playing, pull_many, rounds_played
from dpbandits.kernel.compilation import by_class, inlined, kernel
from dpbandits.kernel.kl import bernoulli_kl, bernoulli_kl_upper
from dpbandits.kernel.parameters import Constraint, Count, Positive
from dpbandits.kernel.randomness import AddedLater
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "DP-KLUCB"
guarantee = guaranteed(Notion.GLOBAL, "azize2025, theorem on DP-KLUCB (slides)")
Ratio = Annotated[float, Constraint(lambda x: 1 < x < math.inf, "above 1 and finite")]


class Rounding(IntEnum):
    """Variant: whole number of pulls that α N stands for; a batch has one pull at least."""

    CEIL = 0
    FLOOR = 1


class LogT(IntEnum):
    """Variant: t_l of the index, before the batch l."""

    NEXT = 0  # the first round of the batch
    PLAYED = 1  # the number of rounds played


class Allowance(IntEnum):
    """Ingredient: how the index allows for the noise."""

    DIVERGENCE = 0  # by d_ε, as on the slides
    BONUS = 1  # by index (8) of AdaP-KLUCB


class Params(NamedTuple):
    """Privacy budget, α of the batches, the variants of the slides, and three ingredients.

    The ingredients are those of AdaP-KLUCB. With `ratio=2`, `alpha=3.1`, `forgetting=true` and
    `allowance=bonus` this is AdaP-KLUCB.
    """

    epsilon: Positive
    ratio: Ratio = 1.5
    rounding: Rounding = Rounding.CEIL
    first_batch: Count = 1
    log_t: LogT = LogT.NEXT
    ties: Ties = Ties.FIRST
    alpha: Annotated[Positive, AddedLater(1.0)] = 1.0
    forgetting: Annotated[bool, AddedLater(False)] = False
    allowance: Annotated[Allowance, AddedLater(Allowance.DIVERGENCE)] = Allowance.DIVERGENCE


@inlined
def pulls_after(pulls, ratio, rounding):
    """Return N_a at the end of the next batch, α N_a as a whole number, an int."""
    product = min(ratio * pulls, 2.0**53)  # no horizon is longer
    whole = math.floor(product + 0.5)
    if abs(product - whole) > 1e-12 * product:  # 1.1 * 10 is 11 up to rounding
        whole = math.ceil(product) if rounding == Rounding.CEIL else math.floor(product)
    return max(whole, pulls + 1)


@inlined
def private_divergence(x, y, epsilon):
    """Return d_ε(x, y) in nats for x and y in [0, 1]; for x > y both are reflected.

    The infimum is at the mean z with e^-ε times the odds of y, or at x if z is beyond x.
    """
    low, high = (x, y) if x <= y else (1.0 - x, 1.0 - y)
    scaled = high * math.exp(-epsilon)
    z = max(low, scaled / (scaled + (1.0 - high)) if high < 1.0 else 1.0)
    return bernoulli_kl(z, high) + epsilon * (z - low)


@kernel
def private_divergence_upper(x, level, epsilon):
    """Return max {y in [0, 1]: d_ε(x, y) ≤ level}, for x in [0, 1] and level ≥ 0.

    Up to the mean with e^ε times the odds of x, d_ε is kl, which is inverted to 1e-12. Beyond it,
    d_ε is -log(1 - y (1 - e^-ε)) - ε x.
    """
    if x >= 1.0 or level >= epsilon * (1.0 - x):  # d_ε(x, 1) = ε (1 - x)
        return 1.0
    shrink = math.exp(-epsilon)
    free = x / (x + (1.0 - x) * shrink) if x > 0.0 else 0.0
    if level <= bernoulli_kl(x, free):
        return bernoulli_kl_upper(x, level)
    return min(1.0, math.expm1(-level - epsilon * x) / math.expm1(-epsilon))


@by_class
def index(params, mean, best, n, t):
    """Return max {μ in [0, 1]: d_ε(clip_[0,1](μ~), μ) ≤ α log t_l / n}, α = 1 on the slides.

    `mean` is the private mean of n rewards and `best` the largest one, clipped; `t` is the rounds
    played. With the bonus it is index (8) of azize2022.
    """
    t_l = t + 1 if params.log_t == LogT.NEXT else t
    level = params.alpha * math.log(t_l) / n
    if params.allowance == Allowance.BONUS:
        raised = mean + level / params.epsilon
        return bernoulli_kl_upper(min(max(0.0, raised), 1.0), level)
    return private_divergence_upper(min(max(0.0, mean), 1.0), level, params.epsilon)


@by_class
def earlier(params):
    """Return the weight of earlier batches in an index: 1, or 0 if it forgets them."""
    return 0 if params.forgetting else 1


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index until its pulls are α times what they were."""
    arms = number_of_arms(bandit)
    pulls = np.full(arms, params.first_batch)  # N_a
    kept = pulls.copy()  # rewards in the private sum: N_a without forgetting
    private_sum, mean = np.empty(arms), np.empty(arms)  # S_a
    indices = np.empty(arms)
    for arm in range(arms):
        private_sum[arm] = pull_many(bandit, arm, pulls[arm]) + laplace(rng, 1.0, params.epsilon)
        mean[arm] = private_sum[arm] / pulls[arm]
    while playing(bandit):
        t, best = rounds_played(bandit), min(max(0.0, mean[argmax(mean)]), 1.0)
        for arm in range(arms):
            indices[arm] = index(params, mean[arm], best, kept[arm], t)
        chosen = largest(indices, params.ties, rng)
        batch = pulls_after(pulls[chosen], params.ratio, params.rounding) - pulls[chosen]
        total = pull_many(bandit, chosen, batch) + laplace(rng, 1.0, params.epsilon)
        private_sum[chosen] = earlier(params) * private_sum[chosen] + total
        pulls[chosen] += batch
        kept[chosen] = earlier(params) * kept[chosen] + batch
        mean[chosen] = private_sum[chosen] / kept[chosen]


def releases(params: Any, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private sum per arm and batch; the batches of an arm are disjoint."""
    for arm in range(arms):
        before, after = 0, params.first_batch
        while after <= horizon:
            yield Laplace(arm, before + 1, after, sensitivity=1.0, scale=1.0 / params.epsilon)
            before, after = after, pulls_after(after, params.ratio, params.rounding)
