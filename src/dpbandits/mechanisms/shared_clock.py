"""Noise of counters that all get an item in every round.

Such counters release, after c rounds, the exact sums of their items plus noise of one and the same
structure. So only the noise is kept here, for all counters at once, and the caller adds the sums.
The law of the noise is that of `hybrid_insert` or of `single_insert`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, inlined
from dpbandits.core.lane_rows import get, put, zero_rows
from dpbandits.mechanisms.binary import levels
from dpbandits.mechanisms.laplace_buffer import noise_at, noise_source, take


class SharedClock(NamedTuple):
    """Noise of all counters, in rows (core/lane_rows.py). `advance` writes the arrays in place."""

    counters: int
    clock: np.ndarray  # int64, shape (2,): rounds c, and k, where 2^k was the last power of two
    running: Any  # rows: noise of the logarithmic part
    # Rows j counters to (j + 1) counters - 1: noise of the released sums at the last multiple of
    # 2^j since the last power of two. The first `counters` rows are the noise of the current sums.
    noise: Any
    draws: Any  # source of Laplace noise
    log_epsilon: float  # budget of the logarithmic part
    tree_epsilon: float  # budget of the trees; 0 for counters with one fresh draw per release


@allocating
def shared_clock(counters, horizon, log_epsilon, tree_epsilon, rng):
    """Return the noise of `counters` counters, for at most `horizon` rounds."""
    return SharedClock(
        counters,
        np.zeros(2, np.int64),
        zero_rows(rng, counters),
        zero_rows(rng, (levels(horizon) + 1) * counters),
        noise_source(rng, counters),
        log_epsilon,
        tree_epsilon,
    )


@inlined
def advance(shared):
    """Count one more item of every counter and renew the noise of the released sums."""
    counters, noise, draws = shared.counters, shared.noise, shared.draws
    first = take(draws, counters)
    shared.clock[0] += 1
    c = shared.clock[0]
    if shared.tree_epsilon == 0.0:
        scale = (1.0 if c & (c - 1) == 0 else math.log(c)) / shared.log_epsilon
        for i in range(counters):
            put(noise, i, noise_at(draws, first + i) * scale)
        return
    if c & (c - 1) == 0:
        if c > 1:
            shared.clock[1] += 1
        for i in range(counters):
            more = noise_at(draws, first + i) / shared.log_epsilon
            put(shared.running, i, get(shared.running, i) + more)
        for level in range(shared.clock[1] + 1):
            for i in range(counters):
                put(noise, level * counters + i, get(shared.running, i))
        return
    level = 0
    while c >> level & 1 == 0:
        level += 1
    scale = shared.clock[1] / shared.tree_epsilon
    for i in range(counters):
        put(noise, i, get(noise, level * counters + i) + noise_at(draws, first + i) * scale)
    for above in range(1, level + 1):
        for i in range(counters):
            put(noise, above * counters + i, get(noise, i))
