"""Beta arms: the reward of arm a is Beta(c mu_a, c (1 - mu_a)), of mean mu_a, inside [0, 1].

The sum of n such rewards has no closed law: batches are drawn one by one.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import draw
from dpbandits.core.parameters import OpenMeans, Positive


class Params(NamedTuple):
    """The means mu_a, inside (0, 1), and the concentration c: variance mu (1-mu)/(1+c)."""

    means: OpenMeans
    concentration: Positive = 2.0


class Beta(NamedTuple):
    """The law that kernels read: both shape parameters and the gaps, shape (arms,)."""

    alphas: np.ndarray
    betas: np.ndarray
    gaps: np.ndarray


def arms(params: Params) -> int:
    """K, the number of arms."""
    return len(params.means)


def law(params: Params) -> Beta:
    """The law of the parameters."""
    means = np.array(params.means)
    c = params.concentration
    return Beta(c * means, c * (1.0 - means), means.max() - means)


@draw.register(Beta)
def beta_draw(law, rng, arm, t):
    return rng.beta(law.alphas[arm], law.betas[arm])
