"""Sums of items that are each made private on their own (local DP).

The randomness of single items comes from the policy's generator, that of blocks from lanes that the
first block seeds.
"""

from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, by_class
from dpbandits.core.vector_constants import LANES
from dpbandits.core.vectors import seed_lanes
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.exact import Exact, exact_sums
from dpbandits.mechanisms.leader_runs import (
    BUFFER,
    insert_block,
    read_block,
    tree_items,
    tree_room,
)


@by_class
def privatised(params, rng, item):
    """Return the private version of an item in [0, 1], all that a sum gets of it."""
    raise NotImplementedError("these Params registered no mechanism")


@by_class
def refill(params, lanes, drawn):
    """Fill an array with the random numbers that `privatise` needs, one per item."""
    raise NotImplementedError("these Params registered no mechanism for blocks")


@by_class
def privatise(params, drawn, first, items, n):
    """Replace items[:n] by their private versions, with the numbers drawn[first : first + n]."""
    raise NotImplementedError("these Params registered no mechanism for blocks")


class LocalSums(NamedTuple):
    """Sums of private items. `insert`, `read_block` and `insert_block` write in place."""

    params: Any  # select the mechanism
    sums: Exact
    drawn: np.ndarray  # float64, shape (BUFFER,): random numbers for blocks
    used: np.ndarray  # int64, shape (1,): how many of them are used; -1: no lane is seeded yet
    lanes: np.ndarray  # uint64, shape (4, 8): generators


@allocating
def local_sums(params, counters):
    """Return `counters` empty sums, whose items the mechanism of `params` makes private."""
    return LocalSums(
        params,
        exact_sums(counters),
        np.empty(BUFFER),
        np.full(1, -1),
        np.empty((4, LANES), np.uint64),
    )


@insert.register(LocalSums)
def local_insert(counters, rng, which, item):
    """Make an item private, add it and return the sum."""
    return insert(counters.sums, rng, which, privatised(counters.params, rng, item))


@read_block.register(LocalSums)
def local_read_block(counters, rng, items, n):
    if counters.used[0] < 0:
        seed_lanes(rng, counters.lanes)
        counters.used[0] = BUFFER
    if counters.used[0] + n > BUFFER:
        refill(counters.params, counters.lanes, counters.drawn)
        counters.used[0] = 0
    privatise(counters.params, counters.drawn, counters.used[0], items, n)
    counters.used[0] += n


@tree_room.register(LocalSums)
def local_tree_room(counters, which):
    return tree_room(counters.sums, which)


@tree_items.register(LocalSums)
def local_tree_items(counters, which):
    return tree_items(counters.sums, which)


@insert_block.register(LocalSums)
def local_insert_block(counters, which, level, total, noise):
    return insert_block(counters.sums, which, level, total, noise)
