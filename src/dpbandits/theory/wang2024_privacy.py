"""Perturbed distributions of wang2024, Figs. 1 to 3, and the conditions of Lemma 8 on them.

Distributions are functions of `x`. `pulls`: N_i; `successes`: R_i. F is the CDF of theta_i, F' that
of its neighbour, in which one observation is 1 instead of 0. The region holds the values of F' that
Lemma 8 allows at (`epsilon`, `delta`): both inequalities in both directions, because the neighbour
relation is symmetric. The functions raise UserError if R > N, if the neighbour would have more than
N successes, or if Lemma 15 is evaluated at epsilon = delta = 0.
"""

import math
from collections.abc import Callable
from typing import Annotated

from dpbandits.core.parameters import Budget, Constraint, Delta, Probability, Rounds
from dpbandits.theory import _perturbations as perturbed

Successes = Annotated[int, Constraint(lambda n: n >= 0, "a whole number, 0 or more")]

# DP-FTPL-Gauss, Fig. 1 ---------------------------------------------------------------------------


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
    return perturbed.lowest(perturbed.gauss(x, pulls, successes), epsilon, delta)


def gauss_region_high(
    x: float, pulls: Rounds, successes: Successes, epsilon: Budget, delta: Delta
) -> float:
    """Return min{1, e^epsilon F + delta, 1 - (1 - F - delta)/e^epsilon} for DP-FTPL-Gauss."""
    return perturbed.highest(perturbed.gauss(x, pulls, successes), epsilon, delta)


def gauss_smallest_delta(pulls: Rounds, epsilon: Budget) -> float:
    """Return the smallest delta at which Lemma 8 holds for DP-FTPL-Gauss after N pulls.

    It falls with N. The formula is exact; the relative rounding error is about 10^-14 sqrt(N).
    """
    return perturbed.gauss_delta(pulls, epsilon)


def gauss_start(epsilon: Budget, delta: Probability) -> float:
    """Return N_G* = min{1/(4 pi delta^2), log(e/(4 pi delta^2))/epsilon^2}, but at least 1.

    It is not rounded. At epsilon = 0 it is the first term. The second term is negative for
    delta > sqrt(e/(4 pi)) = .465.
    """
    without_epsilon = (1.0 / delta) * (1.0 / delta) / (4.0 * math.pi)
    if epsilon == 0.0:
        return max(1.0, without_epsilon)
    log = 1.0 - math.log(4.0 * math.pi) - 2.0 * math.log(delta)
    return max(1.0, min(without_epsilon, log / epsilon / epsilon))  # no underflow of the square


def gauss_smallest_start(epsilon: Budget, delta: Probability) -> float:
    """Return the smallest number of pulls from which on Lemma 8 holds for DP-FTPL-Gauss."""
    return _fewest(lambda pulls: perturbed.gauss_delta(pulls, epsilon) <= delta)


# DP-FTPL-Beta, Fig. 2 ----------------------------------------------------------------------------


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
    """Return the lower end of the region, as `gauss_region_low`, for DP-FTPL-Beta."""
    return perturbed.lowest(perturbed.beta(x, pulls, successes, with_k), epsilon, delta)


def beta_region_high(
    x: float, pulls: Rounds, successes: Successes, with_k: bool, epsilon: Budget, delta: Delta
) -> float:
    """Return the upper end of the region, as `gauss_region_high`, for DP-FTPL-Beta."""
    return perturbed.highest(perturbed.beta(x, pulls, successes, with_k), epsilon, delta)


def beta_smallest_delta(pulls: Rounds, epsilon: Budget, with_k: bool) -> float:
    """Return the smallest delta at which Lemma 8 holds for DP-FTPL-Beta after N pulls, for any R.

    It falls with N: with k to 0, without k to 1/e at epsilon = 0 and to .1633 at epsilon = 1.
    """
    return perturbed.beta_delta(pulls, epsilon, with_k)


def beta_start(epsilon: Budget, delta: Probability) -> float:
    """Return N_B*, not rounded; at epsilon = 0 without the second term of the minimum.

    max{min{40 e/(9 pi delta^2), 8000 log(e/(2 pi delta^2))/(81 epsilon^2)}, 1000 e/(9 pi)}.
    """
    least = 1000.0 * math.e / (9.0 * math.pi)
    without_epsilon = 40.0 * math.e / (9.0 * math.pi) * (1.0 / delta) * (1.0 / delta)
    if epsilon == 0.0:
        return max(without_epsilon, least)
    log = 1.0 - math.log(2.0 * math.pi) - 2.0 * math.log(delta)
    return max(min(without_epsilon, 8000.0 * log / 81.0 / epsilon / epsilon), least)


def beta_smallest_start(epsilon: Budget, delta: Probability) -> float:
    """Return the smallest number of pulls from which on Lemma 8 holds for DP-FTPL-Beta, with k."""
    return _fewest(lambda pulls: perturbed.beta_delta(pulls, epsilon, True) <= delta)


# DP-FTPL-New, Fig. 3 -----------------------------------------------------------------------------


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
    """Return the lower end of the region for DP-FTPL-New, as `gauss_region_low`.

    `epsilon` and `delta` are also those of the distribution.
    """
    tails = perturbed.shifted(x, pulls, successes, horizon, epsilon, delta)
    return perturbed.lowest(tails, epsilon, delta)


def new_region_high(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return the upper end of the region for DP-FTPL-New, as `gauss_region_high`."""
    tails = perturbed.shifted(x, pulls, successes, horizon, epsilon, delta)
    return perturbed.highest(tails, epsilon, delta)


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
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)
