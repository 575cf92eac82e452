"""Perturbed distributions of wang2024, Figs. 1 to 3, and the conditions of Lemma 8 on them.

Distributions are functions of `x`. `pulls`: N_i; `successes`: R_i, the number of pulls with reward
1. F is the CDF of theta_i, F' that of its neighbour, in which one observation is 1 instead of 0.
The region holds the values of F' that Lemma 8 allows at (`epsilon`, `delta`): both inequalities in
both directions, because the neighbour relation is symmetric. The functions raise UserError if a
distribution has more successes than pulls, or for Lemma 15 at epsilon = delta = 0.

Ratios of e^epsilon - 1 and 1 are those of p = 1 - e^-epsilon and q = e^-epsilon: this way there is
no overflow, and no cancellation near epsilon = 0.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from scipy.special import betainc, betaincc, erfcx

from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Budget, Constraint, Delta, Probability, Rounds

Successes = Annotated[int, Constraint(lambda n: n >= 0, "a whole number, 0 or more")]


class Tails(NamedTuple):
    """F(x) and 1 - F(x), kept apart so that the smaller one keeps its digits."""

    below: float
    above: float

    def lowest(self, epsilon: float, delta: float) -> float:
        """Return the least F' >= 0 with F <= e^eps F' + delta, 1 - F' <= e^eps (1 - F) + delta."""
        by_f = (self.below - delta) * math.exp(-epsilon)
        return max(0.0, by_f, 1.0 - _factor(epsilon) * self.above - delta)

    def highest(self, epsilon: float, delta: float) -> float:
        """Return the largest F' <= 1, F' <= e^eps F + delta, 1 - F <= e^eps (1 - F') + delta."""
        by_survival = -math.expm1(-epsilon) + (self.below + delta) * math.exp(-epsilon)
        return min(1.0, by_survival, _factor(epsilon) * self.below + delta)


@dataclass(frozen=True)
class Lemma15:
    """Distribution of Lemma 15 around x_0 in units of 1/N, with its limits at 0 of either budget.

    Raises UserError if both parts of the budget are 0.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if self.epsilon == 0.0 and self.delta == 0.0:
            raise UserError("Lemma 15 is for epsilon or delta above 0, got 0 and 0")

    def tails(self, u: float) -> Tails:
        """Return the tails at x = x_0 + u/N.

        For u <= 0, F = e^(epsilon u)/2 + delta (e^(epsilon u) - 1)/(e^epsilon - 1), or 0 if that is
        negative, which means u < -N Delta_x.
        """
        epsilon, slope = self.epsilon, -abs(u)
        if epsilon > 0.0:
            slope = math.expm1(-epsilon * abs(u)) / -math.expm1(-epsilon) * math.exp(-epsilon)
        tail = max(0.0, 0.5 * math.exp(-epsilon * abs(u)) + self.delta * slope)
        return Tails(tail, 1.0 - tail) if u <= 0.0 else Tails(1.0 - tail, tail)

    def radius(self, horizon: float) -> float:
        """Return (1/epsilon) log[(T (e^epsilon - 1) + 2 T delta)/(2 (e^epsilon - 1) + 2 T delta)].

        At epsilon = 0 its limit, (T - 2)/(2 T delta).
        """
        if self.epsilon == 0.0:
            return (horizon - 2.0) / (2.0 * horizon * self.delta)
        p, q = -math.expm1(-self.epsilon), math.exp(-self.epsilon)
        return (
            math.log1p((horizon - 2.0) * p / (2.0 * (p + horizon * self.delta * q))) / self.epsilon
        )


def gauss_cdf(x: float, pulls: Rounds, successes: Successes) -> float:
    """Return F of DP-FTPL-Gauss: Normal(R/N, variance 2/N)."""
    return _gauss(x, pulls, successes).below


def gauss_neighbour_cdf(x: float, pulls: Rounds, successes: Successes) -> float:
    """Return F' of DP-FTPL-Gauss: R + 1 successes."""
    return gauss_cdf(x, pulls, successes + 1)


def gauss_region_low(
    x: float, pulls: Rounds, successes: Successes, epsilon: Budget, delta: Delta
) -> float:
    """Return max{0, (F - delta)/e^epsilon, 1 - e^epsilon (1 - F) - delta} for DP-FTPL-Gauss."""
    return _gauss(x, pulls, successes).lowest(epsilon, delta)


def gauss_region_high(
    x: float, pulls: Rounds, successes: Successes, epsilon: Budget, delta: Delta
) -> float:
    """Return min{1, e^epsilon F + delta, 1 - (1 - F - delta)/e^epsilon} for DP-FTPL-Gauss."""
    return _gauss(x, pulls, successes).highest(epsilon, delta)


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
    return _beta(x, pulls, successes, with_k).below


def beta_neighbour_cdf(x: float, pulls: Rounds, successes: Successes, with_k: bool) -> float:
    """Return F' of DP-FTPL-Beta: R + 1 successes."""
    return beta_cdf(x, pulls, successes + 1, with_k)


def beta_region_low(
    x: float, pulls: Rounds, successes: Successes, with_k: bool, epsilon: Budget, delta: Delta
) -> float:
    """Return the lower end of the region for DP-FTPL-Beta."""
    return _beta(x, pulls, successes, with_k).lowest(epsilon, delta)


def beta_region_high(
    x: float, pulls: Rounds, successes: Successes, with_k: bool, epsilon: Budget, delta: Delta
) -> float:
    """Return the upper end of the region for DP-FTPL-Beta."""
    return _beta(x, pulls, successes, with_k).highest(epsilon, delta)


def beta_smallest_delta(pulls: Rounds, epsilon: Budget, with_k: bool) -> float:
    """Return the smallest delta at which Lemma 8 holds for DP-FTPL-Beta after N pulls, for any R.

    The worst R is 0 (or N - 1), where F = I_x(a, b+1) and F' = I_x(a+1, b). Their densities' ratio
    a (1-x)/(b x) falls with x, so F - e^epsilon F' is largest where that ratio is e^epsilon. The
    delta falls with N: with k to 0, without k to 1/e at epsilon = 0 and to .1633 at epsilon = 1.
    """
    k = pulls // 8 + 1 if with_k else 0
    a, b = 1 + k, pulls + k
    x = a * math.exp(-epsilon) / (a * math.exp(-epsilon) + b)
    outside = betainc(a, b + 1, x) - _factor(epsilon) * betainc(a + 1, b, x)
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
    return _new(x, pulls, successes, horizon, epsilon, delta).below


def new_neighbour_cdf(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return F' of DP-FTPL-New: R + 1 successes."""
    return new_cdf(x, pulls, successes + 1, horizon, epsilon, delta)


def new_region_low(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return the lower end of the region, at the budget of the distribution, for DP-FTPL-New."""
    return _new(x, pulls, successes, horizon, epsilon, delta).lowest(epsilon, delta)


def new_region_high(
    x: float, pulls: Rounds, successes: Successes, horizon: Rounds, epsilon: Budget, delta: Delta
) -> float:
    """Return the upper end of the region, at the budget of the distribution, for DP-FTPL-New."""
    return _new(x, pulls, successes, horizon, epsilon, delta).highest(epsilon, delta)


def new_smallest_delta(pulls: Rounds, epsilon: Budget, delta: Delta) -> float:
    """Return the smallest delta at which Lemma 8 holds for DP-FTPL-New with `epsilon` and `delta`.

    It is `delta` itself up to 1/2, and above that 1 - e^-epsilon ((e^epsilon - 1)/(4 delta)
    + 1 - delta), which is smaller. Neighbours are 1/N apart and the distribution scales with 1/N,
    so `pulls` has no effect; the argument is there to plot the function beside the others.
    """
    Lemma15(epsilon, delta)  # raises without any budget
    if delta <= 0.5:
        return delta
    return 1.0 + math.expm1(-epsilon) / (4.0 * delta) - math.exp(-epsilon) * (1.0 - delta)


def _gauss(x: float, pulls: int, successes: int) -> Tails:
    _check(pulls, successes)
    # In standard deviations, over sqrt 2.
    deviation = 0.5 * math.sqrt(pulls) * (x - successes / pulls)
    return Tails(0.5 * math.erfc(-deviation), 0.5 * math.erfc(deviation))


def _beta(x: float, pulls: int, successes: int, with_k: bool) -> Tails:
    _check(pulls, successes)
    k = pulls // 8 + 1 if with_k else 0
    a, b, x = successes + 1 + k, pulls - successes + 1 + k, min(max(x, 0.0), 1.0)
    return Tails(float(betainc(a, b, x)), float(betaincc(a, b, x)))


def _new(x: float, pulls: int, successes: int, horizon: int, epsilon: float, delta: float) -> Tails:
    _check(pulls, successes)
    law = Lemma15(epsilon, delta)
    centre = successes + math.sqrt(pulls * math.log(horizon))  # N x_0, without the radius
    return law.tails(pulls * x - centre - law.radius(horizon))


def _check(pulls: int, successes: int) -> None:
    if successes > pulls:
        raise UserError(f"of {pulls} pulls at most {pulls} give 1, got {successes}")


def _factor(epsilon: float) -> float:
    # e^epsilon, capped at e^700 against overflow. There the cap changes nothing: what the factor
    # multiplies is 0, or so large that another term of a min or max decides.
    return math.exp(min(epsilon, 700.0))


def _fewest(enough: Callable[[int], bool]) -> float:
    # Bisection: the smallest delta falls with the pulls, so more pulls than enough are enough.
    high = 1
    while not enough(high):
        high *= 2
    return float(bisect_left(range(high), True, lo=high // 2 + 1, key=enough))
