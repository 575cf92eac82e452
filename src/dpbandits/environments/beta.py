"""Beta arms: the reward of arm a is Beta(c mu_a, c (1 - mu_a)), with mean mu_a and in [0, 1].

The sum of n such rewards has no closed law, so the rewards of a batch are drawn one by one.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw
from dpbandits.kernel.parameters import OpenMeans, Positive


class Params(NamedTuple):
    """Means mu_a, inside (0, 1), and concentration c; the variance is mu (1-mu)/(1+c)."""

    means: OpenMeans
    concentration: Positive = 2.0


class Beta(NamedTuple):
    """Law for kernels: both shape parameters and the gaps, float64 of shape (arms,)."""

    alphas: np.ndarray
    betas: np.ndarray
    gaps: np.ndarray


def arms(params: Params) -> int:
    """Return K, the number of arms."""
    return len(params.means)


def law(params: Params) -> Beta:
    """Return the law with these parameters."""
    means = np.array(params.means)
    c = params.concentration
    return Beta(c * means, c * (1.0 - means), means.max() - means)


draw.register(Beta)(lambda law, rng, arm, t: rng.beta(law.alphas[arm], law.betas[arm]))
