"""Privacy of the whole sequence of arms, where the papers promise that of single rounds.

From below, for DP-FTPL: two games on two arms differ in the first reward of arm 1, which is 1 or 0.
All its other rewards are 0, those of arm 2 are `rate`. The number of pulls of arm 1 then has an
exact distribution in either game, and the sequence loses at least the smallest epsilon at which
these two are (epsilon, delta)-close. From above, for DP-UCB-INT: the composition of its releases.

`horizon`: T, rounds; `epsilon`, `delta`: the budget of a round; the result is an epsilon of the
sequence at `sequence_delta`, infinite if there is none.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.special import betainc, betaln, ndtr

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss, dp_ucb_int
from dpbandits.kernel.parameters import Delta, Positive, Probability, Rounds
from dpbandits.privacy.accounting import epsilon_between
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.theory.wang2024_privacy import Lemma15

MOST = 400  # further pulls of arm 1 that are told apart; more are one event
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)  # of a smooth piece of an integrand
ALIKE = 1e-5  # relative difference of scales that a closed form cannot bridge
DEVIATIONS = 9.0  # standard deviations of a Beta variable that are integrated
Chance = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def gauss_sequence_loss(
    horizon: Rounds, epsilon: Positive, delta: Probability, rate: Delta, sequence_delta: Delta
) -> float:
    """Return a lower bound on the loss of DP-FTPL-Gauss: theta_i ~ N(R_i/N_i, 2/N_i)."""

    def chance(r1: np.ndarray, n1: np.ndarray, r2: np.ndarray, n2: np.ndarray) -> np.ndarray:
        return np.asarray(ndtr((r1 / n1 - r2 / n2) / np.sqrt(2.0 / n1 + 2.0 / n2)))

    start = dp_ftpl_gauss.start(dp_ftpl_gauss.Params(epsilon, delta))
    return _loss(chance, start, horizon, rate, sequence_delta)


def beta_sequence_loss(
    horizon: Rounds, epsilon: Positive, delta: Probability, rate: Delta, sequence_delta: Delta
) -> float:
    """Return a lower bound on the loss of DP-FTPL-Beta: theta_i ~ B(R+1+k, N-R+1+k)."""

    def numbers(r: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = np.floor(n / 8.0) + 1.0
        return r + 1.0 + k, n - r + 1.0 + k

    def chance(r1: np.ndarray, n1: np.ndarray, r2: np.ndarray, n2: np.ndarray) -> np.ndarray:
        a, b = numbers(r1, n1)
        mean = a / (a + b)
        reach = DEVIATIONS * np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
        low, high = np.maximum(mean - reach, 1e-12), np.minimum(mean + reach, 1.0 - 1e-12)
        x, half = _nodes(low, mean), 0.5 * (mean - low)
        y, other = _nodes(mean, high), 0.5 * (high - mean)
        total = np.zeros(len(a))
        for points, size in ((x, half), (y, other)):
            log_density = (a - 1.0) * np.log(points) + (b - 1.0) * np.log1p(-points) - betaln(a, b)
            below = betainc(*numbers(r2, n2), points)
            total += size * (WEIGHTS @ (np.exp(log_density) * below))
        return total

    start = dp_ftpl_beta.start(dp_ftpl_beta.Params(epsilon, delta))
    return _loss(chance, start, horizon, rate, sequence_delta)


def new_sequence_loss(
    horizon: Rounds, epsilon: Positive, delta: Delta, rate: Delta, sequence_delta: Delta
) -> float:
    """Return a lower bound on the loss of DP-FTPL-New: theta_i = x_0 + X/N_i, X of Lemma 15."""
    radius, log_t = Lemma15(epsilon, delta).radius(horizon), math.log(horizon)
    # Tail a e^(-epsilon x) - b up to m, where it is 0.
    b = delta / math.expm1(epsilon)
    a = 0.5 + b
    m = math.log(a / b) / epsilon if b > 0.0 else math.inf
    steps = np.array([-m, 0.0, m])

    def above(z: np.ndarray) -> np.ndarray:
        tail = np.maximum(0.0, a * np.exp(-epsilon * np.minimum(np.abs(z), m)) - b)
        return np.where(z >= 0.0, tail, 1.0 - tail)

    def chance(r1: np.ndarray, n1: np.ndarray, r2: np.ndarray, n2: np.ndarray) -> np.ndarray:
        centre = [(r + radius) / n + np.sqrt(log_t / n) for r, n in ((r1, n1), (r2, n2))]
        behind = centre[1] - centre[0]
        if delta == 0.0:
            return _laplace_chance(behind, 1.0 / (epsilon * n1), 1.0 / (epsilon * n2))
        # The integrand is smooth between the kinks of the density of X_2 and of the tail of X_1.
        kinks = [n2 * (end / n1 - behind) for end in steps]
        ends = np.sort(np.clip([*kinks, *np.outer(steps, np.ones(len(n1)))], -m, m), axis=0)
        total = np.zeros(len(n1))
        for low, high in pairwise(ends):
            x = _nodes(low, high)
            density = a * epsilon * np.exp(-epsilon * np.abs(x))
            total += 0.5 * (high - low) * (WEIGHTS @ (density * above(n1 * (behind + x / n2))))
        return total

    return _loss(chance, 1.0, horizon, rate, sequence_delta)


def int_sequence_bound(
    horizon: Rounds, epsilon: Positive, delta: Probability, sequence_delta: Delta
) -> float:
    """Return the epsilon to which the releases of DP-UCB-INT compose, on two arms."""
    releases = dp_ucb_int.releases(dp_ucb_int.Params(epsilon, delta), 2, horizon)
    return composed_epsilon(releases, sequence_delta)


def _laplace_chance(d: np.ndarray, s: np.ndarray, r: np.ndarray) -> np.ndarray:
    # P[X - Y > d] for Laplace variables of scales s and r.
    z, alike = np.abs(d), np.abs(s - r) <= ALIKE * s
    same = 0.25 * np.exp(-z / s) * (2.0 + z / s)
    divided = np.where(alike, 1.0, 2.0 * (s * s - r * r))
    other = (s * s * np.exp(-z / s) - r * r * np.exp(-z / r)) / divided
    tail = np.where(alike, same, other)
    return np.where(d >= 0.0, tail, 1.0 - tail)


def _nodes(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    # Points of the rule of Gauss and Legendre, (points, intervals).
    return 0.5 * (high + low) + 0.5 * (high - low) * NODES[:, None]


def _loss(chance: Chance, start: float, horizon: int, rate: float, delta: float) -> float:
    first = math.ceil(max(start, 1.0))
    if 2 * first >= horizon:
        return 0.0  # the start phase takes all rounds
    p, q = (_pulls(chance, first, horizon, changed, rate) for changed in (0.0, 1.0))
    with np.errstate(divide="ignore"):  # an outcome that cannot occur
        return epsilon_between(np.log(p), np.log(q), delta)


def _pulls(chance: Chance, first: int, horizon: int, changed: float, rate: float) -> np.ndarray:
    # The law of min{further pulls of arm 1, MOST}, (MOST + 1,), after `first` pulls of each arm.
    further = np.arange(MOST + 1.0)
    law = np.zeros(MOST + 1)
    law[0] = 1.0
    for t in range(2 * first, horizon):
        reached = min(t - 2 * first, MOST - 1) + 1
        n1 = first + further[:reached]
        n2 = t - n1
        moved = law[:reached] * chance(np.full(reached, changed), n1, rate * n2, n2)
        law[:reached] -= moved
        law[1 : reached + 1] += moved
    return law.clip(0.0)
