"""Bands of `dpbandits check` from docs/checks.md: what raises an alarm, with exact counts.

Only the quantile of Student's law is taken from scipy. This file imports nothing from dpbandits.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from scipy import stats

MARGIN = 0.002  # share of the reference's mean that is no difference


class Summary(NamedTuple):
    """Reference runs at one point."""

    runs: int
    mean: float
    std: float
    median: float
    min: float
    max: float


def allowed(reference: Summary, runs: int, level: float) -> float:
    """Return the largest difference of the means that raises no alarm; half of `level` is for it.

    A two-sided Student quantile times the standard error of the difference, and the second term of
    Bernstein's inequality, and the margin.
    """
    margin = MARGIN * abs(reference.mean)
    if reference.std == 0 or reference.runs < 2:
        return margin
    tail = level / 2
    quantile = -float(stats.t.ppf(tail / 2, reference.runs - 1))
    error = reference.std * math.sqrt(1 / runs + 1 / reference.runs)
    farthest = max(reference.max - reference.mean, reference.mean - reference.min)
    return quantile * error + farthest * math.log(2 / tail) / (3 * runs) + margin


def too_many(runs: int, of_reference: int, beyond: int, level: float) -> int:
    """Return the smallest count of new values above a reference value that has chance <= level.

    `beyond` reference values lie above that value. All orders of the runs + of_reference values are
    equally likely: with c new values above it, these mix with the `beyond` ones in any order, and
    the others with the values below.
    """
    below = of_reference - beyond - 1
    total = math.comb(runs + of_reference, runs)
    chance, count = Fraction(0), runs + 1
    while count > 0:
        c = count - 1
        ways = math.comb(beyond + c, c) * math.comb(below + runs - c, runs - c)
        if float(chance + Fraction(ways, total)) > level:
            break
        chance, count = chance + Fraction(ways, total), c
    return count


def verdict(values: Sequence[float], reference: Summary, level: float) -> tuple[bool, float]:
    """Return whether there is an alarm, and the difference of the means over the allowed one."""
    clipped = [min(max(v, reference.min), reference.max) for v in values]
    difference = abs(math.fsum(clipped) / len(clipped) - reference.mean)
    most = allowed(reference, len(values), level)
    beyond_median = reference.runs - (reference.runs + 1) // 2
    share_each = level / 2 / 4
    counts = [
        (sum(v > reference.max for v in values), 0),
        (sum(v > reference.median for v in values), beyond_median),
        (sum(v < reference.median for v in values), beyond_median),
        (sum(v < reference.min for v in values), 0),
    ]
    crowded = any(
        count >= too_many(len(values), reference.runs, beyond, share_each)
        for count, beyond in counts
    )
    return difference > most or crowded, difference / most
