"""Hybrid mechanism of Chan, Shi and Song (2010): sums without a known horizon.

At item number c = 2^k the logarithmic mechanism releases a sum: a new Lap(1/eps_log) is added to
those of the earlier powers, k + 1 draws in total. Item 2^k + r, 0 < r < 2^k, goes to a binary tree
of k levels with noise Lap(k/eps_tree) per node; the tree is emptied at every power. The variance of
the released sum is 2 (k + 1)/eps_log^2 + 2 popcount(r) (k/eps_tree)^2. An item is in both parts, so
the budgets add up.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating
from dpbandits.mechanisms.binary import complete_node, levels
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace


class Hybrid(NamedTuple):
    """Hybrid counters. `insert` writes the arrays in place."""

    items: np.ndarray  # int64, shape (counters,): c
    power: np.ndarray  # int64, shape (counters,): k, where 2^k was the last power of two
    running: np.ndarray  # float64, shape (counters,): sum of all items and the logarithmic noise
    at_power: np.ndarray  # float64, shape (counters,): sum released at the last power of two
    nodes: np.ndarray  # float64, shape (counters, levels): exact sums of the current tree
    released: np.ndarray  # float64, shape (counters, levels): released sums of the current tree
    log_epsilon: float  # budget of the logarithmic part
    tree_epsilon: float  # budget of the trees


@allocating
def hybrid_counters(counters, horizon, log_epsilon, tree_epsilon):
    """Return `counters` empty counters with room for `horizon` items; this changes no sum."""
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
    """Add an item and return the released sum; O(1) amortised, one draw per item."""
    counters.items[which] += 1
    c = counters.items[which]
    counters.running[which] += item
    at_power = c & (c - 1) == 0
    k = counters.power[which]
    # An item moves one node on each of the k levels, together by at most k.
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
    """Yield the disjoint sums between powers of two as one release, then each level of each tree.

    A tree yields its levels only if it gets an item within `horizon` items.
    """
    yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=1.0 / log_epsilon)
    for k in range(1, levels(horizon)):
        first, last = 2**k + 1, min(2 ** (k + 1) - 1, horizon)
        for _ in range(k if first <= last else 0):
            yield Laplace(arm, first, last, sensitivity=1.0, scale=k / tree_epsilon)
