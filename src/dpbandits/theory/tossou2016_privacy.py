"""Privacy of DP-UCB-INT in tossou2016: Theorem 3.4, Corollary 3.1, Lemma B.1, and the composition.

`horizon`: t, rounds; `epsilon`, `delta`: the target (epsilon', delta'), for which Corollary 3.2
gives the input epsilon, here e; `v`: the exponent. The result is an epsilon, except for intervals.
"""

import math

import numpy as np

from dpbandits.algorithms.dp_ucb_int import (
    Exponent,
    Params,
    input_epsilon,
    next_interval,
    releases,
)
from dpbandits.kernel.parameters import Count, Positive, Probability, Rounds
from dpbandits.kernel.power_sums import power_sum
from dpbandits.privacy.releases import composed_epsilon


def int_privacy_printed(
    horizon: Rounds, epsilon: Positive, delta: Probability, v: Exponent
) -> float:
    """Return Theorem 3.4 as printed, at the input epsilon that Corollary 3.2 gives:

    min{sum_n e n^(-v/2), e sum_n (exp(n^(-v/2)) - 1) t^(-v/2) + sqrt(e sum_n 2 ln(1/delta) n^-v)}.
    """
    return _theorem_3_4(horizon, epsilon, delta, v, horizon ** (-v / 2.0))


def int_privacy(horizon: Rounds, epsilon: Positive, delta: Probability, v: Exponent) -> float:
    """Return Theorem 3.4 as its proof has it in (B.3), with n^(-v/2) in place of t^(-v/2)."""
    return _theorem_3_4(horizon, epsilon, delta, v, None)


def int_pure_closed_form(
    horizon: Rounds, epsilon: Positive, delta: Probability, v: Exponent
) -> float:
    """Return the first form of Corollary 3.1: e (t^(1-v/2) - v/2)/(1 - v/2), e as above."""
    e = input_epsilon(Params(epsilon, delta, v))
    return e * (horizon ** (1.0 - v / 2.0) - v / 2.0) / (1.0 - v / 2.0)


def int_closed_form(epsilon: Positive, delta: Probability, v: Exponent) -> float:
    """Return the second form of Corollary 3.1: 2 e zeta(v) + sqrt(2 e zeta(v) ln(1/delta))."""
    spent = input_epsilon(Params(epsilon, delta, v)) * power_sum(1.0, math.inf, v)
    return 2.0 * spent + math.sqrt(-2.0 * spent * math.log(delta))


def int_composed(
    horizon: Rounds, epsilon: Positive, delta: Probability, v: Exponent, group: Count
) -> float:
    """Return the epsilon that the releases of one arm compose to, if `group` rewards are changed.

    Section 5: each reward of a group of m has 1/m of the budget.
    """
    params = Params(epsilon, delta, v)
    moved = (r._replace(sensitivity=group * r.sensitivity) for r in releases(params, 1, horizon))
    return composed_epsilon(moved, delta)


def int_first_interval(epsilon: Positive, delta: Probability, v: Exponent) -> float:
    """Return f_0 of Lemma B.1, the pulls of an arm before its first release."""
    params = Params(epsilon, delta, v)
    return float(next_interval(params, input_epsilon(params), 0, 1))


def int_noise_over_bonus(pulls: Rounds, horizon: Rounds, v: Exponent) -> float:
    """Return the noise's scale over the bonus of UCB: n^(v/2-1)/sqrt(2 log t/n), n = `pulls`."""
    return math.sqrt(float(pulls) ** (v - 1.0) / (2.0 * math.log(horizon)))


def int_noise_exceeds_from(v: Exponent) -> float:
    """Return the t from which on the scale of an arm that is always pulled exceeds the bonus.

    It solves t^(v-1) = 2 log t, beyond the t at which the quotient is smallest.
    """
    from scipy.optimize import brentq  # late: scipy takes long to import

    bend = 1.0 / (v - 1.0)  # log t at which (v-1) log t - log(2 log t) begins to rise
    return math.exp(brentq(lambda x: (v - 1.0) * x - math.log(2.0 * x), bend, 1000.0 * bend))


def int_largest_interval(
    horizon: Rounds, epsilon: Positive, delta: Probability, v: Exponent
) -> float:
    """Return the largest f_n of Lemma B.1 up to the horizon over ceil(1/epsilon), at most 1."""
    params = Params(epsilon, delta, v)
    e, released, interval = input_epsilon(params), 0, 1
    while released < horizon:
        interval = next_interval(params, e, released, interval)
        released += interval
    return interval / math.ceil(1.0 / e)


def _theorem_3_4(
    horizon: int, epsilon: float, delta: float, v: float, weight: float | None
) -> float:
    e, n = input_epsilon(Params(epsilon, delta, v)), np.arange(1.0, horizon + 1.0)
    single = n ** (-v / 2.0)
    second = np.expm1(single) * (single if weight is None else weight)
    root = math.sqrt(-2.0 * e * math.log(delta) * float(np.sum(n**-v)))
    return min(e * float(np.sum(single)), e * float(np.sum(second)) + root)
