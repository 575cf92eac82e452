"""Samples that a stopping rule reads, and shared code of Algorithms 1 and 2 of sajed2019.

The samples are independent, in [-R, R], with an unknown mean. A rule is given R and may take the
sum of the next n samples, in one step however large n is.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.kernel.compilation import inlined
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.privacy.releases import Laplace, SparseVector


class SampleStream(NamedTuple):
    """Samples with values R and -R."""

    radius: float  # R
    probability: float  # probability of the value R
    rng: np.random.Generator


@inlined
def take(samples, n):
    """Draw the sum of the next n samples."""
    return samples.radius * (2.0 * samples.rng.binomial(n, samples.probability) - n)


class Params(NamedTuple):
    """Budget epsilon; the estimate is within alpha |mu| of mu with probability 1 - beta."""

    epsilon: Positive
    alpha: Fraction
    beta: Fraction


@inlined
def threshold(params, radius, t, query):
    """Return t h_t (1 + 1/alpha) + c_t for query number `query`, which is made after t samples."""
    sigma_1 = sigma_2 = 12.0 * radius / params.epsilon
    sigma_3 = 4.0 * radius / params.epsilon
    squared = float(query) * float(query)
    h = radius * math.sqrt(2.0 / t * math.log(16.0 * squared / params.beta))
    log_term = math.log(4.0 / params.beta)
    c = sigma_1 * log_term + sigma_2 * math.log(8.0 * squared / params.beta)
    return t * h * (1.0 + 1.0 / params.alpha) + c + sigma_3 / params.alpha * log_term


def releases(params: Params, radius: float) -> Iterator[Laplace | SparseVector]:
    """Yield the time of halting, and the sum of all samples; each spends half of the budget.

    The former is the first query at the threshold: the sparse vector technique. Replacing a sample
    moves a sum by 2R at most.
    """
    half, moved = params.epsilon / 2.0, 2.0 * radius
    lifted = 3.0 * moved / half
    yield SparseVector(0, 1, math.inf, moved, threshold_scale=lifted, query_scale=lifted)
    yield Laplace(0, 1, math.inf, sensitivity=moved, scale=moved / half)
