"""DP-UCB with noise that is drawn ahead for all arms, whose counters share one clock.

All counters get an item in every round, so that they release sums with noise of one structure. Only
the noise is kept: row j holds that of the sums at the last multiple of 2^j since the last power of
two, and row 0 that of the current sums.
"""

import math

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.dp_ucb_bound import Counter, part_epsilon
from dpbandits.fast._noise import noise_ahead, take
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_left, rounds_played
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.mechanisms.counters import levels


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest s~/n + sqrt(2 log t/n)."""
    arms = number_of_arms(bandit)
    rows = np.zeros((levels(rounds_left(bandit)) + 1, arms))
    logarithmic = np.zeros(arms)  # noise of the logarithmic part
    sums, pulls, width, index = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.empty(arms)
    noise = noise_ahead(rng, arms, 0.0)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms:
            root = math.sqrt(math.log(t))
            for arm in range(arms):
                half_mean = (sums[arm] + rows[0, arm]) * (0.5 * width[arm])  # over the width
                index[arm] = (half_mean + root) * width[arm]
            chosen = argmax(index)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
        width[chosen] = math.sqrt(2.0 / pulls[chosen])
        renew(rows, logarithmic, noise, take(noise, arms), t, params)


@inlined
def renew(rows, logarithmic, noise, first, t, params):
    """Renew the noise of all sums of t items with the draws from `first` on."""
    arms, epsilon = logarithmic.size, part_epsilon(params)
    power, level = levels(t) - 1, 0  # 2^power is the last power of two
    is_power = t == 1 << power
    if params.counter == Counter.SINGLE:
        scale = (1.0 if is_power else math.log(t)) / epsilon
        for arm in range(arms):
            rows[0, arm] = noise.drawn[first + arm] * scale
    elif is_power:
        for arm in range(arms):
            logarithmic[arm] += noise.drawn[first + arm] / epsilon
            rows[0, arm] = logarithmic[arm]
        level = power
    else:
        while t >> level & 1 == 0:
            level += 1
        scale = power / epsilon
        for arm in range(arms):
            rows[0, arm] = rows[level, arm] + noise.drawn[first + arm] * scale
    for above in range(1, level + 1):
        for arm in range(arms):
            rows[above, arm] = rows[0, arm]
