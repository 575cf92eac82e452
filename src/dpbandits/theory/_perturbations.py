"""Perturbed distributions of wang2024: both tails, and the values that Lemma 8 allows beside them.

`pulls`: N_i; `successes`: R_i, the number of pulls with reward 1. The code uses p = 1 - e^-epsilon
and q = e^-epsilon in place of e^epsilon - 1 and 1, scaling both by e^-epsilon: only their ratio
counts, and this way there is no overflow and no cancellation near epsilon = 0.
"""

import math
from typing import NamedTuple

from scipy.special import betainc, betaincc

from dpbandits.core.errors import UserError


class Tails(NamedTuple):
    """F(x) and 1 - F(x), kept apart so that the smaller one keeps its digits."""

    below: float
    above: float

    def lowest(self, epsilon: float, delta: float) -> float:
        """Return the least F' >= 0 with F <= e^eps F' + delta, 1 - F' <= e^eps (1 - F) + delta."""
        by_f = (self.below - delta) * math.exp(-epsilon)
        return max(0.0, by_f, 1.0 - factor(epsilon) * self.above - delta)

    def highest(self, epsilon: float, delta: float) -> float:
        """Return the largest F' <= 1, F' <= e^eps F + delta, 1 - F <= e^eps (1 - F') + delta."""
        by_survival = -math.expm1(-epsilon) + (self.below + delta) * math.exp(-epsilon)
        return min(1.0, by_survival, factor(epsilon) * self.below + delta)


def gauss(x: float, pulls: int, successes: int) -> Tails:
    """Return the tails of Normal(R/N, variance 2/N) at x."""
    _check(pulls, successes)
    # In standard deviations, over sqrt 2.
    deviation = 0.5 * math.sqrt(pulls) * (x - successes / pulls)
    return Tails(0.5 * math.erfc(-deviation), 0.5 * math.erfc(deviation))


def beta(x: float, pulls: int, successes: int, with_k: bool) -> Tails:
    """Return the tails of Beta(R + 1 + k, N - R + 1 + k) at x."""
    _check(pulls, successes)
    k = extra(pulls, with_k)
    a, b, x = successes + 1 + k, pulls - successes + 1 + k, min(max(x, 0.0), 1.0)
    return Tails(float(betainc(a, b, x)), float(betaincc(a, b, x)))


def extra(pulls: int, with_k: bool) -> int:
    """Return k_i, the number of successes, and of failures, that DP-FTPL-Beta adds."""
    return pulls // 8 + 1 if with_k else 0


def new(u: float, epsilon: float, delta: float) -> Tails:
    """Return the tails of Lemma 15 at x = x_0 + u/N, with its limits epsilon = 0 and delta = 0.

    For u <= 0, F = e^(epsilon u)/2 + delta (e^(epsilon u) - 1)/(e^epsilon - 1), or 0 if that is
    negative, which means u < -N Delta_x. Raises UserError if epsilon and delta are both 0.
    """
    check_budget(epsilon, delta, "Lemma 15")
    slope = -abs(u)
    if epsilon > 0.0:
        slope = math.expm1(-epsilon * abs(u)) / -math.expm1(-epsilon) * math.exp(-epsilon)
    tail = max(0.0, 0.5 * math.exp(-epsilon * abs(u)) + delta * slope)
    return Tails(tail, 1.0 - tail) if u <= 0.0 else Tails(1.0 - tail, tail)


def shifted(
    x: float, pulls: int, successes: int, horizon: int, epsilon: float, delta: float
) -> Tails:
    """Return the tails of Lemma 15 at x, with the x_0 of Algorithm 3."""
    _check(pulls, successes)
    check_budget(epsilon, delta, "Lemma 15")
    centre = successes + math.sqrt(pulls * math.log(horizon))  # N x_0, without the radius
    return new(pulls * x - centre - radius(horizon, epsilon, delta), epsilon, delta)


def changed(pulls: int, successes: int) -> int:
    """Return the number of successes of the neighbour, in which one observation is 1, not 0."""
    if not successes < pulls:
        raise UserError(f"the neighbour has one more 1: at most {pulls - 1}, got {successes}")
    return successes + 1


def radius(horizon: float, epsilon: float, delta: float) -> float:
    """Return (1/epsilon) log[(T (e^epsilon - 1) + 2 T delta)/(2 (e^epsilon - 1) + 2 T delta)].

    At epsilon = 0 its limit, (T - 2)/(2 T delta).
    """
    if epsilon == 0.0:
        return (horizon - 2.0) / (2.0 * horizon * delta)
    p, q = -math.expm1(-epsilon), math.exp(-epsilon)
    return math.log1p((horizon - 2.0) * p / (2.0 * (p + horizon * delta * q))) / epsilon


def check_budget(epsilon: float, delta: float, owner: str) -> None:
    """Raise UserError if epsilon and delta are both 0; `owner` names the theorem or lemma."""
    if epsilon == 0.0 and delta == 0.0:
        raise UserError(f"{owner} is for epsilon or delta above 0, got 0 and 0")


def factor(epsilon: float) -> float:
    """Return e^epsilon, capped at e^700 against overflow.

    There the cap changes nothing: what the factor multiplies is 0, or the product is so large that
    another term of a min or max decides.
    """
    return math.exp(min(epsilon, 700.0))


def _check(pulls: int, successes: int) -> None:
    if successes > pulls:
        raise UserError(f"of {pulls} pulls at most {pulls} give 1, got {successes}")
