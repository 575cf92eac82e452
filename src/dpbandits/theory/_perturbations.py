"""Perturbed distributions of wang2024: both tails, the feasible region and the smallest delta.

`pulls`: N_i; `successes`: R_i, the number of pulls with reward 1. The code uses p = 1 - e^-epsilon
and q = e^-epsilon in place of e^epsilon - 1 and 1, scaling both by e^-epsilon: only their ratio
counts, and this way there is no overflow and no cancellation near epsilon = 0.
"""

import math
from typing import NamedTuple

from dpbandits.core.errors import UserError


class Tails(NamedTuple):
    """F(x) and 1 - F(x), kept apart so that the smaller one keeps its digits."""

    below: float
    above: float


def gauss(x: float, pulls: int, successes: int) -> Tails:
    """Return the tails of Normal(R/N, variance 2/N) at x."""
    _check(pulls, successes)
    # In standard deviations, over sqrt 2.
    deviation = 0.5 * math.sqrt(pulls) * (x - successes / pulls)
    return Tails(0.5 * math.erfc(-deviation), 0.5 * math.erfc(deviation))


def beta(x: float, pulls: int, successes: int, with_k: bool) -> Tails:
    """Return the tails of Beta(R + 1 + k, N - R + 1 + k) at x.

    k = floor(N/8) + 1, or 0 if `with_k` is False.
    """
    from scipy.special import betainc, betaincc  # late: slow to import, and few figures need it

    _check(pulls, successes)
    k = extra(pulls, with_k)
    a, b, x = successes + 1 + k, pulls - successes + 1 + k, min(max(x, 0.0), 1.0)
    return Tails(float(betainc(a, b, x)), float(betaincc(a, b, x)))


def new(u: float, epsilon: float, delta: float) -> Tails:
    """Return the tails of Lemma 15 at x = x_0 + u/N, with its limits epsilon = 0 and delta = 0.

    For u <= 0, F = e^(epsilon u)/2 + delta (e^(epsilon u) - 1)/(e^epsilon - 1), or 0 if that is
    negative, which means u < -N Delta_x. Raises UserError if epsilon and delta are both 0.
    """
    check_budget(epsilon, delta, "Lemma 15")
    if epsilon == 0.0:
        slope = -abs(u)
    else:
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


def _check(pulls: int, successes: int) -> None:
    if successes > pulls:
        raise UserError(f"of {pulls} pulls at most {pulls} give 1, got {successes}")


def extra(pulls: int, with_k: bool) -> int:
    """Return k_i, the number of successes, and of failures, that DP-FTPL-Beta adds."""
    return pulls // 8 + 1 if with_k else 0


def lowest(tails: Tails, epsilon: float, delta: float) -> float:
    """Return the least F' with F <= e^eps F' + delta and 1 - F' <= e^eps (1 - F) + delta (Lemma 8).

    It is at least 0.
    """
    by_f = (tails.below - delta) * math.exp(-epsilon)
    return max(0.0, by_f, 1.0 - _factor(epsilon) * tails.above - delta)


def highest(tails: Tails, epsilon: float, delta: float) -> float:
    """Return the largest F' with F' <= e^eps F + delta and 1 - F <= e^eps (1 - F') + delta.

    It is at most 1.
    """
    by_survival = -math.expm1(-epsilon) + (tails.below + delta) * math.exp(-epsilon)
    return min(1.0, by_survival, _factor(epsilon) * tails.below + delta)


def gauss_delta(pulls: int, epsilon: float) -> float:
    """Return the smallest delta of Lemma 8 for two Gaussians whose means are 1/N apart.

    That is s = 1/sqrt(2N) standard deviations: Phi(s/2 - epsilon/s) - e^epsilon Phi(-s/2 -
    epsilon/s), with Phi(-z) = e^(-z^2/2) erfcx(z/sqrt 2)/2 so that e^epsilon cancels.
    """
    from scipy.special import erfcx

    s = 1.0 / math.sqrt(2.0 * pulls)
    z = epsilon / s - 0.5 * s
    scaled = erfcx(z / math.sqrt(2.0)) - erfcx((z + s) / math.sqrt(2.0))
    return 0.5 * math.exp(-0.5 * z * z) * float(scaled)


def beta_delta(pulls: int, epsilon: float, with_k: bool) -> float:
    """Return the smallest delta of Lemma 8 for the worst R: 0 and its neighbour 1 (or N and N - 1).

    F = I_x(a, b+1) and F' = I_x(a+1, b). Their densities' ratio f/f' = a (1-x)/(b x) falls with x,
    so F - e^epsilon F' is largest where that ratio is e^epsilon.
    """
    from scipy.special import betainc

    k = extra(pulls, with_k)
    a, b = 1 + k, pulls + k
    x = a * math.exp(-epsilon) / (a * math.exp(-epsilon) + b)
    outside = betainc(a, b + 1, x) - _factor(epsilon) * betainc(a + 1, b, x)
    return max(0.0, float(outside))


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


def _factor(epsilon: float) -> float:
    # e^epsilon, capped at e^700 against overflow. There the cap changes nothing: what the factor
    # multiplies is 0, or the product is so large that another term of the min or max decides.
    return math.exp(min(epsilon, 700.0))
