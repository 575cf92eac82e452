"""Runs in step: sixteen runs of one policy in one kernel, a lane for each.

A policy that decides in every round is a chain of operations, each of which waits for the one
before. Sixteen runs in step are sixteen chains side by side (lane_ir.py). A lane is computed from
that lane alone, by the operations of the loop over a single run in the same order, so that the bits
of a run depend neither on the other lanes nor on whether lanes are used at all.

Code for both is written with the functions below and with those that have a body for each class of
streams.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating, by_class, in_kernels, inlined
from dpbandits.core.lane_ir import lane_sqrt, lane_uniforms, lane_where
from dpbandits.core.vector_constants import (
    EXP,
    INVERSE_LOG2,
    LOG2_HIGH,
    LOG2_LOW,
    LOWEST_EXPONENT,
    ROUNDING,
    RUNS,
)
from dpbandits.core.vectors import (
    fill_laplaces,
    fill_uniforms,
    laplaces_in_scalars,
    uniforms_in_scalars,
)

LINE = 64  # bytes of a line of the cache


class LaneStream(NamedTuple):
    """Generator xoshiro256++ of a single run."""

    state: np.ndarray  # uint64, shape (4, 1)
    number: np.ndarray  # float64, shape (1,): the latest number


class LaneStreams(NamedTuple):
    """Generators xoshiro256++ of sixteen runs."""

    state: np.ndarray  # uint64, shape (4, 16)


def lane_stream(rng: np.random.Generator) -> LaneStream:
    """Return the generator of a run, seeded by the next words of its own stream."""
    return LaneStream(rng.bit_generator.random_raw(4).reshape(4, 1), np.zeros(1))


def lane_streams(rngs: Sequence[np.random.Generator]) -> LaneStreams:
    """Return the generators of at most sixteen runs; lanes without a run repeat the last one."""
    lanes = [lane_stream(rng).state for rng in rngs]
    lanes += [lanes[-1]] * (RUNS - len(lanes))
    state = lane_zeros(4).view(np.uint64)
    state[:] = np.hstack(lanes)
    return LaneStreams(state)


@allocating
def lane_zeros(n):
    """Return zeros, float64 of shape (n, 16), each row of which begins a line of the cache.

    A vector that lies in two lines takes twice as long to load.
    """
    room = np.zeros((n + 1) * RUNS)
    first = (-room.ctypes.data % LINE) // 8
    return room[first : first + n * RUNS].reshape(n, RUNS)


@by_class
def uniform(rng):
    """Draw a uniform number in [0, 1)."""
    return rng.random()


@uniform.register(LaneStream)
def uniform_of_lane(stream):
    _next_uniform(stream.state, stream.number)
    return stream.number[0]


@uniform.register(LaneStreams)
def uniforms_of_lanes(streams):
    return lane_uniforms(streams.state)


@by_class
def uniform_index(rng, n):
    """Draw one of 0 to n - 1, each with probability 1/n."""
    return int(uniform(rng) * n)


@uniform_index.register(LaneStreams)
def uniform_index_of_lanes(streams, n):
    scaled = uniform(streams) * float(n)
    index = scaled * 0.0
    for i in range(1, n):
        index = where(scaled >= float(i), float(i), index)
    return index


@inlined
def standard_laplace(stream):
    """Draw Lap(1) from the stream of a single run."""
    _next_laplace(stream.state, stream.number)
    return stream.number[0]


def where(condition, value, otherwise):
    """Return `value` where the condition holds, and `otherwise` elsewhere."""
    return value if condition else otherwise


def root(x):
    """Return the square root of x, rounded correctly."""
    return math.sqrt(x)


@inlined
def exp_of(x):
    """Return exp(x) for x below 709, and exp(-708) for x below -708; fdlibm's, 1 ulp."""
    x = max(x, LOWEST_EXPONENT)
    k = x * INVERSE_LOG2 + ROUNDING - ROUNDING
    high, low = x - k * LOG2_HIGH, k * LOG2_LOW
    r = high - low
    t = r * r
    c = r - t * ((((EXP[4] * t + EXP[3]) * t + EXP[2]) * t + EXP[1]) * t + EXP[0])
    return math.ldexp(1.0 - ((low - r * c / (2.0 - c)) - high), int(k))


# In kernels ---------------------------------------------------------------------------------------


def _next_uniform(state, number):
    fill_uniforms(state, number)


def _next_laplace(state, number):
    fill_laplaces(state, number)


in_kernels(_next_uniform)(uniforms_in_scalars)
in_kernels(_next_laplace)(laplaces_in_scalars)


@in_kernels(where)
def _where(condition, value, otherwise):
    return lane_where(condition, value, otherwise)


@in_kernels(root)
def _root(x):
    return lane_sqrt(x)
