"""UCB in runs of the leader: one comparison a pull instead of K indices, with the same draws.

Indices in round t are (s~ + offset)/n + width sqrt(log t) + slope log t, with s~ the released sum
of an arm's n rewards. Only a pull changes s~ and the three coefficients of an arm; width and slope
are not negative. Up to round `end` no rival's index exceeds the line, the largest index of the
rivals in round `end`, and the leader is pulled again while

    s~ + bonus > line n,

where the bonus, what the leader's index adds to s~/n, times n, is taken before its first pull.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import allocating, by_class, inlined, kernel
from dpbandits.mechanisms.counters import insert

SAFE = 1e-12  # relative distance from the line that rounding errors cannot bridge


class Sums(NamedTuple):
    """Exact sums of the rewards, float64 of shape (arms,): counters without noise."""

    sums: np.ndarray


@insert.register(Sums)
def exact_insert(counters, rng, which, item):
    counters.sums[which] += item
    return counters.sums[which]


@by_class
def coefficients(law, n):
    """Return offset, width, slope and longest run of an arm with n pulls, by default those of UCB
    with the α of `law`.

    In so many further pulls neither offset nor n width nor n slope decreases.
    """
    return 0.0, math.sqrt(0.5 * law.alpha / n), 0.0, 1 << 62


@allocating
def follow_leaders(law, counters, bandit, rng):
    """Pull each arm once, then the arm of largest index; one counter per arm releases its sums."""
    arms = number_of_arms(bandit)
    pulls, fixed, index = np.zeros(arms, np.int64), np.zeros(arms), np.empty(arms)
    offset, width, slope = np.zeros(arms), np.zeros(arms), np.zeros(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen, line, end = t - 1, math.inf, t
        if t > arms:
            write_indices(fixed, width, slope, index, t)
            chosen = argmax(index)
            # Until then rivals hardly grow. In an array the longest runs would cost UCB, which
            # has no limit, a tenth of its time.
            _, _, _, longest = coefficients(law, pulls[chosen])
            end = t + min(max(16, t >> 10), longest - 1)
            write_indices(fixed, width, slope, index, end)
            index[chosen] = -math.inf
            line = index.max()
            line += SAFE * abs(line)
        n, log_t = pulls[chosen], math.log(t)
        bonus = offset[chosen] + n * (width[chosen] * math.sqrt(log_t) + slope[chosen] * log_t)
        total = insert(counters, rng, chosen, pull(bandit, chosen))
        n += 1
        bonus -= SAFE * (abs(bonus) + abs(total))
        while t < end and total + bonus > line * n and playing(bandit):
            total = insert(counters, rng, chosen, pull(bandit, chosen))
            n += 1
            t += 1
        pulls[chosen] = n
        offset[chosen], width[chosen], slope[chosen], _ = coefficients(law, n)
        fixed[chosen] = (total + offset[chosen]) / n


@inlined
def write_indices(fixed, width, slope, index, t):
    """Overwrite `index` with all indices in round t; the arrays are float64 of shape (arms,)."""
    log_t = math.log(t)
    root = math.sqrt(log_t)
    for arm in range(index.size):
        index[arm] = fixed[arm] + width[arm] * root + slope[arm] * log_t


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index."""
    follow_leaders(params, Sums(np.zeros(number_of_arms(bandit))), bandit, rng)
