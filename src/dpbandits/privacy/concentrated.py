"""Zero-concentrated DP (zCDP; Bun and Steinke 2016), and what it implies as (epsilon, delta)-DP.

A mechanism is rho-zCDP if the Rényi divergence of every order alpha > 1 between its outputs on
neighbouring tables is at most rho alpha. The rho of releases that read a common reward add up, also
if later ones depend on earlier ones (Lemma 1.7); releases of disjoint rewards compose in parallel.
"""

import math
from collections.abc import Callable

ORDERS = (1e-9, 1e9)  # of alpha - 1, among which the best is searched
BISECTIONS = 200  # more than the 53 bits of a float need, over any range of epsilon


def classical_epsilon(rho: float, delta: float) -> float:
    """Return rho + 2 sqrt(rho log(1/delta)): Bun and Steinke 2016, Proposition 1.3."""
    if rho == 0.0:
        return 0.0
    return rho + 2.0 * math.sqrt(-rho * math.log(delta)) if delta > 0.0 else math.inf


def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return an epsilon such that every rho-zCDP mechanism is (epsilon, delta)-DP.

    The bound of Canonne, Kamath and Steinke (2020, Proposition 12) at its best order alpha. It is
    less than `classical_epsilon`, and infinite at delta = 0 unless rho = 0.
    """
    if rho == 0.0 or delta >= 1.0:
        return 0.0
    if delta <= 0.0 or math.isinf(rho):
        return math.inf
    from scipy.optimize import minimize_scalar  # imported late: scipy takes long to import

    def at(log_order: float) -> float:  # of alpha - 1
        less = math.exp(log_order)
        # log(1 - 1/alpha) and log(1/(alpha delta)), with alpha = 1 + less
        gained = math.log(less) - math.log1p(less)
        return rho * (1.0 + less) + gained - (math.log1p(less) + math.log(delta)) / less

    low, high = map(math.log, ORDERS)
    found = minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    return max(0.0, min(float(found.fun), classical_epsilon(rho, delta)))


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Return the least delta at which Gaussian releases of rho in total are (epsilon, delta)-DP.

    Balle and Wang 2018, Theorem 8, with mu = sqrt(2 rho) standard deviations between the means.
    Composed Gaussian releases lose what one of their total rho does (Dong, Roth and Su 2022,
    Corollary 3.3).
    """
    if rho == 0.0:
        return 0.0
    from scipy.special import log_ndtr  # imported late: scipy takes long to import

    mu = math.sqrt(2.0 * rho)
    more = math.exp(float(log_ndtr(mu / 2.0 - epsilon / mu)))
    return max(0.0, more - math.exp(epsilon + float(log_ndtr(-mu / 2.0 - epsilon / mu))))


def gaussian_epsilon(rho: float, delta: float) -> float:
    """Return the least epsilon at which Gaussian releases of rho are (epsilon, delta)-DP."""
    high = epsilon_of_rho(rho, delta)
    if math.isinf(high):
        return high
    return _least(lambda epsilon: gaussian_delta(rho, epsilon) <= delta, high)


def rho_of_gaussian(epsilon: float, delta: float) -> float:
    """Return the largest rho at which Gaussian releases are (epsilon, delta)-DP; delta > 0."""
    high = 1.0
    while gaussian_delta(high, epsilon) <= delta:
        high *= 2.0
    return _least(lambda rho: gaussian_delta(rho, epsilon) > delta, high)


def _least(holds: Callable[[float], bool], high: float) -> float:
    # The least number of [0, high] from which on a monotone condition holds, to the last bits.
    low = 0.0
    if holds(low):
        return low
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
