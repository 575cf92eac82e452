"""Ranks of curves by their means, and the ranks that the standard errors leave possible."""

from collections.abc import Sequence
from typing import NamedTuple

from dpbandits.checks.comparisons import ERRORS, Mean, order
from dpbandits.tables.series import Series


class Rank(NamedTuple):
    """Rank of a curve among several (1: the lowest mean), with its best and worst possible rank.

    Curves with clearly lower means are always before it, those with clearly higher means always
    behind it; all others may be on either side. "Clearly" means a difference of more than three
    standard errors, as for claims. Intervals of ranks need no order among curves that cannot be
    distinguished; a ranking with ties would need one.
    """

    place: float  # equal means share the middle of their ranks
    best: float
    worst: float


def ranks(series: Sequence[Series], i: int) -> list[Rank]:
    """Return the ranks of the curves at their i-th x, in the order of `series`."""
    return [_rank(own, [other for other in series if other is not own], i) for own in series]


def mean_rank(several: Sequence[Rank]) -> Rank:
    """Return the mean rank over several games; best and worst are averaged separately."""
    place, best, worst = (sum(n) / len(several) for n in zip(*several, strict=True))
    return Rank(place, best, worst)


def _rank(own: Series, others: Sequence[Series], i: int) -> Rank:
    compared = [
        order(Mean(other.mean[i], other.error(i)), Mean(own.mean[i], own.error(i)))
        for other in others
    ]
    lower = sum(each.room > 0 for each in compared)
    alike = sum(each.room == 0 for each in compared)
    return Rank(
        place=1 + lower + alike / 2,
        best=1 + sum(each.is_clear for each in compared),
        worst=1 + sum(each.in_errors >= -ERRORS for each in compared),
    )
