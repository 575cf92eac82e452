"""Comparisons of curves: matching points, statistics with standard errors, and their wording."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from dpbandits.curves.evidence import Evidence
from dpbandits.spec.claims import OTHERS, At, Limits, Span
from dpbandits.spec.figure import Curve

ERRORS = 3  # standard errors by which a difference must exceed 0
ROUNDING = 1e-9  # relative; smaller differences count as 0
TINY = 1e-300  # smallest divisor
NORMAL = 1.959964  # quantile of the normal law, for an interval of 95 %


class Verdict(Enum):
    """Verdict on a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    DEPENDS = "depends"  # on the reading
    UNDECIDED = "undecided"  # the standard errors are too large
    NOT_TESTED = "not tested"  # the test says nothing: see Silence


class Silence(Enum):
    """Reason why a test says nothing."""

    VACUOUS = "vacuous"  # the bound exceeds the largest possible regret
    NOT_APPLICABLE = "not applicable"  # a condition of the sentence is not met
    NOT_SHOWN = "not shown"  # the proof has a gap, which is no counterexample
    NO_EVIDENCE = "no evidence"  # the curves have not been computed


@dataclass(frozen=True)
class Line:
    """A curve of the specification with the statistics of its runs."""

    curve: Curve
    evidence: Evidence

    @property
    def label(self) -> str:
        """The curve's label in tables."""
        return self.curve.label

    @property
    def all_x(self) -> np.ndarray:
        """The x of all points, float64 of shape (x,)."""
        return self.evidence.x

    def mean(self, i: int) -> float:
        """Return the mean over the runs at point i."""
        return float(self.evidence.statistics["mean"][i])

    def error(self, i: int, name: str = "mean") -> float:
        """Return the standard error of a statistic at point i; 0 for a bound."""
        return 0.0 if name == "x" else float(self.evidence.errors[name][i])

    def statistic(self, i: int, name: str) -> float:
        """Return a statistic of the runs at point i; the names are in spec.claims.STATISTICS."""
        return float(self.all_x[i] if name == "x" else self.evidence.statistics[name][i])

    def index(self, x: float) -> int:
        """Return the index of the last point at or below x, or 0 if there is none."""
        reached = np.searchsorted(self.all_x, x * (1 + ROUNDING), side="right")
        return max(0, int(reached) - 1)

    def points(self, at: At | float, between: Span) -> list[int]:
        """Return the indices of the points that `at` and `between` select."""
        if isinstance(at, float):
            return [self.index(at)]
        low, high = between
        x = self.all_x
        inside = np.flatnonzero((low * (1 - ROUNDING) <= x) & (x <= high * (1 + ROUNDING)))
        return [int(i) for i in (inside[-1:] if at is At.END else inside)]

    def where(self, i: int, at: At | float = At.EVERYWHERE) -> str:
        """Return the words for the x of point i; empty for the end point of a test at the end."""
        if at is At.END and i == len(self.all_x) - 1:
            return ""
        return f" at {self.x(i)}"

    def x(self, i: int) -> str:
        """Return the words for the x of point i."""
        x = float(self.all_x[i])
        return f"{self.curve.over} = {f'{x:,.0f}' if self.curve.x is None else f'{x:.4g}'}"

    def text(self, i: int, statistic: str = "mean") -> str:
        """Return the curve's label and a statistic at point i."""
        label = self.label
        if statistic == "mean":
            return f"{label} {self.mean_text(i)}"
        if statistic == "x":
            return f"{label} {plain(self.statistic(i, statistic))} (x)"
        number = with_error(self.statistic(i, statistic), self.error(i, statistic))
        return f"{label} {number} ({statistic})"

    def mean_text(self, i: int) -> str:
        """Return the mean at point i, followed by its standard error in parentheses if not 0."""
        return with_error(self.mean(i), self.error(i))


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
        played = [other for other, lines in panel.items() if lines[0].evidence.runs]
        to = [other for other in played if other not in of]
    for other in to:
        yield from zip(ones, panel[other], strict=True)


def common(a: Line, b: Line, at: At | float, between: Span) -> list[tuple[int, int]]:
    """Return index pairs (i, j) of the points with equal x that `at` and `between` select.

    If `at` is a number, the only pair is the last point of each line up to that x.
    """
    if isinstance(at, float):
        return [(a.index(at), b.index(at))]
    place = {x: j for j, x in enumerate(b.all_x.tolist())}
    inside = a.points(At.EVERYWHERE, between)
    shared = [(i, place[x]) for i in inside if (x := float(a.all_x[i])) in place]
    return shared[-1:] if at is At.END else shared


@dataclass(frozen=True)
class Measure:
    """Measured number beside the limit that it is compared with."""

    value: float
    error: float  # standard error; inf: unknown
    limit: float
    side: str  # "at least" or "at most"
    word: str = ""  # word of the paper to which this project gave the limit

    @property
    def interval(self) -> tuple[float, float]:
        """Interval that covers the number with a confidence of 95 %."""
        return self.value - NORMAL * self.error, self.value + NORMAL * self.error

    @property
    def distance(self) -> float:
        """Distance from the limit, as a share of it."""
        return abs(self.value - self.limit) / max(abs(self.limit), TINY)

    @property
    def runs_factor(self) -> float:
        """Factor on the number of runs at which this difference would count."""
        away = abs(self.value - self.limit)
        return (ERRORS * self.error / away) ** 2 if away else math.inf


@dataclass(frozen=True)
class Compared:
    """Distance of a number from its limit, positive if it is kept, with its standard error."""

    room: float
    error: float
    words: str
    share: float = 0.0  # the distance as a share of the limit
    measure: Measure | None = None

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

    No division decides, because the second number may be 0.
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
            measure = None
            if b:
                own = math.hypot(error_a, a / b * error_b) / abs(b)
                measure = Measure(a / b, own, limit, side, limits.word)
            yield Compared(room, error, words + asked, share, measure)


def within(limits: Limits, value: float, error: float, words: str) -> Compared:
    """Compare a number with its limits."""
    return quotient(limits, (value, 1.0), (error, 0.0), words)


def with_error(number: float, error: float) -> str:
    """Format a number, followed by its standard error in parentheses if it has one."""
    known = ROUNDING * abs(number) < error < math.inf
    return f"{plain(number)} ({plain(error)})" if known else plain(number)


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
