"""Gaussian rewards clipped to [0, 1]: the reward of arm a is min(max(N(c_a, sd^2), 0), 1).

Clipping moves the means, so the gaps are those of the means after it.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw
from dpbandits.kernel.parameters import OpenMeans, Positive


class Params(NamedTuple):
    """Centres c_a, inside (0, 1), and the standard deviation before clipping."""

    centres: OpenMeans
    sd: Positive = 0.25


class ClippedGaussian(NamedTuple):
    """Distribution for kernels: centres and gaps, float64 of shape (arms,)."""

    centres: np.ndarray
    sd: float
    gaps: np.ndarray


def arms(params: Params) -> int:
    """Return K, the number of arms."""
    return len(params.centres)


def mean(centre: float, sd: float) -> float:
    """Return E[X+] - E[(X - 1)+], the mean of a clipped N(centre, sd^2)."""

    def positive_part(z: float) -> float:  # E[(Z + z)+] of a standard normal Z
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return z * (1 + math.erf(z / math.sqrt(2))) / 2 + density

    return sd * (positive_part(centre / sd) - positive_part((centre - 1) / sd))


def law(params: Params) -> ClippedGaussian:
    """Return the distribution with these parameters."""
    means = np.array([mean(centre, params.sd) for centre in params.centres])
    return ClippedGaussian(np.array(params.centres), params.sd, means.max() - means)


@draw.register(ClippedGaussian)
def draw_reward(law, rng, arm, t):
    """Draw one reward of an arm, a float in [0, 1]; `t` rounds have been played."""
    return min(max(rng.normal(law.centres[arm], law.sd), 0.0), 1.0)
