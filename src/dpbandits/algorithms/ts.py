"""Thompson sampling for Bernoulli arms (Agrawal and Goyal 2017); not private. The TS of hu2022.

A reward r between 0 and 1 counts as r successes and 1 - r failures.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._beta_draw import sample_beta
from dpbandits.algorithms._beta_tail import sample_tail, tail_bound
from dpbandits.algorithms._largest_sample import (
    Method,
    chance_above,
    follow_largest,
    numbers,
    sample,
    sample_above,
)
from dpbandits.core.bandit import number_of_arms
from dpbandits.core.kernel import kernel

LABEL = "TS"


class Params(NamedTuple):
    """Method that draws the largest θ."""

    method: Method = Method.EXACT


@numbers.register(Params)
def ts_numbers(params, total, n):
    """Return S + 1 and F + 1: θ ~ Beta(S + 1, F + 1) after S successes and F failures."""
    return total + 1.0, n - total + 1.0


@sample.register(Params)
def ts_sample(params, rng, a, b):
    """Draw θ ~ Beta(a, b)."""
    return sample_beta(rng, a, b) if params.method == Method.EXACT else rng.beta(a, b)


chance_above.register(Params)(tail_bound)
sample_above.register(Params)(sample_tail)


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest θ in every round."""
    arms = number_of_arms(bandit)
    follow_largest(params, params.method, bandit, rng, np.zeros(arms), np.zeros(arms))
