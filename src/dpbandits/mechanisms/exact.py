"""Exact sums, for policies without privacy that are played like private ones."""

from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.leader_runs import insert_block, tree_items, tree_room

UNLIMITED = np.iinfo(np.int64).max


class Exact(NamedTuple):
    """Sums without noise. `insert` writes the arrays in place."""

    items: np.ndarray  # int64, shape (counters,): c
    sums: np.ndarray  # float64, shape (counters,)


@allocating
def exact_sums(counters):
    """Return `counters` empty sums."""
    return Exact(np.zeros(counters, np.int64), np.zeros(counters))


@insert.register(Exact)
def exact_insert(counters, rng, which, item):
    """Add an item and return the sum."""
    counters.items[which] += 1
    counters.sums[which] += item
    return counters.sums[which]


@tree_room.register(Exact)
def exact_tree_room(counters, which):
    return UNLIMITED


@tree_items.register(Exact)
def exact_tree_items(counters, which):
    return counters.items[which]


@insert_block.register(Exact)
def exact_insert_block(counters, which, level, total, noise):
    counters.items[which] += 1 << level
    counters.sums[which] += total
    return counters.sums[which]
