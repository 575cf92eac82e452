"""Thompson sampling for Bernoulli arms (Agrawal and Goyal 2017); not private. The TS of hu2022.

A reward r between 0 and 1 counts as r successes and 1 - r failures.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import Method, argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull
from dpbandits.kernel.compilation import kernel

LABEL = "TS"


class Params(NamedTuple):
    """Method that draws the largest θ."""

    method: Method = Method.EXACT


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest θ ~ Beta(S + 1, F + 1), after S successes and F failures."""
    arms = number_of_arms(bandit)
    successes, failures, theta = np.zeros(arms), np.zeros(arms), np.empty(arms)
    while playing(bandit):
        for arm in range(arms):
            theta[arm] = rng.beta(successes[arm] + 1.0, failures[arm] + 1.0)
        chosen = argmax(theta)
        reward = pull(bandit, chosen)
        successes[chosen] += reward
        failures[chosen] += 1.0 - reward
