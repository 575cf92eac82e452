"""Thompson sampling that samples only the arms above a level."""

import numpy as np

from dpbandits.algorithms._ftpl import numbers
from dpbandits.algorithms.ts import Params
from dpbandits.fast._largest_sample import Totals, covers, follow_exact
from dpbandits.kernel.bandit import number_of_arms
from dpbandits.kernel.compilation import kernel

__all__ = ["covers", "play"]


numbers.register(Params)(lambda params, total, n: (total + 1.0, n - total + 1.0))


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest θ in every round."""
    arms = number_of_arms(bandit)
    follow_exact(Totals(params, np.zeros(arms), np.zeros(arms)), bandit, rng)
