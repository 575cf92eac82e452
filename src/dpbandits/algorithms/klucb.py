"""KL-UCB (Garivier and Cappe 2011, Algorithm 1 with c = 0), not private."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.kl import bernoulli_kl_upper

LABEL = "KL-UCB"


class Params(NamedTuple):
    """KL-UCB has no parameters."""


@inlined
def negative_entropy(p):
    """Return p log p + (1-p) log(1-p)."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return p * math.log(p) + (1.0 - p) * math.log1p(-p)


@inlined
def argmax_index(mean, entropy, pulls, log_t):
    """Return the arm of largest index max {q in [0, 1]: N d(mean, q) ≤ log t}, the first if tied.

    `mean`, `entropy` (negative) and `pulls` are float64 of shape (arms,). An index exceeds q > mean
    if and only if N d(mean, q) < log t. So an arm below the best index so far is recognised by its
    divergence from that index, and only the other indices are computed.
    """
    largest, best = -math.inf, 0
    log_q, log_1q = 0.0, 0.0  # log q and log(1-q) of q = largest
    for arm in range(mean.size):
        p, level = mean[arm], log_t / pulls[arm]
        # Skip only arms that are below by more than rounding errors; compare the indices otherwise.
        if p < largest and (
            entropy[arm] - p * log_q - (1.0 - p) * log_1q > level * (1.0 + 1e-9) + 1e-13
        ):
            continue
        index = bernoulli_kl_upper(p, level)
        if index > largest:
            largest, best = index, arm
            log_q = math.log(index)
            log_1q = math.log1p(-index) if index < 1.0 else -math.inf
    return best


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest index."""
    arms = number_of_arms(bandit)
    pulls = np.zeros(arms)
    sums = np.zeros(arms)
    mean = np.empty(arms)
    entropy = np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1 if t <= arms else argmax_index(mean, entropy, pulls, math.log(t))
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
        mean[chosen] = sums[chosen] / pulls[chosen]
        entropy[chosen] = negative_entropy(mean[chosen])
