"""KL-UCB in runs of the leader, with indices that are compared and not computed."""

import math

import numpy as np

from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.kl import (
    ABSOLUTE,
    RELATIVE,
    bernoulli_kl,
    bernoulli_kl_upper,
    kl_upper_is_below,
)


@inlined
def largest_index(mean, pulls, explored, excluded):
    """Return the largest index of all arms but `excluded`, and its arm, the first one if tied."""
    largest, best = -math.inf, 0
    for arm in range(mean.size):
        level = explored / pulls[arm]
        if arm != excluded and not kl_upper_is_below(mean[arm], level, largest):
            index = bernoulli_kl_upper(mean[arm], level)
            if index > largest:
                largest, best = index, arm
    return largest, best


@inlined
def exceeds(p, n, q, explored):
    """Return True if the index of n rewards of mean p is surely above q.

    It is if p > q or n d(p, q) < α log t, here `explored`; d(p, q) is at most the chi-squared
    distance.
    """
    level = explored / n * (1.0 - RELATIVE) - ABSOLUTE
    near = p > q or (p - q) * (p - q) < level * q * (1.0 - q)
    return q < 1.0 and (near or bernoulli_kl(p, q) < level)


@kernel
def play(params, bandit, rng):
    """Pull the arm of largest index as long as its index exceeds the rivals' in a later round."""
    arms = number_of_arms(bandit)
    pulls, sums, mean = np.zeros(arms), np.zeros(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen, rival, end, explored = t - 1, 1.0, t, params.alpha * math.log(t)
        if t > arms:
            _, chosen = largest_index(mean, pulls, explored, -1)
            end = t + max(16, t >> 10)  # until then rivals hardly grow
            rival, _ = largest_index(mean, pulls, params.alpha * math.log(end), chosen)
        n, total = pulls[chosen] + 1.0, sums[chosen] + pull(bandit, chosen)
        while t < end and exceeds(total / n, n, rival, explored) and playing(bandit):
            total += pull(bandit, chosen)
            n += 1.0
            t += 1
        pulls[chosen], sums[chosen], mean[chosen] = n, total, total / n
