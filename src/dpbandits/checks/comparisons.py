"""Ranks of means that have standard errors, and the wording of numbers."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpbandits.tables.series import Series

ERRORS = 3  # standard errors by which a difference must exceed 0
NORMAL = 1.959964  # quantile of the normal distribution, for an interval of 95 %
ROUNDING = 1e-9  # relative; smaller differences count as 0


class Rank(NamedTuple):
    """Rank of a curve among several (1: the lowest mean), with its best and worst possible rank.

    Only curves with clearly lower means are always before it, and those with clearly higher means
    always behind it.
    """

    place: float  # equal means share the middle of their ranks
    best: float
    worst: float


def ranks(series: Sequence[Series], i: int) -> list[Rank]:
    """Return the ranks of the curves at their i-th x, in the order of `series`."""
    means, deviations, runs = np.array([(s.mean[i], s.std[i], max(1, s.runs)) for s in series]).T
    errors = deviations / np.sqrt(runs)  # 0 for a bound
    room, error = np.subtract.outer(means, means), np.hypot.outer(errors, errors)
    smallest = ROUNDING * np.maximum.outer(np.abs(means), np.abs(means))
    room, error = (np.where(np.abs(n) > smallest, n, 0.0) for n in (room, error))
    # A curve is level with itself.
    lower, level = (room > 0).sum(1), (room == 0).sum(1) - 1
    best, worst = 1 + (room > ERRORS * error).sum(1), (room >= -ERRORS * error).sum(1)
    return [Rank(*rank) for rank in zip(1 + lower + level / 2, best, worst, strict=True)]


def mean_rank(several: Sequence[Rank]) -> Rank:
    """Return the mean rank over several games; best and worst are averaged separately."""
    return Rank(*(sum(n) / len(several) for n in zip(*several, strict=True)))


def with_error(number: float, error: float) -> str:
    """Format a number, followed by its standard error in parentheses if it has one."""
    known = ROUNDING * abs(number) < error < math.inf
    return f"{plain(number)} ({plain(error)})" if known else plain(number)


def plain(number: float) -> str:
    """Format a number for readers: 4,080, 3.2, 0.0123, 1.3e-05."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def counted(number: int, noun: str) -> str:
    """Format a number of things: 1 figure, 2 figures."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
