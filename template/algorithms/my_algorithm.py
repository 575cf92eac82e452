"""Explore-then-commit with a private choice: n pulls of each arm, then the best private mean."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, pull_many, rounds_left
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Count, Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace

LABEL = "DP-ETC"


class Params(NamedTuple):
    """The privacy budget and the pulls of each arm before the choice."""

    epsilon: Positive
    pulls: Count = 1000


@kernel
def play(params, bandit, rng):
    """Pull each arm `pulls` times, release every mean once, then pull the best."""
    private_mean = np.empty(number_of_arms(bandit))
    for arm in range(private_mean.size):
        mean = pull_many(bandit, arm, params.pulls) / params.pulls
        private_mean[arm] = mean + laplace(rng, 1.0 / params.pulls, params.epsilon)
    pull_many(bandit, argmax(private_mean), rounds_left(bandit))


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one mean per arm whose pulls end within the horizon."""
    n = params.pulls
    for arm in range(min(arms, horizon // n)):
        yield Laplace(arm, 1, n, sensitivity=1.0 / n, scale=1.0 / (n * params.epsilon))


def guarantee(params: Params, arms: int, horizon: int) -> Guarantee:
    """Every reward is in one mean at most."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "no paper; an example")


# For zCDP, with Gaussian noise: name the budget `rho`; draw gaussian(rng, 1.0 / params.pulls,
# params.rho) of dpbandits.mechanisms.perturbation; yield Gaussian(arm, 1, n, sensitivity=1.0 / n,
# scale=1.0 / (n * math.sqrt(2.0 * params.rho))); and guarantee Notion.CONCENTRATED, params.rho.
