"""azize2022, Algorithm 1: adaptive episodes make any index policy private (ε-global DP, zCDP).

An index reads only the rewards of the arm's last active episode, through their private mean. The
pulls of the chosen arm double, so that episode holds half of all its pulls, m = N/2. The episodes
of an arm are disjoint: every reward is in one release.

An algorithm registers a body of `index` for its Params, which must have the fields `ties` and
`first_episode`, and `epsilon` unless they register a body of `noise` as well.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np

from dpbandits.algorithms._argmax import argmax, random_argmax
from dpbandits.core.bandit import number_of_arms, playing, pull, pull_many, rounds_played
from dpbandits.core.kernel import by_class, kernel
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace


class Ties(IntEnum):
    """Reading: arm that is pulled if several have the largest index."""

    FIRST = 0  # the first in the listed order
    RANDOM = 1  # one of them, uniformly at random


class FirstEpisode(IntEnum):
    """Reading: m of an arm that was pulled once, for which N/2 = 1/2 is not a number of rewards."""

    ONE = 0  # m = 1, the actual number of rewards
    HALF = 1  # m = 1/2, equations (7), (8) and their noise read literally


@by_class
def index(params, private_mean, m, log_t):
    """Return Iₐ(t-1, α) from the private mean over m rewards, with log_t = log t_l."""
    raise NotImplementedError("these Params registered no index")


@by_class
def index_is_below(params, private_mean, m, log_t, value):
    """Return True only if the index is below `value`; False is always right.

    A body pays where it is quicker than `index`.
    """
    return False


@by_class
def noise(params, rng, sensitivity):
    """Draw the noise of a mean of this sensitivity, 1/m; by default that of azize2022, (32)."""
    return laplace(rng, sensitivity, params.epsilon)


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index until its number of pulls has doubled (Algorithm 1)."""
    arms = number_of_arms(bandit)
    pulls = np.empty(arms, np.int64)  # N_a
    m = np.empty(arms)
    private_mean = np.empty(arms)
    for arm in range(arms):
        pulls[arm] = 1
        m[arm] = 0.5 if params.first_episode == FirstEpisode.HALF else 1.0
        private_mean[arm] = pull(bandit, arm) + noise(params, rng, 1.0 / m[arm])
    indices = np.empty(arms)
    while playing(bandit):
        log_t = math.log(rounds_played(bandit) + 1)
        largest = -math.inf
        for arm in range(arms):
            # An index below the largest so far has no effect: another arm is pulled.
            below = index_is_below(params, private_mean[arm], m[arm], log_t, largest)
            indices[arm] = -math.inf if below else index(params, private_mean[arm], m[arm], log_t)
            largest = max(largest, indices[arm])
        if params.ties == Ties.RANDOM:
            chosen = random_argmax(indices, rng)
        else:
            chosen = argmax(indices)
        episode = pulls[chosen]  # N_a(t) = 2 N_a(t_l - 1)
        total = pull_many(bandit, chosen, episode)
        pulls[chosen] += episode
        m[chosen] = episode
        private_mean[chosen] = total / episode + noise(params, rng, 1.0 / episode)


def releases(params: Any, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and episode."""
    for arm, first, last, m in episodes(params, arms, horizon):
        moved = 1.0 / (last - first + 1)
        yield Laplace(arm, first, last, sensitivity=moved, scale=1.0 / (m * params.epsilon))


def episodes(params: Any, arms: int, horizon: int) -> Iterator[tuple[int, int, int, float]]:
    """Yield arm, first and last reward of every episode, and its m.

    An arm's episodes have 1, 1, 2, 4, ... pulls and are disjoint.
    """
    for arm in range(arms):
        yield arm, 1, 1, 0.5 if params.first_episode == FirstEpisode.HALF else 1.0
        episode = 1
        while 2 * episode <= horizon:
            yield arm, episode + 1, 2 * episode, float(episode)
            episode *= 2


def claim(params: Any, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 6, which holds for any index."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "azize2022, Theorem 6")
