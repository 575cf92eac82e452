"""IMED (Honda and Takemura 2015) for Bernoulli arms, not private: the ancestor of DP-IMED."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.adap_ucb import Ties, largest
from dpbandits.algorithms.dp_klucb import Rounding, pulls_after
from dpbandits.kernel.bandit import number_of_arms, playing, pull, pull_many
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.kl import bernoulli_kl
from dpbandits.kernel.parameters import Constraint

LABEL = "IMED"

Ratio = Annotated[float, Constraint(lambda x: 1 <= x < math.inf, "1 or more, and finite")]


class Params(NamedTuple):
    """Variant: α of the batches; 1 is the original, which decides in every round."""

    ratio: Ratio = 1.0
    ties: Ties = Ties.FIRST


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of smallest N_a kl(μ^_a, μ^*) + log N_a."""
    arms = number_of_arms(bandit)
    pulls = np.ones(arms, np.int64)
    sums, mean, index = np.empty(arms), np.empty(arms), np.empty(arms)
    for arm in range(arms):
        mean[arm] = sums[arm] = pull(bandit, arm)
    while playing(bandit):
        best = mean[argmax(mean)]
        for arm in range(arms):
            index[arm] = -(pulls[arm] * bernoulli_kl(mean[arm], best) + math.log(pulls[arm]))
        chosen = largest(index, params.ties, rng)
        if params.ratio > 1.0:
            batch = pulls_after(pulls[chosen], params.ratio, Rounding.CEIL) - pulls[chosen]
            sums[chosen] += pull_many(bandit, chosen, batch)
            pulls[chosen] += batch
        else:
            sums[chosen] += pull(bandit, chosen)
            pulls[chosen] += 1
        mean[chosen] = sums[chosen] / pulls[chosen]
