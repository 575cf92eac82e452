"""Error of the sums that the counters of tossou2016 release: the bound (2.2), and the exact error.

`items`: n, the number of items; `epsilon`: the budget; `exponent`: b, as the failure probability is
gamma = n^-b. Logarithms are natural. A function whose name ends in `exact` returns the size that
the error exceeds with probability gamma; it depends on no item.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpbandits.algorithms.dp_ucb_bound import Counter
from dpbandits.kernel.parameters import Count, Positive, Rounds

Noises = Sequence[tuple[int, float]]  # number of independent Laplace variables, and their scale


def error_bound(items: Rounds, epsilon: Positive, exponent: Positive) -> float:
    """Return (2.2), sqrt(8)/epsilon log(4/gamma) (log n + 1)."""
    log_of_gamma = math.log(4.0) + exponent * math.log(items)
    return math.sqrt(8.0) / epsilon * log_of_gamma * (math.log(items) + 1.0)


def error_bound_base_2(items: Rounds, epsilon: Positive, exponent: Positive) -> float:
    """Return (2.2) with log n to base 2: the appendix has ln(4/gamma) beside log n."""
    log_of_gamma = math.log(4.0) + exponent * math.log(items)
    return math.sqrt(8.0) / epsilon * log_of_gamma * (math.log2(items) + 1.0)


def error_bound_quoted(items: Rounds, epsilon: Positive, exponent: Positive) -> float:
    """Return log(1/gamma) log^1.5 n/epsilon, the bound of Chan, Shi and Song in section 2.3."""
    return exponent * math.log(items) ** 2.5 / epsilon


def tighter_from(exponent: Positive) -> float:
    """Return the smallest n from which on (2.2) is below the quoted bound; found in [8, 2^60].

    The quotient of the two bounds falls with n there.
    """
    low, high = 8, 2**60
    while low < high:
        n = (low + high) // 2
        if error_bound(n, 1.0, exponent) < error_bound_quoted(n, 1.0, exponent):
            high = n
        else:
            low = n + 1
    return float(low)


def error_exceeds_from(exponent: Positive, parts: Count) -> float:
    """Return the smallest n = 2^k - 1 < 2^40 at which the error exceeds (2.2); inf if none does.

    Each of the two parts of the counter has epsilon/`parts`, for 1 or 2.
    """
    counter = {1: Counter.HYBRID_FULL, 2: Counter.HYBRID_SPLIT}[parts]
    for k in range(2, 40):
        n = 2**k - 1
        if error_exact(n, 1.0, exponent, counter) > error_bound(n, 1.0, exponent):
            return float(n)
    return math.inf


def error_exact(items: Rounds, epsilon: Positive, exponent: Positive, counter: Counter) -> float:
    """Return the size that the error exceeds with probability gamma, by its exact distribution."""
    from scipy.optimize import brentq  # late: scipy takes long to import

    log_gamma, noises = -exponent * math.log(items), _noises(items, counter)
    if log_gamma == 0.0:
        return 0.0  # one item, whose gamma is 1
    high = 1.0
    while _log_of_both_tails(noises, high) > log_gamma:
        high *= 2.0
    size = brentq(lambda x: _log_of_both_tails(noises, x) - log_gamma, 0.0, high)
    return float(size) / epsilon


def _noises(items: int, counter: Counter) -> Noises:
    # The noise of the sum of n = 2^k + r items at epsilon = 1: see mechanisms/counters.py.
    k = items.bit_length() - 1
    r = items - (1 << k)
    if counter == Counter.SINGLE:
        return [(1, math.log(items) if r else 1.0)]
    parts = 2.0 if counter == Counter.HYBRID_SPLIT else 1.0
    tree = [(r.bit_count(), parts * k)] if r else []
    return [(k + 1, parts), *tree]


def _log_of_both_tails(noises: Noises, x: float) -> float:
    # log P[|X| > x] = log 2 P[X > x] for x >= 0 and a symmetric sum X of Laplace variables, whose
    # moment generating function is M(s) = prod (1 - b^2 s^2)^-count:
    #
    #     P[X > x] = 1/pi int_0^inf Re[M(s) e^(-s x)/s] dy    on any line s = c + iy, 0 < c < 1/b.
    #
    # The line through the saddle point of the integrand keeps small probabilities exact.
    if len(noises) == 1 and noises[0][0] == 1:
        return -x / noises[0][1]
    if x == 0.0:
        return 0.0
    low, high = 0.0, 1.0 / max(scale for _, scale in noises)
    for _ in range(50):
        c = 0.5 * (low + high)
        slope = -x - 1.0 / c
        for count, scale in noises:
            slope += 2.0 * count * scale * scale * c / (1.0 - (scale * c) ** 2)
        low, high = (c, high) if slope < 0.0 else (low, c)
    curvature = 1.0 / (c * c)
    for count, scale in noises:
        square = (scale * c) ** 2
        curvature += 2.0 * count * scale * scale * (1.0 + square) / (1.0 - square) ** 2
    # y = w sinh u makes the trapezoidal rule converge exponentially.
    u = np.linspace(0.0, 8.0, 1200)
    width = 1.0 / math.sqrt(curvature)
    s = c + 1j * width * np.sinh(u)
    log_m = -s * x - np.log(s)
    for count, scale in noises:
        log_m -= count * np.log1p(-((scale * s) ** 2))
    largest = log_m[0].real
    values = np.real(np.exp(log_m - largest)) * width * np.cosh(u)
    integral = (u[1] - u[0]) * (values.sum() - 0.5 * values[0])
    return largest + math.log(2.0 * integral / math.pi)
