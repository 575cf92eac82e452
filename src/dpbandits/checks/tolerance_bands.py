"""Test whether new runs have the law of reference runs, with a given false-alarm probability.

A reference holds the mean, standard deviation, median, smallest and largest value of its n runs;
the new sample has the values of N runs with other seeds. Means of few runs of a skewed law are not
normal, and batched policies end in so few distinct values that a standard deviation is often 0.
There are therefore two tests, and each gets half of the probability:

* The mean of the new values, each clipped to the range of the reference, lies in a band around the
  reference's mean. Half the width of the band is the sum of two terms. The first is a Student
  quantile with n - 1 degrees of freedom (the standard deviation is the reference's alone) times the
  standard error of the difference. The second is the second term of Bernstein's inequality for N
  values that lie no farther from the mean than the reference's farthest: where one run in a
  thousand is lost, the first term alone is far too small.
* The numbers of new values above the reference's largest, above or below its median and below its
  smallest are not too large. Whatever the law of the values, these counts are beta-binomial, and
  ties only make large counts less likely: the exceedance tests. If all runs of a reference agree,
  these tests require the new runs to agree too, except for a few.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats

ROUNDING = 1e-9  # relative; closer numbers count as equal
MARGIN = 0.002  # of the reference's mean: a smaller difference is invisible in a figure


@dataclass(frozen=True)
class Reference:
    """Statistics of the reference runs at one point."""

    runs: int
    mean: float
    std: float
    median: float
    min: float
    max: float


@dataclass(frozen=True)
class BandResult:
    """Outcome of one comparison."""

    alarm: str  # message; empty if there is no alarm
    share: float  # difference of the means over the largest allowed one
    resolution: float  # half width of the band over the reference's mean; nan where that is 0


def compare(values: np.ndarray, reference: Reference, level: float) -> BandResult:
    """Compare new runs with a reference; P(false alarm) <= `level`.

    `values` holds the new runs: shape (runs,), float64.
    """
    mean = float(np.mean(np.clip(values, reference.min, reference.max)))
    half = half_width(reference, len(values), level / 2)
    allowed = half + MARGIN * abs(reference.mean)
    difference = mean - reference.mean
    alarm = ""
    if abs(difference) > allowed + ROUNDING * abs(reference.mean):
        alarm = f"mean {mean:,.6g}, reference {reference.mean:,.6g} +- {allowed:,.3g}"
    else:
        alarm = _exceedances(values, reference, level / 2)
    share = abs(difference) / allowed if allowed else 0.0
    resolution = half / abs(reference.mean) if reference.mean else math.nan
    return BandResult(alarm, share, resolution)


def compare_exact(value: float, reference: float) -> BandResult:
    """Compare a number that involves no randomness with its reference, up to rounding."""
    # The difference of equal infinities is nan.
    equal = value == reference or abs(value - reference) <= ROUNDING * abs(reference)
    alarm = (
        ""
        if equal
        else f"{value!r}, reference {reference!r}, but this number involves no randomness"
    )
    return BandResult(alarm, 0.0 if equal else math.inf, 0.0)


def half_width(reference: Reference, runs: int, level: float) -> float:
    """Return half the width of the band for the mean of `runs` new runs."""
    spread = reference.std if reference.std > ROUNDING * abs(reference.mean) else 0.0
    if reference.runs < 2 or not spread:
        return 0.0
    farthest = max(reference.max - reference.mean, reference.mean - reference.min)
    student = _student(level, reference.runs) * spread * math.sqrt(1 / runs + 1 / reference.runs)
    return student + farthest * math.log(2 / level) / (3 * runs)


@cache
def _student(level: float, runs: int) -> float:
    return float(stats.t.isf(level / 2, runs - 1))


def _exceedances(values: np.ndarray, reference: Reference, level: float) -> str:
    n, runs = reference.runs, len(values)
    middle = (n + 1) // 2  # at or below the median; for odd n the larger half
    for sign, limit, place, words in (
        (1.0, reference.max, n, "above the reference's largest"),
        (1.0, reference.median, middle, "above the reference's median"),
        (-1.0, reference.median, middle, "below the reference's median"),
        (-1.0, reference.min, n, "below the reference's smallest"),
    ):
        count = int(np.sum(sign * values > sign * limit + ROUNDING * abs(limit)))
        if count >= too_many(runs, n, place, level / 4):
            return f"{count} of {runs} runs are {words}, {limit:,.6g}"
    return ""


@cache
def too_many(runs: int, of_reference: int, place: int, level: float) -> int:
    """Return the smallest alarming count of new values above an order statistic of the reference.

    `place` is the rank of the order statistic: 1 is the smallest of the `of_reference` values. The
    count is reached with probability `level` at most; runs + 1 if no count is so unlikely.
    """
    # The number of new values up to that order statistic is beta-binomial.
    up_to = stats.betabinom(runs, place, of_reference - place + 1)
    at_most = np.cumsum(up_to.pmf(np.arange(runs + 1)))  # so many up to it, the others above
    return runs + 1 - int(np.searchsorted(at_most, level, side="right"))
