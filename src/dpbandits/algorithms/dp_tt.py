"""DP-TT (jourdan2025, poster): Algorithm 1 with η = 1 and β = 1/2. ε-global DP.

An arm gets a new mean when its pulls have doubled. All its rewards count (no forgetting): the sum
of each phase is released with noise once and added to a cumulative sum. Costs are made of

    d_ε(p, q) = inf {ε |z - p| + kl(z, q): z between p and q}.

The poster gives its threshold only up to "about", so that both of ours are choices.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from dpbandits.algorithms._top_two import (
    cost,
    doubles,
    doubling,
    exploration,
    new_mean,
    play,
    threshold,
)
from dpbandits.kernel.compilation import inlined
from dpbandits.kernel.kl import bernoulli_kl
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

__all__ = ["KIND", "LABEL", "Params", "guarantee", "play", "releases"]

KIND = "identification"
LABEL = "DP-TT"
guarantee = guaranteed(Notion.GLOBAL, "jourdan2025 (poster), privacy analysis")


class Threshold(IntEnum):
    """Variant: when a run stops."""

    SINGLE_LOG = 0  # ln((1 + ln n)/δ) in round n
    DOUBLE = 1  # 2 ln(1/δ) + ln(1 + ln N~_a) + ln(1 + ln N~_b)


class Params(NamedTuple):
    """Privacy budget, chance of a wrong answer δ, and the variant of the threshold."""

    epsilon: Positive
    risk: Fraction
    threshold: Threshold = Threshold.SINGLE_LOG


@inlined
def lifted(mean, shrink):
    """Return g^+(p), the mean with e^ε times the odds of p; `shrink` is e^-ε."""
    return mean / (mean + (1.0 - mean) * shrink)


@inlined
def _left_root(mean, n, other, m, c):
    # Where the derivative vanishes, if d^- is linear and d^+ is kl: the positive root of
    # (n + m) x² + (m (c - p) - n) x - m p c with p = `other` and c = 1/(e^ε - 1).
    b, product = m * (c - other) - n, m * other * c
    root = math.sqrt(b * b + 4.0 * (n + m) * product)
    return 2.0 * product / (b + root) if b > 0.0 else (root - b) / (2.0 * (n + m))


@inlined
def meeting_point(mean, n, other, m, epsilon):
    """Return x that minimises n d^-_ε(mean, x) + m d^+_ε(other, x), for mean > other.

    d^- is kl down to g^-(mean), d^+ is kl up to g^+(other); beyond, their derivatives are
    -1/(c + x) and 1/(1 + c - x) with c = 1/(e^ε - 1). The sum is convex, so the root of the
    derivative that lies where it is valid is the minimum.
    """
    shrink = math.exp(-epsilon)
    down, up = 1.0 - lifted(1.0 - mean, shrink), lifted(other, shrink)
    x = (n * mean + m * other) / (n + m)  # both kl
    if down <= x <= up:
        return x
    c = shrink / -math.expm1(-epsilon)
    x = (n * (1.0 + c) - m * c) / (n + m)  # both linear
    # Clipped means: no point is beyond 0 or 1, and no kl is left beside them.
    if up < x < down or (other == 0.0 and x <= 0.0) or (mean == 1.0 and x >= 1.0):
        return x
    x = _left_root(mean, n, other, m, c)
    if other > 0.0 and x <= min(down, up):
        return x
    return 1.0 - _left_root(1.0 - other, m, 1.0 - mean, n, c)


@inlined
def upper_divergence(mean, x, epsilon):
    """Return d^+_ε(mean, x) for x in [mean, 1]."""
    if x <= lifted(mean, math.exp(-epsilon)):
        return bernoulli_kl(mean, x)
    return -math.log1p(x * math.expm1(-epsilon)) - epsilon * mean


@inlined
def private_cost(mean, other, n, m, epsilon):
    """Return C_ε = min over x of n d^-_ε(mean, x) + m d^+_ε(other, x); 0 unless mean > other."""
    if mean <= other:
        return 0.0
    x = min(max(meeting_point(mean, n, other, m, epsilon), other), mean)
    lower = upper_divergence(1.0 - mean, 1.0 - x, epsilon)  # d^-(p, x) = d^+(1 - p, 1 - x)
    return n * lower + m * upper_divergence(other, x, epsilon)


@inlined
def threshold_of(params, arms, fixed, gap, n, m, rounds):
    """Return the threshold for arms of n and m rewards in a round."""
    if params.threshold == Threshold.SINGLE_LOG:
        return math.log((1.0 + math.log(rounds)) / params.risk)
    logs = math.log(1.0 + math.log(n)) + math.log(1.0 + math.log(m))
    return logs - 2.0 * math.log(params.risk)


@inlined
def log_pulls(params, n):
    """Return log N_a, which line 13 adds to the cost."""
    return math.log(n)


doubles.register(Params)(lambda params: True)
exploration.register(Params)(log_pulls)
threshold.register(Params)(threshold_of)


@new_mean.register(Params)
def _(params, rng, sums, used, arm, total, n):
    # Line 7; lines 9, 10 and 13 clip the mean.
    sums[arm] += total + laplace(rng, 1.0, params.epsilon)
    used[arm] += n
    return min(max(0.0, sums[arm] / used[arm]), 1.0)


@cost.register(Params)
def _(params, mean, other, n, m):
    return private_cost(mean, other, n, m, params.epsilon)


def releases(params: Params, arms: int, limit: int) -> Iterator[Laplace]:
    """Yield one private sum per arm and phase; the phases of an arm are disjoint."""
    for arm, first, last in doubling(arms, limit):
        yield Laplace(arm, first, last, sensitivity=1.0, scale=1.0 / params.epsilon)
