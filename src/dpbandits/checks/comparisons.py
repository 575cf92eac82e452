"""Comparisons of curves: matching points, statistics with standard errors, and their wording."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from dpbandits.curves.series import Series
from dpbandits.spec.claims import OTHERS, At, Limits, Span
from dpbandits.spec.figure import Curve

ERRORS = 3  # standard errors by which a difference must exceed 0
ROUNDING = 1e-9  # relative; smaller differences count as 0
TINY = 1e-300  # smallest divisor


class Verdict(Enum):
    """Verdict on a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    DEPENDS = "depends"  # on the reading
    UNDECIDED = "undecided"  # the standard errors are too large


@dataclass(frozen=True)
class Line:
    """A curve of the specification with its summary over the runs."""

    curve: Curve
    series: Series

    def mean(self, i: int) -> float:
        """Return the mean over the runs at point i."""
        return float(self.series.mean[i])

    def error(self, i: int) -> float:
        """Return the standard error of the mean at point i; 0 for a bound."""
        return self.series.error(i)

    def statistic(self, i: int, name: str) -> float:
        """Return a statistic of the runs at point i; the names are in spec.claims.STATISTICS."""
        if name == "spread":
            return float(self.series.max[i] - self.series.min[i])
        if name == "off_mean":
            off, std = abs(float(self.series.centre[i]) - self.mean(i)), float(self.series.std[i])
            return off / std if std else 0.0
        return float(getattr(self.series, name)[i])

    def index(self, x: float) -> int:
        """Return the index of the last point at or below x, or 0 if there is none."""
        reached = np.searchsorted(self.series.x, x * (1 + ROUNDING), side="right")
        return max(0, int(reached) - 1)

    def points(self, at: At | float, between: Span) -> list[int]:
        """Return the indices of the points that `at` and `between` select."""
        if isinstance(at, float):
            return [self.index(at)]
        low, high = between
        x = self.series.x
        inside = np.flatnonzero((low * (1 - ROUNDING) <= x) & (x <= high * (1 + ROUNDING)))
        return [int(i) for i in (inside[-1:] if at is At.END else inside)]

    def where(self, i: int, at: At | float = At.EVERYWHERE) -> str:
        """Return the words for the x of point i; empty for the end point of a test at the end."""
        if at is At.END and i == len(self.series.x) - 1:
            return ""
        return f" at {self.x(i)}"

    def x(self, i: int) -> str:
        """Return the words for the x of point i."""
        x = float(self.series.x[i])
        return f"{self.curve.over} = {f'{x:,.0f}' if self.curve.x is None else f'{x:.4g}'}"

    def text(self, i: int, statistic: str = "mean") -> str:
        """Return the curve's label and a statistic at point i."""
        label = self.series.label
        if statistic == "mean":
            return f"{label} {self.mean_text(i)}"
        return f"{label} {plain(self.statistic(i, statistic))} ({statistic})"

    def mean_text(self, i: int) -> str:
        """Return the mean at point i, followed by its standard error in parentheses if not 0."""
        mean, error = self.mean(i), self.error(i)
        known = error > ROUNDING * abs(mean)
        return f"{plain(mean)} ({plain(error)})" if known else plain(mean)


Lines = dict[str, dict[str, list[Line]]]  # by panel and name; with `each` several of one name


def each(lines: Lines, panels: Iterable[str], names: Iterable[str]) -> Iterator[tuple[str, Line]]:
    """Yield (panel, line) for every line of these names, panel by panel."""
    names = tuple(names)
    for panel in panels:
        for name in names:
            for line in lines[panel][name]:
                yield panel, line


def pairs(
    ones: Sequence[Line], panel: dict[str, list[Line]], of: Sequence[str], to: Sequence[str]
) -> Iterator[tuple[Line, Line]]:
    """Pair the lines `ones` of one name with the lines of every name in `to`.

    `to` equal to `others` selects all played curves of the panel that are not in `of`. Curves with
    `each` have several lines, which are paired value by value.
    """
    if to == (OTHERS,):
        played = [other for other, lines in panel.items() if lines[0].series.runs]
        to = [other for other in played if other not in of]
    for other in to:
        yield from zip(ones, panel[other], strict=True)


def common(a: Line, b: Line, at: At | float, between: Span) -> list[tuple[int, int]]:
    """Return index pairs (i, j) of the points with equal x that `at` and `between` select.

    If `at` is a number, the only pair is the last point of each line up to that x.
    """
    if isinstance(at, float):
        return [(a.index(at), b.index(at))]
    place = {x: j for j, x in enumerate(b.series.x.tolist())}
    inside = a.points(At.EVERYWHERE, between)
    shared = [(i, place[x]) for i in inside if (x := float(a.series.x[i])) in place]
    return shared[-1:] if at is At.END else shared


@dataclass(frozen=True)
class Compared:
    """Distance of a number from its limit, positive if it is kept, with its standard error."""

    room: float
    error: float
    words: str
    share: float = 0.0  # the distance as a share of the limit

    @property
    def in_errors(self) -> float:
        """The distance in standard errors."""
        if self.error > 0:
            return self.room / self.error
        return math.copysign(math.inf, self.room) if self.room else 0.0

    def verdict(self, up_to_noise: bool) -> Verdict:
        """Return the verdict on the limit; with `up_to_noise`, undecided counts as HOLDS."""
        if self.in_errors > ERRORS:
            return Verdict.HOLDS
        if self.in_errors < -ERRORS:
            return Verdict.FAILS
        return Verdict.HOLDS if up_to_noise else Verdict.UNDECIDED

    def order(self, up_to_noise: bool) -> tuple[int, float, float]:
        """Return a sort key: failures first, the clearest one leading; kept limits last.

        Among kept limits, the one with the smallest share comes first.
        """
        verdict = self.verdict(up_to_noise)
        rank = (Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS).index(verdict)
        return rank, 0.0 if verdict is Verdict.HOLDS else self.in_errors, self.share


def quotient(
    limits: Limits, pair: tuple[float, float], errors: tuple[float, float], words: str
) -> Compared:
    """Compare the ratio of two numbers with its limits and return the less favourable side.

    No division is made, because the second number may be 0.
    """
    return min(_sides(limits, pair, errors, words), key=lambda side: side.order(False))


def _sides(
    limits: Limits, pair: tuple[float, float], errors: tuple[float, float], words: str
) -> Iterator[Compared]:
    (a, b), (error_a, error_b) = pair, errors
    sides = (limits.at_least, 1.0, "at least"), (limits.at_most, -1.0, "at most")
    for limit, sign, side in sides:
        if math.isfinite(limit):
            smallest = ROUNDING * max(abs(a), abs(limit * b))
            room, error = sign * (a - limit * b), math.hypot(error_a, limit * error_b)
            room, error = (n if abs(n) > smallest else 0.0 for n in (room, error))
            asked = f"; asked: {side} {limit:,.10g}" if limit != 1 else ""
            share = room / max(abs(limit * b), smallest, TINY)
            yield Compared(room, error, words + asked, share)


def within(limits: Limits, value: float, error: float, words: str) -> Compared:
    """Compare a number with its limits."""
    return quotient(limits, (value, 1.0), (error, 0.0), words)


def plain(number: float) -> str:
    """Format a number for readers: 4,080, 3.2, 0.0123, 1.3e-05."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def ratio(a: float, b: float) -> str:
    """Format the quotient a / b; near 1 with more digits, as they matter there."""
    if not b:
        return "a division by 0"
    return f"{a / b:.4g}" if 0.9 < a / b < 1.1 else plain(a / b)
