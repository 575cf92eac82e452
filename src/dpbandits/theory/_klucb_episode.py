"""Length of the last episode in which AdaP-KLUCB may pull a poor arm (azize2022, Theorem 8)."""

import math
from functools import lru_cache

from dpbandits.core.kl import bernoulli_kl


@lru_cache(2**16)  # a sentence about four figures is judged with each of them
def length_of_episode(
    mean: float, best: float, horizon: int, epsilon: float, alpha: float
) -> float:
    """Return 2^l, the rewards of the first episode for which some beta satisfies (35) and (36)."""
    # c(beta) grows with beta, so the best beta is the largest one in (35). Then
    # mu_a + c Delta_a is the x below mu* with d(x, mu*) = alpha log T / 2^l, and mu_a + gamma
    # Delta_a is the y above mu_a with d(y, mu_a) = log T / 2^l. (36) becomes
    # x - (1 + alpha) log T / (epsilon 2^l) >= y: the left side is above mu_a and has at least the
    # divergence log T / 2^l from it.
    divergence = bernoulli_kl(mean, best)
    rewards = 1.0
    while True:
        level = math.log(horizon) / rewards
        private = (1.0 + alpha) * level / epsilon
        # The left side with x = mu*, above which x cannot lie, spares most of the slow bisections.
        largest = (1.0 - (1.0 - best)) - private  # mu* as x is rounded: 1 - q for q >= 1 - mu*
        possible = largest >= mean and bernoulli_kl(largest, mean) >= level
        if possible and alpha * level < divergence:  # otherwise x is not above mu_a, or too near
            x = 1.0 - _above(1.0 - best, alpha * level)
            left = x - private
            if left >= mean and bernoulli_kl(left, mean) >= level:
                return rewards
        rewards *= 2.0


def _above(p: float, level: float) -> float:
    # Returns max {q in [p, 1]: d(q, p) <= level}, to the last digit.
    low, high = p, 1.0
    while low < (middle := 0.5 * (low + high)) < high:
        if bernoulli_kl(middle, p) <= level:
            low = middle
        else:
            high = middle
    return low
