"""The Laplace mechanism (Dwork and Roth 2014, Theorem 3.6; azize2022, Theorem 1)."""

import math

import numpy as np

from dpbandits.core.kernel import in_kernels


def laplace(rng: np.random.Generator, sensitivity: float, epsilon: float) -> float:
    """Noise that makes a statistic of this L1 sensitivity epsilon-DP: Lap(sensitivity/epsilon)."""
    return rng.laplace(0.0, sensitivity / epsilon)


@in_kernels(laplace)
def laplace_without_branches(rng, sensitivity, epsilon):
    """The numbers of `rng.laplace`, from the same draw.

    There the side is a branch, which no processor foresees: it loses a third of its time with it.
    """
    uniform = rng.random()
    while uniform == 0.0:
        uniform = rng.random()
    upper = uniform >= 0.5
    scale = sensitivity / epsilon
    tail = 2.0 - uniform - uniform if upper else uniform + uniform
    return (-scale if upper else scale) * math.log(tail)
