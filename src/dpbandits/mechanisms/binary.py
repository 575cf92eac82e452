"""The binary mechanism of Chan, Shi and Song (2010, Algorithm 2): sums over a known horizon.

Item number c completes a node of level i, the number of trailing zeros of c, which replaces the
nodes of the levels below. The released sum is that of the nodes at the set bits of c, each of them
with one noise of its own. An item is in one node a level, so that L levels at epsilon/L each
compose to epsilon; the variance of the sum is popcount(c) 2 (L/epsilon)^2.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import inlined
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace


class Binary(NamedTuple):
    """Binary counters. The arrays are written in place by `insert`."""

    items: np.ndarray  # c of each counter, int64
    nodes: np.ndarray  # [counter, i]: the exact sum of the last node of level i
    released: np.ndarray  # [counter, i]: the released sum of the first floor(c / 2^i) 2^i items
    height: float  # L, and so how far an item moves all nodes together
    epsilon: float


@inlined
def levels(horizon):
    """L = floor(log2 horizon) + 1, the nodes that an item can be in."""
    count = 0
    while horizon >> count > 0:
        count += 1
    return count


@inlined
def binary_counters(counters, horizon, epsilon):
    """Counters of up to `horizon` items, each with a budget of epsilon."""
    height = levels(horizon)
    return Binary(
        np.zeros(counters, np.int64),
        np.zeros((counters, height)),
        np.zeros((counters, height)),
        float(height),
        epsilon,
    )


@inlined
def complete_node(nodes, released, which, c, item, noise):
    """Put item number c into a tree; returns the released sum of its items so far.

    O(1) amortised: level i is reached by one item in 2^i.
    """
    node = 0.0
    i = 0
    while c >> i & 1 == 0:
        node += nodes[which, i]
        i += 1
    node += item
    nodes[which, i] = node
    # The items before this node end at c - 2^i: their release is at hand.
    total = released[which, i] + (node + noise)
    for j in range(i + 1):
        released[which, j] = total
    return total


@insert.register(Binary)
def binary_insert(counters, rng, which, item):
    """One draw an item, for the node that it completes."""
    counters.items[which] += 1
    noise = laplace(rng, counters.height, counters.epsilon)
    c = counters.items[which]
    return complete_node(counters.nodes, counters.released, which, c, item, noise)


def binary_releases(arm: int, horizon: int, epsilon: float) -> Iterator[Laplace]:
    """A release per level: its nodes hold disjoint items, one item moves one node by 1 at most."""
    height = levels(horizon)
    for _ in range(height):
        yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=height / epsilon)
