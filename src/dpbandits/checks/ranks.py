"""Ranks of curves by their means, and what the standard errors leave open of them."""

from collections.abc import Sequence
from typing import NamedTuple

from dpbandits.checks.comparisons import Verdict, quotient
from dpbandits.curves.series import Series
from dpbandits.spec.claims import Limits

LOWER = Limits(at_most=1.0)  # of a quotient: the first number is the lower one


class Rank(NamedTuple):
    """The place of a curve among several, 1 the lowest mean, and the places that it may have.

    What is surely lower is before it, what is surely higher behind it, and the rest may be on
    either side. "Surely" is what decides a claim: a difference of three standard errors. This needs
    no order among curves that cannot be told apart, which ties would.
    """

    place: float  # of equal means, the middle of theirs
    best: float
    worst: float


def ranks(series: Sequence[Series], i: int) -> list[Rank]:
    """The ranks of curves at their i-th x."""
    return [_rank(one, [other for other in series if other is not one], i) for one in series]


def mean_rank(several: Sequence[Rank]) -> Rank:
    """The mean over several games, each end by itself."""
    place, best, worst = (sum(n) / len(several) for n in zip(*several, strict=True))
    return Rank(place, best, worst)


def _rank(one: Series, others: Sequence[Series], i: int) -> Rank:
    compared = [
        quotient(LOWER, (other.mean[i], one.mean[i]), (other.error(i), one.error(i)), "")
        for other in others
    ]
    verdicts = [each.verdict(up_to_noise=False) for each in compared]
    lower = sum(each.room > 0 for each in compared)
    alike = sum(each.room == 0 for each in compared)
    return Rank(
        place=1 + lower + alike / 2,
        best=1 + verdicts.count(Verdict.HOLDS),
        worst=1 + len(others) - verdicts.count(Verdict.FAILS),
    )
