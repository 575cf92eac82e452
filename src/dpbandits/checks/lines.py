"""Curves with the statistics of their runs, and the points at which they are compared."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpbandits.checks.comparisons import ROUNDING, plain, with_error
from dpbandits.curves.evidence import Evidence
from dpbandits.spec.claim_tests import OTHERS, At, Span
from dpbandits.spec.figure import Curve


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
        """Return a statistic of the runs at point i, one of spec.claim_tests.STATISTICS."""
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
