"""UCB with the two ingredients of azize2022's Algorithm 1, each on or off; not private, no noise.

The index is that of (7) without its terms for the noise, μ + sqrt(α log t/(2 m)), where μ is the
mean of the m rewards that are kept. Remark 3 gives doubling and forgetting a price of 2 each.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, pull_many, rounds_played
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive

LABEL = "Episodic-UCB"


class Params(NamedTuple):
    """α of (7), and the ingredients.

    With `doubling` an arm is pulled until its number of pulls has doubled, otherwise once. With
    `forgetting` half of its rewards is kept: those of its last episode or, without episodes, every
    second one.
    """

    alpha: Positive = 3.1
    doubling: bool = True
    forgetting: bool = True


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest index, for an episode or once."""
    arms = number_of_arms(bandit)
    pulls, kept = np.ones(arms, np.int64), np.ones(arms, np.int64)
    sums, index = np.empty(arms), np.empty(arms)
    for arm in range(arms):
        sums[arm] = pull(bandit, arm)
    while playing(bandit):
        width = 0.5 * params.alpha * math.log(rounds_played(bandit) + 1)
        for arm in range(arms):
            index[arm] = sums[arm] / kept[arm] + math.sqrt(width / kept[arm])
        chosen = argmax(index)
        episode = pulls[chosen] if params.doubling else 1
        total = pull_many(bandit, chosen, episode)
        pulls[chosen] += episode
        if params.forgetting and params.doubling:
            sums[chosen], kept[chosen] = total, episode
        elif not params.forgetting or pulls[chosen] % 2 == 1:
            sums[chosen] += total
            kept[chosen] += episode
