"""AdaP-TT* (azize2024, thesis): AdaP-TT with the costs and thresholds (5.12) and (5.14). ε-DP."""

import math
from typing import NamedTuple

from dpbandits.algorithms._thresholds import inverse_of_lambert, phases, transport, zeta
from dpbandits.algorithms._top_two import (
    Tracking,
    cost,
    doubles,
    grows,
    index,
    is_leaders_turn,
    new_mean,
    play,
    threshold,
)
from dpbandits.algorithms.adap_tt import (
    Bonus,
    Exponent,
    bonus,
    grows_with_rounds,
    mean_of_phase,
    private_threshold,
    releases,
    turn_of_leader,
)
from dpbandits.kernel.compilation import inlined
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["KIND", "LABEL", "Params", "guarantee", "play", "releases"]

KIND = "identification"
LABEL = "AdaP-TT*"
guarantee = guaranteed(Notion.GLOBAL, "azize2024 (thesis), Theorem 5.23")


class Params(NamedTuple):
    """Privacy budget, chance of a wrong answer δ, and the variants; `s` is that of (5.14)."""

    epsilon: Positive
    risk: Fraction
    bonus: Bonus = Bonus.PHASE
    s: Exponent = 2.0
    tracking: Tracking = Tracking.DETERMINISTIC


@inlined
def root_of_h(n, log):
    """Return sqrt(h(n, δ)), below (5.14); `log` is ln(3 K ζ(s) k(n)^s/δ)."""
    argument = 2.0 * log + 4.0 * math.log(4.0 + math.log(n)) + 0.5
    return math.sqrt(0.5 * inverse_of_lambert(argument))


@inlined
def two_cases(epsilon, risk, s, arms, gap, n, m):
    """Return the threshold (5.14) for arms of n and m rewards; 1/σ = 2, as Remark 5.22 has it."""
    log = math.log(3.0 * arms * zeta(s) / risk)
    log_n, log_m = log + s * math.log(phases(n)), log + s * math.log(phases(m))
    root_n, root_m = root_of_h(n, log_n), root_of_h(m, log_m)
    if gap < 3.0 * epsilon:
        noise = root_n / math.sqrt(n) * log_n + root_m / math.sqrt(m) * log_m
        half = 0.5 * private_threshold(epsilon, 2.0 * risk / 3.0, s, arms, n, m)
        return half + 2.0 * math.sqrt(2.0) / epsilon * noise
    noise = root_n * math.sqrt(n) + root_m * math.sqrt(m)
    return 12.0 * max(log_n, log_m) + 6.0 * epsilon / math.sqrt(2.0) * noise


doubles.register(Params)(lambda params: True)
new_mean.register(Params)(mean_of_phase)
grows.register(Params)(grows_with_rounds)
index.register(Params)(bonus)
is_leaders_turn.register(Params)(turn_of_leader)


@cost.register(Params)
def _(params, mean, other, n, m):
    # (5.12): min{3 ε, gap} in place of one of the two gaps of (5.9).
    gap = max(mean - other, 0.0)
    return transport(math.sqrt(gap * min(3.0 * params.epsilon, gap)), n, m)


@threshold.register(Params)
def _(params, arms, fixed, gap, n, m, rounds):
    return two_cases(params.epsilon, params.risk, params.s, arms, gap, n, m)
