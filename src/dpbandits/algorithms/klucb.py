"""KL-UCB (Garivier and Cappe 2011, Algorithm 1 with c = 0), not private."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import number_of_arms, playing, rounds_played
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.kl import (
    bernoulli_kl,
    bernoulli_kl_upper,
    larger_kl_upper,
    narrower,
    rounding_near_1,
    wider,
)
from dpbandits.mechanisms.exact import exact_sums
from dpbandits.mechanisms.leader_runs import (
    new_draws,
    pull_while_leading,
    runs_ahead,
    window_end,
)

LABEL = "KL-UCB"
STEPS = 3  # of the search for a mean at a divergence


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

    All arrays have shape (arms,); `entropy` is negative. An index exceeds q > mean if and only if
    N d(mean, q) < log t. So an arm below the largest index so far is recognised by its divergence
    from that index, and only the other indices are computed.
    """
    largest, best = -math.inf, 0
    log_q, log_1q = 0.0, 0.0  # log q and log(1-q) of q = largest
    for arm in range(mean.size):
        p, level = mean[arm], log_t / pulls[arm]
        if p < largest and entropy[arm] - p * log_q - (1.0 - p) * log_1q > wider(level):
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
            largest = larger_kl_upper(largest, mean[arm], log_t / pulls[arm])
    return largest


@inlined
def separate(mean, pulls, leader, log_t, between):
    """Set `between` to q, log q, log(1-q) and an error of the divergence at q.

    q is halfway between the leader's index, which must be the largest, and its largest rival's. All
    numbers are NaN if q is 1 up to rounding or there is no rival.
    """
    index = bernoulli_kl_upper(mean[leader], log_t / pulls[leader])
    q = 0.5 * (index + largest_rival(mean, pulls, leader, log_t))
    if not 0.0 < q < 1.0:
        q = math.nan
    between[0], between[1], between[2] = q, math.log(q), math.log1p(-q)
    between[3] = rounding_near_1(q)


@inlined
def still_leads(mean, entropy, pulls, leader, log_t, between):
    """Return True if q of `between` separates the leader's index from all others.

    An index exceeds q > mean if and only if N d(mean, q) < log t. With -H(mean) in `entropy`, this
    takes no logarithm. Rounding errors, ties and NaN can only make the answer False.
    """
    q, log_q, log_1q, error = between
    for arm in range(mean.size):
        p, level = mean[arm], log_t / pulls[arm]
        divergence = entropy[arm] - p * log_q - (1.0 - p) * log_1q
        if arm == leader:
            if not (p > q or divergence + error < narrower(level)):
                return False
        elif not (p < q and divergence - error > wider(level)):
            return False
    return True


@inlined
def least_mean(q, level):
    """Return p in [0, q] with d(p, q) ≤ level, for 0 < q < 1: the smallest, or slightly more.

    d(p, q) is convex in p, and at most the chi-squared distance, by which the first p is within the
    level. The tangent there leads to a point beyond the level; of the chord between both, which is
    above d, the point at the level is the next p.
    """
    if level >= -math.log1p(-q):  # d(0, q)
        return 0.0
    p = q - math.sqrt(level * q * (1.0 - q))
    for _ in range(STEPS):
        within = level - bernoulli_kl(p, q)
        slope = math.log(p / q) - math.log((1.0 - p) / (1.0 - q))
        if not (slope < 0.0 and within > 0.0):  # p is q up to rounding, or the smallest
            return p
        further = max(0.0, p + within / slope)
        beyond = bernoulli_kl(further, q) - level
        p -= (p - further) * within / (beyond + within)
    return p


@inlined
def line_ahead(rival, n, last, log_t):
    """Return m and c such that the leader's index exceeds `rival` while its sum S > m N - c.

    This holds for N from n to `last`. The index exceeds the rival's unless N d(S/N, rival) ≥ log t
    and S/N < rival. N d(S/N, rival) is convex in S and N, so that with two pairs (S, N) it is below
    log t on the whole chord, and beyond.
    """
    if rival >= 1.0:
        return math.inf, 0.0
    first_sum = n * least_mean(rival, narrower(log_t / n))
    last_sum = last * least_mean(rival, narrower(log_t / last))
    line = (last_sum - first_sum) / (last - n)
    return line, line * n - first_sum


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest index.

    No index is computed while one number separates the leader's from all others. Unless rounds are
    played one by one, a leader of two rounds is pulled as long as its index exceeds the largest
    that a rival can have in the next rounds. The arms are those of the largest indices all the
    same.
    """
    arms = number_of_arms(bandit)
    counters, draws = exact_sums(arms), new_draws()
    pulls = np.zeros(arms, np.int64)
    mean = np.empty(arms)
    entropy = np.empty(arms)
    between = np.full(4, math.nan)
    leader = -1
    while playing(bandit):
        t = rounds_played(bandit) + 1
        log_t, end = math.log(t), t
        chosen = t - 1 if t <= arms else leader
        if t > arms and not still_leads(mean, entropy, pulls, leader, log_t, between):
            chosen = argmax_index(mean, entropy, pulls, log_t)
            if chosen == leader:
                separate(mean, pulls, leader, log_t, between)
        line, bonus, n = math.inf, 0.0, pulls[chosen]
        if chosen == leader and runs_ahead(bandit):
            end = window_end(t)
            rival = largest_rival(mean, pulls, leader, math.log(end))
            line, bonus = line_ahead(rival, n, n + end - t + 1, log_t)
        leader = chosen
        pulls[chosen], total = pull_while_leading(
            bandit, counters, draws, rng, chosen, n, line, bonus, end
        )
        mean[chosen] = total / pulls[chosen]
        entropy[chosen] = negative_entropy(mean[chosen])
