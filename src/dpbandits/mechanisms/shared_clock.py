"""Noise of hybrid counters that all get an item in every round.

Such counters release, after c rounds, the exact sums of their items plus noise of one and the same
structure (hybrid.py). So only the noise is kept here, for all counters at once, and the caller adds
the sums. The law of the noise is that of `hybrid_insert`.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, inlined
from dpbandits.mechanisms.binary import levels
from dpbandits.mechanisms.laplace_buffer import LaplaceBuffer, laplace_buffer, take


class SharedClock(NamedTuple):
    """Noise of all counters. `advance` writes the arrays in place."""

    clock: np.ndarray  # int64, shape (2,): rounds c, and k, where 2^k was the last power of two
    running: np.ndarray  # float64, shape (counters,): noise of the logarithmic part
    # float64, shape (levels + 1, counters): [j]: noise of the released sums at the last multiple
    # of 2^j since the last power of two. Row 0 is the noise of the current sums.
    noise: np.ndarray
    draws: LaplaceBuffer
    log_epsilon: float  # budget of the logarithmic part
    tree_epsilon: float  # budget of the trees


@allocating
def shared_clock(counters, horizon, log_epsilon, tree_epsilon, rng):
    """Return the noise of `counters` counters, for at most `horizon` rounds."""
    return SharedClock(
        np.zeros(2, np.int64),
        np.zeros(counters),
        np.zeros((levels(horizon) + 1, counters)),
        laplace_buffer(counters, rng),
        log_epsilon,
        tree_epsilon,
    )


@inlined
def advance(shared):
    """Count one more item of every counter and renew the noise of the released sums."""
    counters = shared.running.size
    first, drawn = take(shared.draws, counters), shared.draws.drawn
    shared.clock[0] += 1
    c = shared.clock[0]
    if c & (c - 1) == 0:
        if c > 1:
            shared.clock[1] += 1
        for i in range(counters):
            shared.running[i] += drawn[first + i] / shared.log_epsilon
        for level in range(shared.clock[1] + 1):
            for i in range(counters):
                shared.noise[level, i] = shared.running[i]
        return
    level = 0
    while c >> level & 1 == 0:
        level += 1
    scale = shared.clock[1] / shared.tree_epsilon
    for i in range(counters):
        shared.noise[0, i] = shared.noise[level, i] + drawn[first + i] * scale
    for above in range(1, level + 1):
        for i in range(counters):
            shared.noise[above, i] = shared.noise[0, i]
