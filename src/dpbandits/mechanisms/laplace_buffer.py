"""Laplace noise drawn ahead in vectors, for mechanisms that need many numbers in every round."""

from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, inlined
from dpbandits.core.vector_constants import LANES, STRIDE
from dpbandits.core.vectors import fill_laplaces, seed_lanes

LENGTH = 1024  # least number of draws at a time


class LaplaceBuffer(NamedTuple):
    """Draws of Lap(1). `take` writes the arrays in place."""

    drawn: np.ndarray  # float64: the draws, of which the first used[0] are used
    used: np.ndarray  # int64, shape (1,)
    lanes: np.ndarray  # uint64, shape (4, 8): generators


@allocating
def laplace_buffer(most, rng):
    """Return a buffer from which at most `most` draws are taken at a time."""
    lanes = np.empty((4, LANES), np.uint64)
    seed_lanes(rng, lanes)
    size = (max(LENGTH, most) + STRIDE - 1) // STRIDE * STRIDE
    return LaplaceBuffer(np.empty(size), np.full(1, size), lanes)


@inlined
def take(buffer, n):
    """Return the position in `buffer.drawn` of n draws that were not used before."""
    if buffer.used[0] + n > buffer.drawn.size:
        fill_laplaces(buffer.lanes, buffer.drawn)
        buffer.used[0] = 0
    first = buffer.used[0]
    buffer.used[0] += n
    return first
