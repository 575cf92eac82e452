"""Bernoulli arms: the reward of arm a is 1 with probability mu_a, else 0."""

from typing import NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw, draw_sum, has_closed_sum
from dpbandits.kernel.parameters import Means


class Params(NamedTuple):
    """Means mu_a, in [0, 1]."""

    means: Means


class Bernoulli(NamedTuple):
    """Law for kernels: means and gaps, float64 of shape (arms,)."""

    means: np.ndarray
    gaps: np.ndarray


def arms(params: Params) -> int:
    """Return K, the number of arms."""
    return len(params.means)


def law(params: Params) -> Bernoulli:
    """Return the law with these parameters."""
    means = np.array(params.means)
    return Bernoulli(means, means.max() - means)


draw.register(Bernoulli)(lambda law, rng, arm, t: 1.0 if rng.random() < law.means[arm] else 0.0)
has_closed_sum.register(Bernoulli)(lambda law: True)
draw_sum.register(Bernoulli)(lambda law, rng, arm, n: float(rng.binomial(n, law.means[arm])))
