"""Test whether new runs are distributed as reference runs, with a given false-alarm probability.

Two tests get half of the probability each (docs/checks.md, section 2):

* The mean of the new values, each clipped to the range of the reference, lies in a band around the
  reference's mean. Half its width is a Student quantile (n - 1 degrees of freedom: the standard
  deviation is the reference's alone) times the standard error of the difference, plus the second
  term of Bernstein's inequality: where one run in a thousand is lost, the first is far too small.
* The numbers of new values above the reference's largest, above or below its median and below its
  smallest are not too large. Whatever the distribution of the values, these counts are
  beta-binomial, and ties only make large counts less likely: the exceedance tests. They are for
  independent values: ratios to one mean, that of all runs of a counterpart, have the first alone.
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


def band_result(
    values: np.ndarray, reference: Reference | float, level: float, independent: bool = True
) -> BandResult:
    """Compare new runs, float64 (runs,), with a reference; P(false alarm) <= `level`.

    A number as reference involves no randomness: the first value equals it, up to rounding.
    """
    if isinstance(reference, float):
        value = float(values[0])
        # The difference of equal infinities is nan.
        if value == reference or abs(value - reference) <= ROUNDING * abs(reference):
            return BandResult("", 0.0, 0.0)
        alarm = f"{value!r}, reference {reference!r}, but this number involves no randomness"
        return BandResult(alarm, math.inf, 0.0)
    n, runs, half = reference.runs, len(values), 0.0  # half the width of the band for the mean
    if n > 1 and reference.std > ROUNDING * abs(reference.mean):
        student = float(stats.t.isf(level / 2 / 2, n - 1)) * reference.std
        farthest = max(reference.max - reference.mean, reference.mean - reference.min)
        half = student * math.sqrt(1 / runs + 1 / n)
        half += farthest * math.log(2 / (level / 2)) / (3 * runs)
    mean = float(np.mean(np.clip(values, reference.min, reference.max)))
    allowed = half + MARGIN * abs(reference.mean)
    # Where a run of the reference is infinite, the counts alone are compared.
    difference = abs(mean - reference.mean) if math.isfinite(reference.mean) else 0.0
    alarm = ""
    if difference > allowed + ROUNDING * abs(reference.mean):
        alarm = f"mean {mean:,.6g}, reference {reference.mean:,.6g} +- {allowed:,.3g}"
    middle = (n + 1) // 2  # at or below the median; for odd n the larger half
    for sign, limit, rank, side in (
        (1.0, reference.max, n, "above the reference's largest"),
        (1.0, reference.median, middle, "above the reference's median"),
        (-1.0, reference.median, middle, "below the reference's median"),
        (-1.0, reference.min, n, "below the reference's smallest"),
    ):
        rounding = ROUNDING * abs(limit) if math.isfinite(limit) else 0.0
        count = int(np.sum(sign * values > sign * limit + rounding))
        if independent and not alarm and count >= too_many(runs, n, rank, level / 2 / 4):
            alarm = f"{count} of {runs} runs are {side}, {limit:,.6g}"
    share = difference / allowed if allowed else 0.0
    resolution = half / abs(reference.mean) if reference.mean else math.nan
    return BandResult(alarm, share, resolution)


@cache
def too_many(runs: int, reference_runs: int, rank: int, level: float) -> int:
    """Return the smallest alarming count of new values above an order statistic of the reference.

    `rank` is that of the order statistic: 1 is the smallest of the reference's values. The
    count is reached with probability `level` at most; runs + 1 if no count is so unlikely.
    """
    # The number of new values up to that order statistic is beta-binomial.
    up_to = stats.betabinom(runs, rank, reference_runs - rank + 1)
    at_most = np.cumsum(up_to.pmf(np.arange(runs + 1)))  # so many up to it, the others above
    return runs + 1 - int(np.searchsorted(at_most, level, side="right"))
