"""Laplace noise drawn ahead in vectors, for mechanisms that need many numbers in every round.

The streams of lanes (core/lanes.py) draw each number when it is used instead.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, by_class
from dpbandits.core.lanes import LaneStream, LaneStreams
from dpbandits.core.vector_constants import LANES, STRIDE
from dpbandits.core.vectors import fill_laplaces, seed_lanes
from dpbandits.mechanisms.laplace import laplace

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


@partial(by_class, allocating=True)
def noise_source(rng, most):
    """Return a source of Lap(1), of which at most `most` draws are taken at a time."""
    return laplace_buffer(most, rng)


@noise_source.register(LaneStream)
def lane_source(rng, most):
    return rng


@by_class
def take(source, n):
    """Return the position of n draws that were not used before."""
    if source.used[0] + n > source.drawn.size:
        fill_laplaces(source.lanes, source.drawn)
        source.used[0] = 0
    first = source.used[0]
    source.used[0] += n
    return first


@take.register(LaneStream)
def take_lane(source, n):
    return 0


@by_class
def noise_at(source, position):
    """Return the draw at a position; positions are read once, in increasing order."""
    return source.drawn[position]


@noise_at.register(LaneStream)
def noise_of_lane(source, position):
    return laplace(source, 1.0, 1.0)


noise_source.register(LaneStreams)(lane_source)
take.register(LaneStreams)(take_lane)
noise_at.register(LaneStreams)(noise_of_lane)
