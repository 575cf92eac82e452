"""Lemmas and remarks of azize2022, evaluated exactly where that is possible.

`epsilon`: the budget of global DP; `delta`: the failure probability of an index, t^-alpha in round
t; logarithms are natural. Rewards are Bernoulli, the noise of a mean of n rewards is Lap(1/(n
epsilon)).
"""

import math

import numpy as np

from dpbandits.algorithms import adap_ucb, dp_se
from dpbandits.kernel.parameters import Arms, Fraction, Positive, Probability, Rounds
from dpbandits.theory import azize2022

PULLS = tuple(2**k for k in range(11))  # lengths of episodes
MEANS = tuple(k / 20 for k in range(1, 20))
BUDGETS = (0.01, 0.1, 1.0, 10.0)
NO_DIGITS = 1e-12  # of an x of which 1 - x is known


def lemma_3_ratio(delta: Probability) -> float:
    """Return the largest P[index (7) <= mu]/delta over PULLS, MEANS, BUDGETS; (24) allows 3/2."""
    return max(
        _at_most(mean, n, epsilon, mean - math.sqrt(-math.log(delta) / (2.0 * n)), delta) / delta
        for n in PULLS
        for mean in MEANS
        for epsilon in BUDGETS
    )


def lemma_4_ratio(delta: Probability) -> float:
    """Return the largest P[index (8) <= mu]/delta over the same; (28) allows 3/2.

    The index is at most mu if and only if the clipped mean is at most the x < mu with d(x, mu) =
    log(1/delta)/n.
    """
    ratios = []
    for n in PULLS:
        for mean in MEANS:
            x = azize2022._below(mean, -math.log(delta) / n)
            if x > NO_DIGITS:  # else every x is within the level, and the index never fails
                ratios += [_at_most(mean, n, epsilon, x, delta) / delta for epsilon in BUDGETS]
    return max(ratios, default=0.0)


def _at_most(mean: float, n: int, epsilon: float, limit: float, delta: float) -> float:
    # P[mean of n rewards + Lap(1/(n epsilon)) + log(1/delta)/(n epsilon) <= limit].
    from scipy.stats import binom  # late: scipy takes long to import

    successes = np.arange(n + 1)
    distance = n * epsilon * (limit - successes / n) + math.log(delta)
    tail = 0.5 * np.exp(-np.abs(distance))
    return float(binom.pmf(successes, n, mean) @ np.where(distance < 0.0, tail, 1.0 - tail))


def lemma_2_ratio(epsilon: Positive, distance: Fraction) -> float:
    """Return the privacy loss of one sample over what Theorem 9 and Lemma 2 allow, at delta = 0.

    The mechanism is randomised response to one sample, which is 1 with probability `distance` or
    always 0: at total variation TV its answer 1 is 1 + TV (e^epsilon - 1) times as likely, and e^(6
    epsilon TV) times are allowed.
    """
    return math.log1p(distance * math.expm1(epsilon)) / (6.0 * epsilon * distance)


def lemma_2_limit() -> float:
    """Return the largest epsilon at which `lemma_2_ratio` is at most 1 at every distance.

    It solves e^x - 1 = 6 x: log(1 + TV (e^epsilon - 1)) is TV (e^epsilon - 1) for small TV, and
    smaller for large.
    """
    from scipy.special import lambertw  # late: scipy takes long to import

    return float(-lambertw(-math.exp(-1.0 / 6.0) / 6.0, -1).real - 1.0 / 6.0)


def theorem_10_ratio(epsilon: Positive, distance: Fraction) -> float:
    """Return the divergence of Theorem 10 over its bound, for one round of the same mechanism.

    The policy answers with an arm; KL(M_P, M_Q) for P = Bernoulli(`distance`), Q = Bernoulli(0).
    """
    lie = 1.0 / (1.0 + math.exp(epsilon))
    p = lie + distance * (1.0 - 2.0 * lie)
    divergence = p * math.log(p / lie) + (1.0 - p) * math.log((1.0 - p) / (1.0 - lie))
    return divergence / (6.0 * epsilon * distance)


def adap_private_means(arms: Arms, horizon: Rounds) -> float:
    """Return the largest number of private means of AdaP-UCB and AdaP-KLUCB (Table 1)."""
    return float(sum(1 for _ in adap_ucb.releases(adap_ucb.Params(1.0), arms, horizon)))


def dp_se_private_means(arms: Arms, horizon: Rounds, epsilon: Positive) -> float:
    """Return the largest number of private means of DP-SE (Table 1)."""
    return float(sum(1 for _ in dp_se.epochs(dp_se.Params(epsilon, horizon), arms, horizon)))
