"""Ranks of means or medians that have standard errors, and the wording of numbers."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpbandits.tables.series import Series

ERRORS = 3  # standard errors by which a difference must exceed 0
NORMAL = 1.959964  # quantile of the normal distribution, for an interval of 95 %
RARE = 0.05  # a mean whose relative standard error exceeds this rests on rare runs
# Standard error of the median over the distance of the quartiles, times the root of the runs: of
# runs that are normal between their quartiles (McGill, Tukey and Larsen, 1978), whatever the tails.
OF_QUARTILES = math.sqrt(math.pi / 2) / 1.349
ROUNDING = 1e-9  # relative; smaller differences count as 0


class Rank(NamedTuple):
    """Rank of a curve among several (1: the lowest), with its best and worst possible rank.

    Only curves that are clearly lower are always before it, and those that are clearly higher
    always behind it.
    """

    midrank: float  # equal values share the middle of their ranks
    best: float
    worst: float


def is_rare(series: Series, i: int) -> bool:
    """Return whether the mean at the i-th x rests on rare runs, so that its error is too large."""
    return _error(series, i) > RARE * abs(series.mean[i])


def measured(series: Sequence[Series], i: int) -> list[tuple[float, float]]:
    """Return mean or median of every curve at the i-th x, with its standard error.

    They rank the curves: means or, if one of them rests on rare runs, medians. The spread of the
    curves must be their quartiles, from which the errors of the medians follow.
    """
    if any(is_rare(s, i) for s in series):
        errors = [OF_QUARTILES * (s.high[i] - s.low[i]) / math.sqrt(max(1, s.runs)) for s in series]
        return [(float(s.median[i]), float(e)) for s, e in zip(series, errors, strict=True)]
    return [(float(s.mean[i]), _error(s, i)) for s in series]


def _error(series: Series, i: int) -> float:
    # Standard error of the mean; 0 for a bound.
    return float(series.std[i]) / math.sqrt(max(1, series.runs))


def ranks(series: Sequence[Series], i: int) -> list[Rank]:
    """Return the ranks of the curves at their i-th x, in the order of `series`."""
    numbers, errors = np.array(measured(series, i)).T
    distance, error = np.subtract.outer(numbers, numbers), np.hypot.outer(errors, errors)
    smallest = ROUNDING * np.maximum.outer(np.abs(numbers), np.abs(numbers))
    distance, error = (np.where(np.abs(n) > smallest, n, 0.0) for n in (distance, error))
    # A curve is level with itself.
    lower, level = (distance > 0).sum(1), (distance == 0).sum(1) - 1
    best, worst = 1 + (distance > ERRORS * error).sum(1), (distance >= -ERRORS * error).sum(1)
    return [Rank(*rank) for rank in zip(1 + lower + level / 2, best, worst, strict=True)]


def mean_rank(several: Sequence[Rank]) -> Rank:
    """Return the mean rank over several games; best and worst are averaged separately."""
    return Rank(*(sum(n) / len(several) for n in zip(*several, strict=True)))


def with_error(number: float, error: float) -> str:
    """Format a number, followed by its standard error in parentheses if it has one."""
    has_error = ROUNDING * abs(number) < error < math.inf
    return f"{readable(number)} ({readable(error)})" if has_error else readable(number)


def readable(number: float) -> str:
    """Format a number for readers: 4,080, 3.2, 0.0123, 1.3e-05."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def plural(number: int, noun: str) -> str:
    """Format a number of things: 1 figure, 2 figures."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
