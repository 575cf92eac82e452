"""KL-UCB (Garivier and Cappe 2011, Algorithm 1 with c = 0), not private."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.kl import bernoulli_kl_upper
from dpbandits.mechanisms.leader_runs import runs_ahead, window_end

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


@inlined
def largest_rival(mean, pulls, leader, log_t):
    """Return the largest index of the other arms."""
    largest = -math.inf
    for arm in range(mean.size):
        if arm != leader:
            largest = max(largest, bernoulli_kl_upper(mean[arm], log_t / pulls[arm]))
    return largest


@inlined
def stays_ahead(p, entropy, n, rival, log_t):
    """Return True if the index of mean p over n pulls exceeds the rival's by more than rounding."""
    if p >= rival or rival >= 1.0:
        return p > rival
    divergence = entropy - p * math.log(rival) - (1.0 - p) * math.log1p(-rival)
    return divergence < log_t / n * (1.0 - 1e-9) - 1e-13


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest index.

    A leader of two rounds is pulled as long as its index exceeds the largest that a rival can have
    in the next rounds: the same arms as if all indices were computed in every round.
    """
    arms = number_of_arms(bandit)
    pulls = np.zeros(arms)
    sums = np.zeros(arms)
    mean = np.empty(arms)
    entropy = np.empty(arms)
    leader = -1
    while playing(bandit):
        t = rounds_played(bandit) + 1
        log_t, rival, end = math.log(t), math.inf, t
        chosen = t - 1 if t <= arms else argmax_index(mean, entropy, pulls, log_t)
        if chosen == leader and runs_ahead(bandit):
            end = window_end(t)
            rival = largest_rival(mean, pulls, leader, math.log(end))
        leader = chosen
        ahead = True
        while ahead:
            sums[chosen] += pull(bandit, chosen)
            pulls[chosen] += 1.0
            mean[chosen] = sums[chosen] / pulls[chosen]
            entropy[chosen] = negative_entropy(mean[chosen])
            t += 1
            ahead = t <= end and playing(bandit)
            ahead = ahead and stays_ahead(
                mean[chosen], entropy[chosen], pulls[chosen], rival, log_t
            )
