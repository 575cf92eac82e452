"""Laplace mechanism (Dwork and Roth 2014, Theorem 3.6; azize2022, Theorem 1)."""

import math

import numpy as np

from dpbandits.core.kernel import by_class, in_kernels
from dpbandits.core.lane_ir import lane_laplaces
from dpbandits.core.lanes import LaneStream, LaneStreams, standard_laplace


@by_class
def laplace(rng, sensitivity, epsilon):
    """Draw Lap(sensitivity/epsilon), which makes a statistic of this L1 sensitivity epsilon-DP."""
    return draw_laplace(rng, sensitivity, epsilon)


@laplace.register(LaneStream)
def laplace_of_lane(stream, sensitivity, epsilon):
    return standard_laplace(stream) * (sensitivity / epsilon)


@laplace.register(LaneStreams)
def laplaces_of_lanes(streams, sensitivity, epsilon):
    return lane_laplaces(streams.state) * (sensitivity / epsilon)


def draw_laplace(rng: np.random.Generator, sensitivity: float, epsilon: float) -> float:
    """Draw Lap(sensitivity/epsilon) from a generator of NumPy."""
    return rng.laplace(0.0, sensitivity / epsilon)


@in_kernels(draw_laplace)
def laplace_without_branches(rng, sensitivity, epsilon):
    """Return the same numbers as `rng.laplace`, from the same draws, but without its branch.

    The branch chooses the sign of the noise. No processor can predict it, and the mispredictions
    cost a third of the time.
    """
    uniform = rng.random()
    while uniform == 0.0:
        uniform = rng.random()
    upper = uniform >= 0.5
    scale = sensitivity / epsilon
    tail = 2.0 - uniform - uniform if upper else uniform + uniform
    return (-scale if upper else scale) * math.log(tail)
