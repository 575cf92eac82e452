"""AdaP-TT (azize2024, thesis): Algorithm 10 with (5.9) to (5.11). ε-global DP, Lemma 5.18.

The mean of an arm is that of its last phase alone (forgetting), with noise; a phase ends when the
pulls of the arm have doubled. Rewards are σ-subgaussian with σ = 1/2.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

from dpbandits.algorithms._thresholds import gaussian_threshold, phases, zeta
from dpbandits.algorithms._top_two import (
    Tracking,
    doubles,
    doubling,
    grows,
    index,
    is_leaders_turn,
    new_mean,
    play,
    threshold,
)
from dpbandits.kernel.compilation import inlined
from dpbandits.kernel.parameters import Constraint, Fraction, Positive
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

__all__ = ["KIND", "LABEL", "Params", "guarantee", "play", "releases"]

KIND = "identification"
LABEL = "AdaP-TT"
guarantee = guaranteed(Notion.GLOBAL, "azize2024 (thesis), Theorem 5.20")
Exponent = Annotated[float, Constraint(lambda s: 1 < s <= 100, "above 1 and at most 100")]


class Threshold(IntEnum):
    """Variant: when a run stops."""

    PRINTED = 0  # (5.11)
    # What the published curves fit: the cost (m_a - m_b)²/(1/n + 1/m) against
    # ln(1/δ) + ln(1 + ln n) + ln(1 + ln m) + (1/n + 1/m) ln²(1/δ)/ε².
    AS_DRAWN = 1


class Bonus(IntEnum):
    """Variant: the bonus of the leader, line 16."""

    PHASE = 0  # sqrt(k/N~) + k/(ε N~): constant while an arm is not pulled
    LOG_PULLS = 1  # sqrt(ln n/(2 N~)) + ln n/(ε N~) in round n


class Params(NamedTuple):
    """Privacy budget, chance of a wrong answer δ, and the variants; `s` is that of (5.11)."""

    epsilon: Positive
    risk: Fraction
    threshold: Threshold = Threshold.PRINTED
    bonus: Bonus = Bonus.PHASE
    s: Exponent = 2.0
    tracking: Tracking = Tracking.DETERMINISTIC


@inlined
def mean_of_phase(params, rng, sums, used, arm, total, n):
    """Return the mean of a phase plus Lap(1/(ε N~)), lines 7 to 9."""
    used[arm] = n
    return total / n + laplace(rng, 1.0 / n, params.epsilon)


@inlined
def bonus_of_phase(epsilon, mean, n, phase):
    """Return m~ + sqrt(k/N~) + k/(ε N~), line 16."""
    return mean + math.sqrt(phase / n) + phase / (epsilon * n)


@inlined
def bonus_of_log(epsilon, mean, n, log):
    """Return m~ + sqrt(ln n/(2 N~)) + ln n/(ε N~)."""
    return mean + math.sqrt(log / (2.0 * n)) + log / (epsilon * n)


@inlined
def bonus(params, mean, n, phase, log):
    """Return the index of the leader by the variant of its bonus."""
    if params.bonus == Bonus.LOG_PULLS:
        return bonus_of_log(params.epsilon, mean, n, log)
    return bonus_of_phase(params.epsilon, mean, n, phase)


@inlined
def grows_with_rounds(params):
    """Return True if the bonus has the number of the round."""
    return params.bonus == Bonus.LOG_PULLS


@inlined
def turn_of_leader(params, rng, pulled, led):
    """Return True if the leader is pulled, line 18, by the variant of the tracking."""
    if params.tracking == Tracking.RANDOM:
        return rng.random() < 0.5
    return pulled <= 0.5 * led


@inlined
def private_threshold(epsilon, risk, s, arms, n, m):
    """Return c^{G,ε} of (5.11) for arms of n and m rewards."""
    of_s = math.log(zeta(s))
    of_n, of_m = s * math.log(phases(n)), s * math.log(phases(m))
    shared = math.log((arms - 1) / risk) + math.log(2.0) + 2.0 * of_s + of_n + of_m
    noise = math.log(2.0 * arms / risk) + of_s
    log_n, log_m = noise + of_n, noise + of_m
    # 1/σ² = 4
    noise = 4.0 / (epsilon * epsilon) * (log_n * log_n / n + log_m * log_m / m)
    return 2.0 * gaussian_threshold(shared, n, m) + noise


@inlined
def drawn_threshold(params, n, m):
    """Return the threshold as drawn; the cost of (5.9) is twice that of the drawing."""
    log = math.log(1.0 / params.risk)
    logs = log + math.log(1.0 + math.log(n)) + math.log(1.0 + math.log(m))
    noise = log / params.epsilon
    return 2.0 * (logs + (1.0 / n + 1.0 / m) * noise * noise)


doubles.register(Params)(lambda params: True)
new_mean.register(Params)(mean_of_phase)
grows.register(Params)(grows_with_rounds)
index.register(Params)(bonus)
is_leaders_turn.register(Params)(turn_of_leader)


@threshold.register(Params)
def _(params, arms, fixed, gap, n, m, rounds):
    if params.threshold == Threshold.AS_DRAWN:
        return drawn_threshold(params, n, m)
    return private_threshold(params.epsilon, params.risk, params.s, arms, n, m)


def releases(params: Any, arms: int, limit: int) -> Iterator[Laplace]:
    """Yield one private mean per arm and phase, of disjoint rewards."""
    for arm, first, last in doubling(arms, limit):
        n = last - first + 1
        yield Laplace(arm, first, last, 1.0 / n, scale=1.0 / (n * params.epsilon))
