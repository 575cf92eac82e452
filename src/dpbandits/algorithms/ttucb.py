"""TTUCB (Jourdan and Degenne 2023, as azize2024 runs it): Top Two without noise. Not private.

The leader has the largest mean plus sqrt(ln n/N), every pull gives a new mean, and a run stops by
the costs (5.9) and thresholds (5.10) of the thesis.
"""

import math
from enum import IntEnum
from typing import NamedTuple

from dpbandits.algorithms._thresholds import c_g
from dpbandits.algorithms._top_two import constant, grows, index, play, threshold
from dpbandits.kernel.compilation import inlined
from dpbandits.kernel.parameters import Fraction

__all__ = ["KIND", "LABEL", "Params", "play"]

KIND = "identification"
LABEL = "TTUCB"


class Threshold(IntEnum):
    """Variant: when a run stops."""

    PRINTED = 0  # (5.10)
    SINGLE_LOG = 1  # ln((1 + ln n)/δ) in round n, of the authors' code


class Cost(IntEnum):
    """Variant: the cost that the threshold `single-log` is compared with."""

    HALF = 0  # (m_a - m_b)²/(2 (1/n + 1/m))
    WHOLE = 1  # (m_a - m_b)²/(1/n + 1/m)


class Params(NamedTuple):
    """Chance of a wrong answer δ, and the variants; `cost` is of the threshold `single-log`."""

    risk: Fraction
    threshold: Threshold = Threshold.PRINTED
    cost: Cost = Cost.HALF


@inlined
def constant_of_printed(params, arms):
    """Return 2 C_G(ln((K - 1)/δ)/2) of (5.10)."""
    return 2.0 * c_g(0.5 * math.log((arms - 1) / params.risk))


@inlined
def bonus(params, mean, n, phase, log):
    """Return the mean plus sqrt(ln n/N)."""
    return mean + math.sqrt(log / n)


@inlined
def threshold_of(params, arms, fixed, gap, n, m, rounds):
    """Return the threshold of the cost (5.9), which is 4 times `half` and twice `whole`."""
    if params.threshold == Threshold.PRINTED:
        logs = math.log(4.0 + math.log(n)) + math.log(4.0 + math.log(m))
        return fixed + 2.0 * logs
    single = math.log((1.0 + math.log(rounds)) / params.risk)
    return (4.0 if params.cost == Cost.HALF else 2.0) * single


constant.register(Params)(constant_of_printed)
grows.register(Params)(lambda params: True)
index.register(Params)(bonus)
threshold.register(Params)(threshold_of)
