"""Shared code of Algorithms 1 and 2 of sajed2019: threshold, noise and releases."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.core.kernel import inlined
from dpbandits.core.parameters import Fraction, Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.mechanisms.sparse_vector import sparse_vector_noise, sparse_vector_releases
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace, SparseVector


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


@inlined
def query_noise(params, radius, rng):
    """Draw B or A_t. Halting spends half of the budget; replacing a sample moves the sum by 2R."""
    return sparse_vector_noise(rng, 2.0 * radius, params.epsilon / 2.0)


@inlined
def estimate(params, radius, rng, t, total):
    """Return mean_t + L/t, which spends the other half of the budget."""
    return (total + laplace(rng, 2.0 * radius, params.epsilon / 2.0)) / t


def releases(params: Params, radius: float) -> Iterator[Laplace | SparseVector]:
    """Yield the time of halting, and the sum of all samples, which has sensitivity 2R."""
    half = params.epsilon / 2.0
    yield from sparse_vector_releases(0, math.inf, 2.0 * radius, half)
    yield Laplace(0, 1, math.inf, sensitivity=2.0 * radius, scale=2.0 * radius / half)


def claim_of(params: Params, theorem: str) -> Guarantee:
    """Return the claim of a theorem for the time of halting and the estimate together."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, f"sajed2019, {theorem}")
