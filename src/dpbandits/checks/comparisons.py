"""Comparisons and ranks of means that have standard errors, and the wording of numbers."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dpbandits.tables.series import Series

ERRORS = 3  # standard errors by which a difference must exceed 0
NORMAL = 1.959964  # quantile of the normal distribution, for an interval of 95 %
ROUNDING = 1e-9  # relative; smaller differences count as 0


class Mean(NamedTuple):
    """Mean over runs with its standard error."""

    value: float
    error: float


class Order(NamedTuple):
    """Difference of two means, positive if the first is the lower one, with its error."""

    room: float
    error: float

    @property
    def in_errors(self) -> float:
        """The difference in standard errors."""
        if self.error > 0:
            return self.room / self.error
        return math.copysign(math.inf, self.room) if self.room else 0.0

    @property
    def is_clear(self) -> bool:
        """True if the first mean is lower by more than ERRORS standard errors."""
        return self.in_errors > ERRORS

    @property
    def runs_factor(self) -> float:
        """Factor on the number of runs at which this difference would count."""
        return (ERRORS / self.in_errors) ** 2 if self.in_errors else math.inf


def order(one: Mean, other: Mean) -> Order:
    """Compare two means of independent runs."""
    smallest = ROUNDING * max(abs(one.value), abs(other.value))
    room, error = other.value - one.value, math.hypot(one.error, other.error)
    return Order(*(n if abs(n) > smallest else 0.0 for n in (room, error)))


class Rank(NamedTuple):
    """Rank of a curve among several (1: the lowest mean), with its best and worst possible rank.

    Curves with clearly lower means are always before it, those with clearly higher means always
    behind it; all others may be on either side. Intervals of ranks need no order among curves that
    cannot be distinguished; a ranking with ties would need one.
    """

    place: float  # equal means share the middle of their ranks
    best: float
    worst: float


def ranks(series: Sequence[Series], i: int) -> list[Rank]:
    """Return the ranks of the curves at their i-th x, in the order of `series`."""
    means, found = [Mean(s.mean[i], s.error(i)) for s in series], []
    for k, mean in enumerate(means):
        compared = [order(other, mean) for other in means[:k] + means[k + 1 :]]
        lower = sum(other.room > 0 for other in compared)
        equal = sum(other.room == 0 for other in compared)
        best = 1 + sum(other.is_clear for other in compared)
        worst = 1 + sum(other.in_errors >= -ERRORS for other in compared)
        found.append(Rank(1 + lower + equal / 2, best, worst))
    return found


def mean_rank(several: Sequence[Rank]) -> Rank:
    """Return the mean rank over several games; best and worst are averaged separately."""
    place, best, worst = (sum(n) / len(several) for n in zip(*several, strict=True))
    return Rank(place, best, worst)


def runs_to_decide(factors: Iterable[float], runs: int) -> float:
    """Return the number of runs at which all of several differences would count.

    It exceeds `runs`, which leave at least one of them undecided; inf for a difference of 0.
    """
    needed = max(factors, default=math.inf) * runs
    return max(runs + 1, math.ceil(needed)) if math.isfinite(needed) else math.inf


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
