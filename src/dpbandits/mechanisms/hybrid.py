"""The hybrid mechanism of Chan, Shi and Song (2010): sums without a horizon.

At item number c = 2^k the logarithmic mechanism releases: one new Lap(1/eps_log) joins those of the
powers before, k + 1 draws in all. Item 2^k + r, 0 < r < 2^k, goes to a binary tree of k levels with
noise Lap(k/eps_tree) a node, emptied at every power. The variance of the released sum is
2 (k + 1)/eps_log^2 + 2 popcount(r) (k/eps_tree)^2. An item is in both parts: the budgets add up.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import inlined
from dpbandits.mechanisms.binary import complete_node, levels
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace


class Hybrid(NamedTuple):
    """Hybrid counters. The arrays are written in place by `insert`."""

    items: np.ndarray  # c of each counter, int64
    power: np.ndarray  # k: the last power of two was 2^k, int64
    running: np.ndarray  # the logarithmic part, noise included, and the items since
    at_power: np.ndarray  # what was released at the last power of two
    nodes: np.ndarray  # [counter, level]: of the tree since
    released: np.ndarray  # [counter, level]: of the tree since
    log_epsilon: float
    tree_epsilon: float


@inlined
def hybrid_counters(counters, horizon, log_epsilon, tree_epsilon):
    """Counters; `horizon` is how many items there is room for, and moves no number."""
    height = levels(horizon)
    return Hybrid(
        np.zeros(counters, np.int64),
        np.zeros(counters, np.int64),
        np.zeros(counters),
        np.zeros(counters),
        np.zeros((counters, height)),
        np.zeros((counters, height)),
        log_epsilon,
        tree_epsilon,
    )


@insert.register(Hybrid)
def hybrid_insert(counters, rng, which, item):
    """O(1) amortised, one draw an item."""
    counters.items[which] += 1
    c = counters.items[which]
    counters.running[which] += item
    at_power = c & (c - 1) == 0
    k = counters.power[which]
    # An item moves a node of each of the k levels, all of them together by k.
    sensitivity = 1.0 if at_power else float(k)
    noise = laplace(rng, sensitivity, counters.log_epsilon if at_power else counters.tree_epsilon)
    if at_power:
        counters.running[which] += noise
        counters.at_power[which] = counters.running[which]
        if c > 1:
            counters.power[which] = k + 1
        for j in range(k + 1):
            counters.released[which, j] = 0.0
        return counters.at_power[which]
    r = c - (1 << k)
    tree = complete_node(counters.nodes, counters.released, which, r, item, noise)
    return counters.at_power[which] + tree


def hybrid_releases(
    arm: int, horizon: int, log_epsilon: float, tree_epsilon: float
) -> Iterator[Laplace]:
    """The sums between powers of two, disjoint, and the levels of every tree."""
    yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=1.0 / log_epsilon)
    for k in range(1, levels(horizon)):
        first, last = 2**k + 1, min(2 ** (k + 1) - 1, horizon)
        for _ in range(k if first <= last else 0):
            yield Laplace(arm, first, last, sensitivity=1.0, scale=k / tree_epsilon)
