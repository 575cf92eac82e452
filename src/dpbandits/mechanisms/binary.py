"""Binary mechanism of Chan, Shi and Song (2010, Algorithm 2): sums over a known horizon.

Item number c completes a node of level i, where i is the number of trailing zeros of c; the node
replaces those of the lower levels. The released sum adds the nodes at the set bits of c, each with
its own noise. An item is in one node per level, so L levels at epsilon/L each compose to epsilon.
The variance of the sum is popcount(c) 2 (L/epsilon)^2.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, inlined
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace


class Binary(NamedTuple):
    """Binary counters. `insert` writes the arrays in place.

    `items` is int64 of shape (counters,); `nodes` and `released` are float64, shape (counters, L).
    """

    items: np.ndarray  # c of each counter
    nodes: np.ndarray  # [counter, i]: exact sum of the last node of level i
    released: np.ndarray  # [counter, i]: released sum of the first floor(c / 2^i) 2^i items
    height: float  # L, and hence the L1 sensitivity of all nodes together
    epsilon: float  # budget of each counter


@inlined
def levels(horizon):
    """Return L = floor(log2 horizon) + 1, the number of nodes that an item can be in."""
    count = 0
    while horizon >> count > 0:
        count += 1
    return count


@allocating
def binary_counters(counters, horizon, epsilon):
    """Return `counters` empty counters of up to `horizon` items, each with a budget of epsilon."""
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
    """Put item number c into the tree of counter `which`; return its released sum so far.

    `nodes` and `released` are float64 of shape (counters, levels) and written in place. The cost is
    O(1) amortised, as one item in 2^i reaches level i.
    """
    node = 0.0
    i = 0
    while c >> i & 1 == 0:
        node += nodes[which, i]
        i += 1
    node += item
    nodes[which, i] = node
    # The items before this node end at c - 2^i; their released sum is stored at level i.
    total = released[which, i] + (node + noise)
    for j in range(i + 1):
        released[which, j] = total
    return total


@insert.register(Binary)
def binary_insert(counters, rng, which, item):
    """Add an item and return the released sum; one draw per item, for the node it completes."""
    counters.items[which] += 1
    noise = laplace(rng, counters.height, counters.epsilon)
    c = counters.items[which]
    return complete_node(counters.nodes, counters.released, which, c, item, noise)


def binary_releases(arm: int, horizon: int, epsilon: float) -> Iterator[Laplace]:
    """Yield one release per level; its nodes hold disjoint items, so one item moves it by <= 1."""
    height = levels(horizon)
    for _ in range(height):
        yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=height / epsilon)
