"""Do new runs have the law of reference runs? Tests with a stated probability of a false alarm.

A reference tells the mean, standard deviation, median, smallest and largest value of its n runs;
new are the values of N runs with other seeds. Means of few runs of a skewed law are not normal, and
batched policies end in so few distinct values that a standard deviation is often 0. So there are
two tests, and each gets half of the probability:

* The mean of the new values, each moved into the range of the reference, lies in a band around the
  reference's. Its half width is a Student quantile with n - 1 degrees of freedom (the standard
  deviation is the reference's alone) times the standard error of the difference, and the second
  term of Bernstein's inequality for N values that lie no farther from the mean than the
  reference's farthest: where one run in a thousand is lost, the first term alone is far too small.
* The number of new values above the reference's largest, above or below its median, below its
  smallest is not too large. These have known laws whatever that of the values, beta-binomial, and
  ties only make large numbers less likely: the exceedance tests. A reference whose runs all agree
  is compared exactly by them, but that a few runs may differ.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats

ROUNDING = 1e-9  # of a number; nearer ones are equal
MARGIN = 0.002  # of the reference's mean: a smaller difference is none that a figure could show


@dataclass(frozen=True)
class Reference:
    """What a reference tells of its runs at one point."""

    runs: int
    mean: float
    std: float
    median: float
    min: float
    max: float


@dataclass(frozen=True)
class Outcome:
    """What came of one comparison."""

    alarm: str  # in words; empty where there is none
    share: float  # of the band that the difference of the means takes
    resolution: float  # half width of the band over the reference's mean; nan where that is 0


def compare(values: np.ndarray, reference: Reference, level: float) -> Outcome:
    """New runs against a reference of runs; a false alarm has the probability `level` at most."""
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
    return Outcome(alarm, share, resolution)


def compare_exact(value: float, reference: float) -> Outcome:
    """A number that nobody draws, up to rounding."""
    # Equal infinities differ by no number.
    equal = value == reference or abs(value - reference) <= ROUNDING * abs(reference)
    alarm = "" if equal else f"{value!r}, reference {reference!r}, nothing is drawn here"
    return Outcome(alarm, 0.0 if equal else math.inf, 0.0)


def half_width(reference: Reference, runs: int, level: float) -> float:
    """Half the width of the band for the mean of new runs."""
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
    middle = (n + 1) // 2  # below or at the median: the larger of both halves
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
    """The least number of new values above the reference's value of this place that is too large.

    Places count from 1, the smallest. runs + 1: no number is.
    """
    # Of the new values, the number up to that place is beta-binomial.
    up_to = stats.betabinom(runs, place, of_reference - place + 1)
    at_most = np.cumsum(up_to.pmf(np.arange(runs + 1)))  # so many up to it, the others above
    return runs + 1 - int(np.searchsorted(at_most, level, side="right"))
