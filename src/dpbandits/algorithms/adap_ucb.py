"""AdaP-UCB (azize2022): Algorithm 1 with index (7). ε-global DP, Theorem 6.

An index reads only the rewards of the arm's last episode, half of all its pulls, through their
private mean. The episodes of an arm are disjoint: every reward is in one release. Other algorithms
register a body of `index`, and of `noise` unless it is that of AdaP-UCB.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np

from dpbandits.kernel.bandit import number_of_arms, playing, pull, pull_many, rounds_played
from dpbandits.kernel.compilation import by_class, inlined, kernel
from dpbandits.kernel.parameters import Positive
from dpbandits.kernel.randomness import AddedLater
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "AdaP-UCB"
guarantee = guaranteed(Notion.GLOBAL, "azize2022, Theorem 6")  # for any index


class Ties(IntEnum):
    """Variant: arm that is pulled if several have the largest index."""

    FIRST = 0  # the first in the listed order
    RANDOM = 1  # one of them, uniformly at random


class FirstEpisode(IntEnum):
    """Variant: rewards in the mean of an arm that was pulled once; the paper's N/2 would be 1/2."""

    ONE = 0  # m = 1, the actual number of rewards
    HALF = 1  # m = 1/2, equations (7), (8) and their noise read literally


class Exploration(IntEnum):
    """Variant: the term of (7) for the sampling of rewards."""

    ALPHA = 0  # sqrt(α log t_l/(2 m)), as printed
    WITHOUT_ALPHA = 1  # sqrt(log t_l/m), as the published curve of Fig. 3 up to ε = 1 suggests


class Params(NamedTuple):
    """Privacy budget, α of (7), and the variants of Algorithm 1 and of (7)."""

    epsilon: Positive
    alpha: Positive = 3.1
    ties: Ties = Ties.FIRST
    first_episode: FirstEpisode = FirstEpisode.ONE
    exploration: Annotated[Exploration, AddedLater(Exploration.ALPHA)] = Exploration.ALPHA


@by_class
def index(params, private_mean, m, log_t):
    """Return (7): μ~ + sqrt(α log t_l / (2 m)) + α log t_l / (ε m), of m rewards."""
    allowed = params.alpha * log_t / m
    sampling = 0.5 * allowed if params.exploration == Exploration.ALPHA else log_t / m
    return private_mean + math.sqrt(sampling) + allowed / params.epsilon


@by_class
def noise(params, rng, sensitivity):
    """Draw the noise of a mean of this sensitivity, 1/m; by default that of azize2022, (32)."""
    return laplace(rng, sensitivity, params.epsilon)


@inlined
def largest(indices, ties, rng):
    """Return the arm of largest index by the variant of ties, which may draw random numbers."""
    largest, chosen, tied = -math.inf, 0, 1
    for arm in range(indices.size):
        if indices[arm] > largest:
            largest, chosen, tied = indices[arm], arm, 1
        elif ties == Ties.RANDOM and indices[arm] == largest:
            tied += 1
            if rng.random() * tied < 1.0:
                chosen = arm
    return chosen


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index until its number of pulls has doubled (Algorithm 1)."""
    arms = number_of_arms(bandit)
    pulls = np.ones(arms, np.int64)  # N_a
    m = np.full(arms, 0.5 if params.first_episode == FirstEpisode.HALF else 1.0)
    private_mean = np.empty(arms)
    indices = np.empty(arms)
    for arm in range(arms):
        private_mean[arm] = pull(bandit, arm) + noise(params, rng, 1.0 / m[arm])
    while playing(bandit):
        log_t = math.log(rounds_played(bandit) + 1)
        for arm in range(arms):
            indices[arm] = index(params, private_mean[arm], m[arm], log_t)
        chosen = largest(indices, params.ties, rng)
        episode = pulls[chosen]  # N_a(t) = 2 N_a(t_l - 1)
        total = pull_many(bandit, chosen, episode)
        pulls[chosen] += episode
        m[chosen] = episode
        private_mean[chosen] = total / episode + noise(params, rng, 1.0 / episode)


def releases(params: Any, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and episode."""
    for arm, first, last, moved, m in episodes(params, arms, horizon):
        yield Laplace(arm, first, last, moved, scale=1.0 / (m * params.epsilon))


def episodes(params: Any, arms: int, horizon: int) -> Iterator[tuple[int, int, int, float, float]]:
    """Yield arm, first and last reward, sensitivity and m of episodes of 1, 1, 2, 4, ... pulls."""
    for arm in range(arms):
        yield arm, 1, 1, 1.0, 0.5 if params.first_episode == FirstEpisode.HALF else 1.0
        m = 1
        while 2 * m <= horizon:
            yield arm, m + 1, 2 * m, 1.0 / m, float(m)
            m *= 2
