"""DP elimination: successive elimination by private means of fresh rewards."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.kernel.bandit import number_of_arms, playing, pull_each, rounds_left
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

KIND = "elimination"
LABEL = "DP elimination"
guarantee = guaranteed(Notion.GLOBAL, "a test")  # `risk` is no delta of privacy


class Params(NamedTuple):
    """Privacy budget, and the probability of a wrong answer."""

    epsilon: Positive
    risk: Fraction


@kernel
def play(params, bandit, rng):
    """Write the last arm into `bandit.answer`, or leave it at -1 when the rounds end."""
    arms, epoch = np.arange(number_of_arms(bandit)), 0
    while playing(bandit):
        epoch += 1
        n = 2**epoch
        if n * arms.size > rounds_left(bandit):
            return
        sums = pull_each(bandit, arms, n)
        for i in range(arms.size):
            sums[i] = (sums[i] + laplace(rng, 1.0, params.epsilon)) / n
        log = math.log(4.0 * number_of_arms(bandit) * epoch * epoch / params.risk)
        width = math.sqrt(log / (2.0 * n)) + log / (n * params.epsilon)
        arms = arms[sums > sums.max() - 2.0 * width]
        if arms.size == 1:
            bandit.answer[0] = arms[0]
            return


def releases(params: Params, arms: int) -> Iterator[Laplace]:
    """Yield the mean of every arm in every epoch, each of fresh rewards."""
    for epoch in range(1, 20):
        for arm in range(arms):
            first, last = 2**epoch - 1, 2 ** (epoch + 1) - 2
            yield Laplace(arm, first, last, sensitivity=1.0, scale=1.0 / params.epsilon)
