"""Upper bounds of tossou2016 on the regret of its three algorithms.

Regret is in units of reward. `means`: one per arm; `horizon`: t, rounds; `epsilon`: the budget;
logarithms are natural. The theorems on DP-UCB and DP-UCB-INT are evaluated as printed, although
their proofs fail: see the report on the paper. The functions raise UserError if a theorem does not
apply.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

from dpbandits.algorithms.dp_ucb_int import (
    Exponent,
    Params,
    Schedule,
    input_epsilon,
    next_interval,
)
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Positive, Probability
from dpbandits.kernel.power_sums import power_sum

ZETA = power_sum(1.0, math.inf, 1.5)  # the zeta function at 1.5
LARGEST = math.exp(math.exp(6.0) - 7.0)  # largest B in `_noise`; about 10^172


def dp_ucb_bound_upper_bound(means: Sequence[float], horizon: int, epsilon: Positive) -> float:
    """Return Theorem 3.2 in the form of its proof, (A.15), with the best lambda_0 for each arm.

    sum_a Delta_a (max{B_a (ln B_a + 7), 8 log t/(lambda_0 Delta_a)^2} + 1 + 2 pi^2/3) with
    B_a = 2 sqrt(8) ln(4 t^4)/(epsilon (1-lambda_0) Delta_a).
    Deviation: the paper's B lacks the factor 2 of (A.12) and, in (3.1), the gap.
    """
    log_t = math.log(horizon)
    private = math.sqrt(8.0) * (math.log(4.0) + 4.0 * log_t) / epsilon

    def pulls(gap: float, lambda_0: float) -> float:
        noise = _noise(2.0 * private / ((1.0 - lambda_0) * gap), "Theorem 3.2")
        return max(noise, 8.0 * log_t / (lambda_0 * gap) ** 2)

    gaps = [max(means) - mean for mean in means if mean < max(means)]
    return sum(gap * (_least(partial(pulls, gap)) + 1.0 + 2.0 * math.pi**2 / 3.0) for gap in gaps)


def dp_ucb_bound_printed_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Positive
) -> float:
    """Return Theorem 3.2, (3.1), as printed, with the best lambda_0 common to all arms.

    sum_a max{B (ln B + 7), 8 log t/(lambda_0^2 Delta_a)} + sum_a Delta_a (1 + 2 pi^2/3) with
    B = sqrt(8) ln(4 t^4)/(epsilon (1-lambda_0)). The proof gives a larger bound,
    `dp_ucb_bound_upper_bound`.
    """
    log_t = math.log(horizon)
    private = math.sqrt(8.0) * (math.log(4.0) + 4.0 * log_t) / epsilon
    gaps = [max(means) - mean for mean in means if mean < max(means)]

    def leading(lambda_0: float) -> float:
        noise = _noise(private / (1.0 - lambda_0), "Theorem 3.2")
        return sum(max(noise, 8.0 * log_t / (lambda_0**2 * gap)) for gap in gaps)

    return _least(leading) + sum(gaps) * (1.0 + 2.0 * math.pi**2 / 3.0)


def dp_ucb_upper_bound(means: Sequence[float], horizon: int, epsilon: Positive) -> float:
    """Return Theorem 3.3, with C = 56 (2 + sqrt(3.5)) sqrt(log t)/epsilon:

    sum_a Delta_a (max{C^2 (ln C + 7)^2, 8 log t/Delta_a^2} + 1 + 4 zeta(1.5)).
    """
    log_t = math.log(horizon)
    noise = _noise(56.0 * (2.0 + math.sqrt(3.5)) * math.sqrt(log_t) / epsilon, "Theorem 3.3")
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    return sum(gap * (max(noise * noise, 8.0 * log_t / gap**2) + 1.0 + 4.0 * ZETA) for gap in gaps)


def dp_ucb_int_upper_bound(
    means: Sequence[float],
    horizon: int,
    epsilon: Positive,
    delta: Probability,
    v: Exponent,
    schedule: Schedule,
) -> float:
    """Return Theorem 3.5: sum_a Delta_a (f_0 + 8 log t/Delta_a^2 + 1 + 4 zeta(1.5)).

    f_0 is the first value of the series f that is played (`schedule`), at the epsilon that
    Corollary 3.2 gives for the target (`epsilon`, `delta`). `v`: the exponent of DP-UCB-INT.
    """
    params = Params(epsilon, delta, v, schedule)
    first = next_interval(params, input_epsilon(params), 0, 1)
    log_t = math.log(horizon)
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    return sum(gap * (first + 8.0 * log_t / gap**2 + 1.0 + 4.0 * ZETA) for gap in gaps)


def _noise(b: float, theorem: str) -> float:
    # Returns B (ln B + 7): n > B ln n + B for every n above it. For B < 1 that holds for every
    # n > 0. For B >= 1 the largest n that violates it is B w with w = -W_{-1}(-1/(e B)), that is
    # w = 1 + ln B + ln w, which is at most ln B + 7 as long as w <= e^6.
    if b > LARGEST:
        raise UserError(f"{theorem} is for B or C up to {LARGEST:.1e}, got {b:.1e}")
    return b * (math.log(b) + 7.0) if b else 0.0


def _least(bound: Callable[[float], float]) -> float:
    # Minimum over lambda_0 in (0, 1) by ternary search. Both terms are convex in lambda_0 where
    # they are positive, and so are their maximum and a sum of these.
    low, high = 0.0, 1.0
    for _ in range(80):
        third = (high - low) / 3.0
        if bound(low + third) < bound(high - third):
            high -= third
        else:
            low += third
    return bound(0.5 * (low + high))
