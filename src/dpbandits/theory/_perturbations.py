"""The perturbed distributions of wang2024: both tails, the feasible region, the smallest delta.

`pulls`: N_i; `successes`: R_i, how many of the pulls gave 1. p = 1 - e^-epsilon and q = e^-epsilon
stand for e^epsilon - 1 and e^epsilon, of which only the ratio counts: no overflow, and no
cancellation near epsilon = 0.
"""

import math
from typing import NamedTuple

from dpbandits.core.errors import UserError


class Tails(NamedTuple):
    """F(x) and 1 - F(x), so that neither loses its digits where the other is near 1."""

    below: float
    above: float


def gauss(x: float, pulls: int, successes: int) -> Tails:
    """Normal(R/N, variance 2/N)."""
    at = 0.5 * math.sqrt(pulls) * (x - successes / pulls)  # standard deviations, over sqrt 2
    return Tails(0.5 * math.erfc(-at), 0.5 * math.erfc(at))


def beta(x: float, pulls: int, successes: int, with_k: bool) -> Tails:
    """Beta(R + 1 + k, N - R + 1 + k), k = floor(N/8) + 1; without k, k = 0."""
    from scipy.special import betainc, betaincc  # late: few figures draw it, scipy takes long

    k = extra(pulls, with_k)
    a, b, x = successes + 1 + k, pulls - successes + 1 + k, min(max(x, 0.0), 1.0)
    return Tails(float(betainc(a, b, x)), float(betaincc(a, b, x)))


def new(u: float, epsilon: float, delta: float) -> Tails:
    """Lemma 15 at x = x_0 + u/N, its limits epsilon = 0 and delta = 0 among it.

    For u <= 0, F = e^(epsilon u)/2 + delta (e^(epsilon u) - 1)/(e^epsilon - 1), or 0 where that is
    negative: there u < -N Delta_x.
    """
    check_budget(epsilon, delta, "Lemma 15")
    if epsilon == 0.0:
        slope = -abs(u)
    else:
        slope = math.expm1(-epsilon * abs(u)) / -math.expm1(-epsilon) * math.exp(-epsilon)
    tail = max(0.0, 0.5 * math.exp(-epsilon * abs(u)) + delta * slope)
    return Tails(tail, 1.0 - tail) if u <= 0.0 else Tails(1.0 - tail, tail)


def extra(pulls: int, with_k: bool) -> int:
    """k_i, the successes and the failures that DP-FTPL-Beta adds."""
    return pulls // 8 + 1 if with_k else 0


def lowest(tails: Tails, epsilon: float, delta: float) -> float:
    """The least F' that Lemma 8 allows: F <= e^eps F' + delta, 1 - F' <= e^eps (1 - F) + delta."""
    by_f = (tails.below - delta) * math.exp(-epsilon)
    return max(0.0, by_f, 1.0 - _factor(epsilon) * tails.above - delta)


def highest(tails: Tails, epsilon: float, delta: float) -> float:
    """The largest F': F' <= e^eps F + delta, 1 - F <= e^eps (1 - F') + delta."""
    by_survival = -math.expm1(-epsilon) + (tails.below + delta) * math.exp(-epsilon)
    return min(1.0, by_survival, _factor(epsilon) * tails.below + delta)


def gauss_delta(pulls: int, epsilon: float) -> float:
    """The delta of Lemma 8 for means 1/N apart.

    s = 1/sqrt(2N) standard deviations: Phi(s/2 - epsilon/s) - e^epsilon Phi(-s/2 - epsilon/s),
    with Phi(-z) = e^(-z^2/2) erfcx(z/sqrt 2)/2 so that e^epsilon cancels.
    """
    from scipy.special import erfcx

    s = 1.0 / math.sqrt(2.0 * pulls)
    z = epsilon / s - 0.5 * s
    scaled = erfcx(z / math.sqrt(2.0)) - erfcx((z + s) / math.sqrt(2.0))
    return 0.5 * math.exp(-0.5 * z * z) * float(scaled)


def beta_delta(pulls: int, epsilon: float, with_k: bool) -> float:
    """The delta of Lemma 8 for the worst R, which is 0, next to 1 (and N next to N - 1).

    F = I_x(a, b+1) and F' = I_x(a+1, b): f/f' = a (1-x)/(b x) falls with x, so F - e^epsilon F' is
    largest where that is e^epsilon.
    """
    from scipy.special import betainc

    k = extra(pulls, with_k)
    a, b = 1 + k, pulls + k
    x = a * math.exp(-epsilon) / (a * math.exp(-epsilon) + b)
    outside = betainc(a, b + 1, x) - _factor(epsilon) * betainc(a + 1, b, x)
    return max(0.0, float(outside))


def radius(horizon: float, epsilon: float, delta: float) -> float:
    """(1/epsilon) log[(T (e^epsilon - 1) + 2 T delta)/(2 (e^epsilon - 1) + 2 T delta)]."""
    if epsilon == 0.0:
        return (horizon - 2.0) / (2.0 * horizon * delta)
    p, q = -math.expm1(-epsilon), math.exp(-epsilon)
    return math.log1p((horizon - 2.0) * p / (2.0 * (p + horizon * delta * q))) / epsilon


def check_budget(epsilon: float, delta: float, owner: str) -> None:
    """UserError without any budget."""
    if epsilon == 0.0 and delta == 0.0:
        raise UserError(f"{owner} is for epsilon or delta above 0, got 0 and 0")


def _factor(epsilon: float) -> float:
    # e^epsilon. Above 700 it would soon be no float; what it multiplies is then 0 or far below 0.
    return math.exp(min(epsilon, 700.0))
