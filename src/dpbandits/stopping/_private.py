"""What Algorithms 1 and 2 of sajed2019 share: the threshold, and what they release."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.core.kernel import inlined
from dpbandits.core.parameters import Fraction, Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.mechanisms.sparse_vector import sparse_vector_noise, sparse_vector_releases
from dpbandits.privacy.notions import Claim, Notion
from dpbandits.privacy.releases import Laplace, SparseVector


class Params(NamedTuple):
    """The budget epsilon; an estimate within alpha |mu|, with probability 1 - beta."""

    epsilon: Positive
    alpha: Fraction
    beta: Fraction


@inlined
def threshold(params, radius, t, query):
    """t h_t (1 + 1/alpha) + c_t at query number `query`, made after t samples."""
    sigma_1 = sigma_2 = 12.0 * radius / params.epsilon
    sigma_3 = 4.0 * radius / params.epsilon
    squared = float(query) * float(query)
    h = radius * math.sqrt(2.0 / t * math.log(16.0 * squared / params.beta))
    log_term = math.log(4.0 / params.beta)
    c = sigma_1 * log_term + sigma_2 * math.log(8.0 * squared / params.beta)
    return t * h * (1.0 + 1.0 / params.alpha) + c + sigma_3 / params.alpha * log_term


@inlined
def query_noise(params, radius, rng):
    """B or A_t: half of the budget tells when to halt; a sample moves the sum by 2R."""
    return sparse_vector_noise(rng, 2.0 * radius, params.epsilon / 2.0)


@inlined
def estimate(params, radius, rng, t, total):
    """mean_t + L/t: the other half of the budget."""
    return (total + laplace(rng, 2.0 * radius, params.epsilon / 2.0)) / t


def releases(params: Params, radius: float) -> Iterator[Laplace | SparseVector]:
    """When it halts, and the sum of all samples, of sensitivity 2R."""
    half = params.epsilon / 2.0
    yield from sparse_vector_releases(0, math.inf, 2.0 * radius, half)
    yield Laplace(0, 1, math.inf, sensitivity=2.0 * radius, scale=2.0 * radius / half)


def claim_of(params: Params, theorem: str) -> Claim:
    """When it halts and what it tells."""
    return Claim(Notion.GLOBAL, params.epsilon, 0.0, f"sajed2019, {theorem}")
