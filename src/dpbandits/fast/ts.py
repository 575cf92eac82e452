"""Thompson sampling that samples only the arms above a level."""

import numpy as np

from dpbandits.algorithms.ts import Params
from dpbandits.core.bandit import number_of_arms
from dpbandits.core.kernel import kernel
from dpbandits.fast._beta import sample_tail, tail_bound
from dpbandits.fast._largest_sample import (
    chance_above,
    covers,
    follow_totals,
    numbers,
    sample,
    sample_above,
)

__all__ = ["covers", "play"]

chance_above.register(Params)(tail_bound)
sample_above.register(Params)(sample_tail)


@numbers.register(Params)
def ts_numbers(params, total, n):
    return total + 1.0, n - total + 1.0


@sample.register(Params)
def ts_sample(params, rng, a, b):
    return rng.beta(a, b)


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest θ in every round."""
    arms = number_of_arms(bandit)
    follow_totals(params, bandit, rng, np.zeros(arms), np.zeros(arms))
