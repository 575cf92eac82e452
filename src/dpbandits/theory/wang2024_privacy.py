"""Perturbed distributions of wang2024, Figs. 1 to 3, and the conditions of Lemma 8 on them.

Distributions are functions of `x`. `pulls`: N_i; `successes`: R_i. F is the CDF of theta_i, F' that
of its neighbour, in which one observation is 1 instead of 0. The region holds the values of F' that
Lemma 8 allows at (`epsilon`, `delta`): both inequalities in both directions, because the neighbour
relation is symmetric. The functions raise UserError if R > N, if the neighbour would have more than
N successes, or if Lemma 15 is evaluated at epsilon = delta = 0.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Annotated

from scipy.special import betainc, erfcx

from dpbandits.core.parameters import Budget, Constraint, Delta, Probability, Rounds
from dpbandits.theory import _perturbations as perturbed

Successes = Annotated[int, Constraint(lambda n: n >= 0, "a whole number, 0 or more")]


def gauss_cdf(x: float, pulls: Rounds, successes: Successes) -> float:
    """Return F of DP-FTPL-Gauss: Normal(R/N, variance 2/N)."""
    return perturbed.gauss(x, pulls, successes).below


def gauss_neighbour_cdf(x: float, pulls: Rounds, successes: Successes) -> float:
    """Return F' of DP-FTPL-Gauss: R + 1 successes."""
    return gauss_cdf(x, pulls, perturbed.changed(pulls, successes))


def gauss_region_low(
    x: float, pulls: Rounds, successes: Successes, epsilon: Budget, delta: Delta
) -> float:
    """Return max{0, (F - delta)/e^epsilon, 1 - e^epsilon (1 - F) - delta} for DP-FTPL-Gauss."""
    return perturbed.gauss(x, pulls, successes).lowest(epsilon, delta)


def gauss_region_high(
    x: float, pulls: Rounds, successes: Successes, epsilon: Budget, delta: Delta
) -> float:
    """Return min{1, e^epsilon F + delta, 1 - (1 - F - delta)/e^epsilon} for DP-FTPL-Gauss."""
    return perturbed.gauss(x, pulls, successes).highest(epsilon, delta)


def gauss_smallest_delta(pulls: Rounds, epsilon: Budget) -> float:
    """Return the smallest delta at which Lemma 8 holds for DP-FTPL-Gauss after N pulls.

    The means are s = 1/sqrt(2N) standard deviations apart, so that it is Phi(s/2 - epsilon/s) -
    e^epsilon Phi(-s/2 - epsilon/s). It falls with N. The relative rounding error is about
    10^-14 sqrt(N).
    """
    # Phi(-z) = e^(-z^2/2) erfcx(z/sqrt 2)/2, so that e^epsilon cancels.
    s = 1.0 / math.sqrt(2.0 * pulls)
    z = epsilon / s - 0.5 * s
    scaled = erfcx(z / math.sqrt(2.0)) - erfcx((z + s) / math.sqrt(2.0))
    return 0.5 * math.exp(-0.5 * z * z) * float(scaled)


def gauss_smallest_start(epsilon: Budget, delta: Probability) -> float:
    """Return the smallest number of pulls from which on Lemma 8 holds for DP-FTPL-Gauss."""
    return _fewest(lambda pulls: gauss_smallest_delta(pulls, epsilon) <= delta)


def beta_cdf(x: float, pulls: Rounds, successes: Successes, with_k: bool) -> float:
    """Return F of DP-FTPL-Beta: Beta(R + 1 + k, N - R + 1 + k).

    k = floor(N/8) + 1, or 0 if `with_k` is False.
    """
    return perturbed.beta(x, pulls, successes, with_k).below


def beta_neighbour_cdf(x: float, pulls: Rounds, successes: Successes, with_k: bool) -> float:
    """Return F' of DP-FTPL-Beta: R + 1 successes."""
    return beta_cdf(x, pulls, perturbed.changed(pulls, successes), with_k)


def beta_region_low(
    x: float, pulls: Rounds, successes: Successes, with_k: bool, epsilon: Budget, delta: Delta
) -> float:
    """Return the lower end of the region for DP-FTPL-Beta."""
    return perturbed.beta(x, pulls, successes, with_k).lowest(epsilon, delta)


def beta_region_high(
    x: float, pulls: Rounds, successes: Successes, with_k: bool, epsilon: Budget, delta: Delta
) -> float:
    """Return the upper end of the region for DP-FTPL-Beta."""
    return perturbed.beta(x, pulls, successes, with_k).highest(epsilon, delta)


def beta_smallest_delta(pulls: Rounds, epsilon: Budget, with_k: bool) -> float:
    """Return the smallest delta at which Lemma 8 holds for DP-FTPL-Beta after N pulls, for any R.

    The worst R is 0 (or N - 1), where F = I_x(a, b+1) and F' = I_x(a+1, b). Their densities' ratio
    a (1-x)/(b x) falls with x, so F - e^epsilon F' is largest where that ratio is e^epsilon. The
    delta falls with N: with k to 0, without k to 1/e at epsilon = 0 and to .1633 at epsilon = 1.
    """
    k = perturbed.extra(pulls, with_k)
    a, b = 1 + k, pulls + k
    x = a * math.exp(-epsilon) / (a * math.exp(-epsilon) + b)
    outside = betainc(a, b + 1, x) - perturbed.factor(epsilon) * betainc(a + 1, b, x)
    return max(0.0, float(outside))


def beta_smallest_start(epsilon: Budget, delta: Probability) -> float:
    """Return the smallest number of pulls from which on Lemma 8 holds for DP-FTPL-Beta, with k."""
    return _fewest(lambda pulls: beta_smallest_delta(pulls, epsilon, True) <= delta)


def new_cdf(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return F of DP-FTPL-New: Lemma 15 with the x_0 of Algorithm 3.

    x_0 = R/N + sqrt(log T/N) + radius/N, with the radius of Theorem 16.
    """
    return perturbed.shifted(x, pulls, successes, horizon, epsilon, delta).below


def new_neighbour_cdf(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return F' of DP-FTPL-New: R + 1 successes."""
    return new_cdf(x, pulls, perturbed.changed(pulls, successes), horizon, epsilon, delta)


def new_region_low(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return the lower end of the region, at the budget of the distribution, for DP-FTPL-New."""
    tails = perturbed.shifted(x, pulls, successes, horizon, epsilon, delta)
    return tails.lowest(epsilon, delta)


def new_region_high(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return the upper end of the region, at the budget of the distribution, for DP-FTPL-New."""
    tails = perturbed.shifted(x, pulls, successes, horizon, epsilon, delta)
    return tails.highest(epsilon, delta)


def new_smallest_delta(pulls: Rounds, epsilon: Budget, delta: Delta) -> float:
    """Return the smallest delta at which Lemma 8 holds for DP-FTPL-New with `epsilon` and `delta`.

    It is `delta` itself up to 1/2, and above that 1 - e^-epsilon ((e^epsilon - 1)/(4 delta)
    + 1 - delta), which is smaller. Neighbours are 1/N apart and the distribution scales with 1/N,
    so `pulls` has no effect; the argument is there to plot the function beside the others.
    """
    perturbed.check_budget(epsilon, delta, "Lemma 15")
    if delta <= 0.5:
        return delta
    return 1.0 + math.expm1(-epsilon) / (4.0 * delta) - math.exp(-epsilon) * (1.0 - delta)


def _fewest(enough: Callable[[int], bool]) -> float:
    # Bisection: the smallest delta falls with the pulls, so more pulls than enough are enough.
    high = 1
    while not enough(high):
        high *= 2
    return float(bisect_left(range(high), True, lo=high // 2 + 1, key=enough))
