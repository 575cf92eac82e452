"""Laplace mechanism (Dwork and Roth 2014, Theorem 3.6; azize2022, Theorem 1)."""

import math

import numpy as np

from dpbandits.core.kernel import by_class, in_kernels


@by_class
def laplace(rng, sensitivity, epsilon):
    """Draw Lap(sensitivity/epsilon), which makes a statistic of this L1 sensitivity epsilon-DP."""
    return draw_laplace(rng, sensitivity, epsilon)


def draw_laplace(rng: np.random.Generator, sensitivity: float, epsilon: float) -> float:
    """Draw Lap(sensitivity/epsilon) from a generator of NumPy."""
    return rng.laplace(0.0, sensitivity / epsilon)


@in_kernels(draw_laplace)
def laplace_without_branches(rng, sensitivity, epsilon):
    """Return the same number as `rng.laplace`, from the same draws, but without its branch.

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
