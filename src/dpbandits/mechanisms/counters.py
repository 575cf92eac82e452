"""Continual sums: after every item, a counter releases the private sum of all its items so far.

An algorithm keeps one counter per arm. One NamedTuple of arrays, which `insert` writes in place,
holds all its counters; its class selects the mechanism. An item is in [0, 1], so a sum has
sensitivity 1.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.kernel.compilation import allocating, by_class, inlined
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace


@by_class
def insert(counters, rng, which, item):
    """Add an item to counter number `which` and return its released sum, that item included.

    Takes one draw, and time O(1), amortised.
    """
    raise NotImplementedError("these counters registered no body for `insert`")


class Binary(NamedTuple):
    """Binary mechanism of Chan, Shi and Song (2010, Algorithm 2).

    Item number c completes a node of level i, where i is the number of trailing zeros of c; the
    node replaces those of the lower levels. The released sum adds the nodes at the set bits of c,
    each with its own noise. An item is in one node per level, so L levels at epsilon/L each compose
    to epsilon. The variance of the sum is popcount(c) 2 (L/epsilon)^2.
    """

    items: np.ndarray  # int64, shape (counters,): c
    nodes: np.ndarray  # float64, [counter, i]: exact sum of the last node of level i
    released: np.ndarray  # float64, [counter, i]: released sum of the items up to that node
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
def binary_counters(counters, horizon, height, epsilon):
    """Return `counters` empty counters of up to `horizon` items.

    Each has a budget of epsilon if `height`, a float, is the number of its levels.
    """
    items, nodes = np.zeros(counters, np.int64), np.zeros((counters, levels(horizon)))
    return Binary(items, nodes, np.zeros((counters, levels(horizon))), height, epsilon)


@inlined
def complete_node(nodes, released, which, c, item, noise):
    """Put item number c into the tree of counter `which`; return its released sum so far.

    `nodes` and `released` are float64 of shape (counters, levels) and written in place. One item in
    2^i reaches level i.
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
    counters.items[which] += 1
    noise = laplace(rng, counters.height, counters.epsilon)
    c = counters.items[which]
    return complete_node(counters.nodes, counters.released, which, c, item, noise)


class Hybrid(NamedTuple):
    """Hybrid mechanism of Chan, Shi and Song (2010).

    At item number c = 2^k the logarithmic mechanism releases a sum: a new Lap(1/eps_log) is added
    to those of the earlier powers, k + 1 draws in total. Item 2^k + r, 0 < r < 2^k, goes to a
    binary tree of k levels with noise Lap(k/eps_tree) per node; the tree is emptied at every power.
    The variance of the released sum is 2 (k + 1)/eps_log^2 + 2 popcount(r) (k/eps_tree)^2. An item
    is in both parts, so the budgets add up.
    """

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
    items, power = np.zeros(counters, np.int64), np.zeros(counters, np.int64)
    running, at_power = np.zeros(counters), np.zeros(counters)
    height = levels(horizon)
    nodes, released = np.zeros((counters, height)), np.zeros((counters, height))
    return Hybrid(items, power, running, at_power, nodes, released, log_epsilon, tree_epsilon)


@insert.register(Hybrid)
def hybrid_insert(counters, rng, which, item):
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


class Single(NamedTuple):
    """Section 2.3 of tossou2016 read literally: one fresh draw per release.

    Not private: every release reads all items, so the budgets of all releases add up. The released
    sum of c items has noise Lap(1/epsilon) if c is a power of two, and Lap(log c/epsilon)
    otherwise: "only a logarithmic amount of noise added for any given sum".
    """

    items: np.ndarray  # int64, shape (counters,): c
    sums: np.ndarray  # float64, shape (counters,): exact sums of the items
    epsilon: float


@allocating
def single_counters(counters, epsilon):
    """Return `counters` empty counters, each for any number of items."""
    return Single(np.zeros(counters, np.int64), np.zeros(counters), epsilon)


@insert.register(Single)
def single_insert(counters, rng, which, item):
    counters.items[which] += 1
    c = counters.items[which]
    counters.sums[which] += item
    epsilon = counters.epsilon if c & (c - 1) == 0 else counters.epsilon / math.log(c)
    return counters.sums[which] + laplace(rng, 1.0, epsilon)


def single_releases(arm: int, horizon: int, epsilon: float) -> Iterator[Laplace]:
    """Yield the releases of all items; those between two powers of two are declared as one.

    s_c + Lap(log c/epsilon) divided by log c is s_c/log c + Lap(1/epsilon), and one item moves each
    of these statistics by 1/log c. The sum of 1/log c is taken term by term up to 4096, beyond that
    by Euler and Maclaurin, whose next term is below 1e-12.
    """
    power = 1
    while power <= horizon:
        yield Laplace(arm, 1, power, sensitivity=1.0, scale=1.0 / epsilon)
        first, last = power + 1, min(2 * power - 1, horizon)
        power *= 2
        if first > last:
            continue
        if last <= 4096:
            moved = math.fsum(1.0 / math.log(c) for c in range(first, last + 1))
        else:
            from scipy.special import expi  # imported late: it takes long, and no game needs it

            a, b = math.log(first), math.log(last)
            slopes = 1.0 / (first * a * a) - 1.0 / (last * b * b)
            moved = float(expi(b) - expi(a)) + (1.0 / a + 1.0 / b) / 2.0 + slopes / 12.0
        yield Laplace(arm, 1, last, sensitivity=moved, scale=1.0 / epsilon)
