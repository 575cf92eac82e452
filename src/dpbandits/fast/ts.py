"""Thompson sampling that samples only the arms above a level."""

import numpy as np

from dpbandits.algorithms.ts import Params
from dpbandits.core.bandit import number_of_arms
from dpbandits.core.kernel import kernel
from dpbandits.fast._beta import register_beta
from dpbandits.fast._largest_sample import covers, follow_totals, numbers

__all__ = ["covers", "play"]

register_beta(Params)


@numbers.register(Params)
def ts_numbers(params, total, n):
    return total + 1.0, n - total + 1.0


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest θ in every round."""
    arms = number_of_arms(bandit)
    follow_totals(params, bandit, rng, np.zeros(arms), np.zeros(arms))
