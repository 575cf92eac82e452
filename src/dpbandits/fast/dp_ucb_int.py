"""DP-UCB-INT in runs of the leader, with the same draws.

x^ of the arm that is pulled is constant up to its next release, and those of the waiting arms grow
with t. An arm that is overtaken before its release therefore stays behind, and bisection finds the
last round of its lead.
"""

import math
from typing import Any

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.dp_ucb_int import Noise, input_epsilon, next_interval
from dpbandits.kernel.bandit import (
    number_of_arms,
    playing,
    pull,
    pull_each,
    rounds_left,
    rounds_played,
)
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.mechanisms.laplace import laplace


def covers(params: Any) -> bool:
    """Return True if the noise of a mean is drawn once."""
    return bool(params.noise != Noise.EVERY_ROUND)


@inlined
def leader(x, private_mean, pulls, waits, t):
    """Update x^ of the waiting arms to round t and return the arm of largest x^.

    All arrays have shape (arms,): `x`, `private_mean` float64, `pulls` int64, `waits` bool.
    """
    log_t = math.log(t)
    for arm in range(x.size):
        if waits[arm]:
            x[arm] = private_mean[arm] + math.sqrt(2.0 * log_t / pulls[arm])
    return argmax(x)


@inlined
def rounds_in_the_lead(x, private_mean, pulls, waits, chosen, t, most):
    """Return the number of rounds, from t on and at most `most`, in which `chosen` leads."""
    ahead, behind, step = 1, most + 1, most
    while behind - ahead > 1:
        if leader(x, private_mean, pulls, waits, t + step - 1) == chosen:
            ahead = step
        else:
            behind = step
        step = (ahead + behind) // 2
    return ahead


@kernel
def play(params, bandit, rng):
    """Pull the arms in turn up to their first release, then the arm of largest x^."""
    epsilon, arms = input_epsilon(params), number_of_arms(bandit)
    first = next_interval(params, epsilon, 0, 1)
    sums = pull_each(bandit, np.arange(arms), first)
    pulls, interval, release = np.full(arms, first), np.full(arms, first), np.full(arms, first)
    waits = np.zeros(arms, np.bool_)
    private_mean, x = np.empty(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        for arm in range(arms):
            n = pulls[arm]
            if n == release[arm]:
                interval[arm] = next_interval(params, epsilon, n, interval[arm])
                release[arm] = n + interval[arm]
                noise = laplace(rng, 1.0 / n, math.pow(n, -params.v / 2.0))
                private_mean[arm] = sums[arm] / n + noise
                waits[arm] = True
        chosen = leader(x, private_mean, pulls, waits, t)
        waits[chosen] = False
        if params.noise == Noise.FROZEN:
            waits[:] = False
        most = min(release[chosen] - pulls[chosen], rounds_left(bandit))
        n = rounds_in_the_lead(x, private_mean, pulls, waits, chosen, t, most)
        for _ in range(n):
            sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += n
