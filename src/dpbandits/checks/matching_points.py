"""Match the points of a figure in a check with the reference points that have the same law.

A reference at the papers' scale matches wherever the law is the same: the same cell, or, for
policies that do not use the horizon, the rounds that both have. A figure may also have a
reference at the scale of the profile `ci` itself.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np

from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.checks.tolerance_bands import Reference
from dpbandits.config import compose
from dpbandits.core import registry
from dpbandits.core.errors import UserError
from dpbandits.spec.figure import Bound, Curve, FigureSpec
from dpbandits.tables import references
from dpbandits.tables.series import Series, x_values

PROFILE = f"profile={references.CI}"
POINTS = 24  # most points of a curve that are compared


@dataclass(frozen=True)
class Point:
    """One point to compare with its reference."""

    panel: str
    curve: Curve
    i: int  # index of the point in the curve
    x: float
    scale: str  # of the reference: the papers' or `ci`
    reference: Reference | float  # a number for a bound, which has no randomness


def points(spec: FigureSpec) -> list[Point]:
    """Return every comparison of a figure at the scale of the profile `ci`.

    Raises UserError if a reference is unsound or a curve has no matching reference.
    """
    against = [whole_reference(spec.name)]
    if references.exists(spec.name, references.CI):
        against.append(Against(references.CI, spec, references.find(spec, references.CI)))
    every: list[Point] = []
    for panel in spec.panels:
        for curve in panel.curves:
            of_curve = [p for other in against for p in other.points(panel.letter, curve)]
            if not of_curve:
                raise UserError(
                    f"{spec.name}: no reference has the law of ({panel.letter}) {curve.label} at"
                    f" the scale of the profile {references.CI}:"
                    f" `python scripts/make_reference.py --ci {spec.name}` makes one"
                )
            every += of_curve
    return every


@dataclass(frozen=True)
class Against:
    """A reference: its scale, the figure it was made from and its curves."""

    scale: str
    spec: FigureSpec
    series: references.Found

    def points(self, panel: str, curve: Curve) -> list[Point]:
        """Return the comparisons of a curve with its namesake here, thinned to POINTS each."""
        x = x_values(curve)
        return [
            Point(panel, curve, i, float(x[i]), self.scale, _reference(series, j))
            for other, series in self.same(panel, curve)
            for i, j in thinned(_common(curve, x, other, series))
        ]

    def same(self, panel: str, curve: Curve) -> list[tuple[Curve, Series]]:
        """Return the curve of this name with its reference, as a list of at most one pair."""
        place = panel, curve.label
        curves = [c for p in self.spec.panels for c in p.curves if (p.letter, c.label) == place]
        return [(other, self.series[place]) for other in curves if place in self.series]


def whole_reference(figure: str) -> Against:
    """Load the reference of a figure at the papers' scale, which must have all of its curves."""
    spec, _ = compose.load(figure, [])
    read = references.read(spec, references.PAPER)
    return Against(references.PAPER, spec, {(s.panel, s.label): s for s in read})


def beyond(spec: FigureSpec, whole: Against, times: int) -> FigureSpec:
    """Return the part of the figure that a reference of the profile must hold, at `times` the runs.

    Keeps only the curves for which the reference at the papers' scale lacks points, or has no more
    runs than a check.
    """

    def suffices(panel: str, curve: Curve) -> bool:
        x = x_values(curve)
        return any(
            len(_common(curve, x, other, series)) == len(x)
            and (not series.runs or series.runs > curve.runs)
            for other, series in whole.same(panel, curve)
        )

    panels = (
        replace(
            p,
            curves=tuple(
                replace(c, runs=times * c.runs) for c in p.curves if not suffices(p.letter, c)
            ),
        )
        for p in spec.panels
    )
    return replace(spec, panels=tuple(panel for panel in panels if panel.curves))


def _reference(series: Series, j: int) -> Reference | float:
    if not series.runs:
        return float(series.mean[j])
    statistics = ("mean", "std", "median", "min", "max")
    return Reference(series.runs, **{name: float(getattr(series, name)[j]) for name in statistics})


def _common(curve: Curve, x: np.ndarray, other: Curve, series: Series) -> list[tuple[int, int]]:
    # Index pairs of the points at which a curve and a reference have the same law.
    place = {each: j for j, each in enumerate(series.x.tolist())}
    shared = [(i, place[each]) for i, each in enumerate(x.tolist()) if each in place]
    if curve.x is None or other.x is None:
        same = curve.x is other.x and _same_laws(_played(curve, 0), _played(other, 0), True)
        return shared if same else []
    of_x = {value: _played(other, j) for j, value in enumerate(other.x)}
    return [(i, j) for i, j in shared if _same_laws(_played(curve, i), of_x[float(x[i])], False)]


def _played(curve: Curve, i: int) -> tuple[AnyCell | Bound, ...]:
    # A source of a curve, with its counterpart if it has one.
    return curve.sources[i], *curve.against[i : i + 1]


def _same_laws(a: Sequence[AnyCell | Bound], b: Sequence[AnyCell | Bound], over_time: bool) -> bool:
    return len(a) == len(b) and all(map(_same_law, a, b, repeat(over_time)))


def _same_law(a: AnyCell | Bound, b: AnyCell | Bound, over_time: bool) -> bool:
    # Compares laws at a common point. Over time, a shorter game may be the start of a longer one.
    ignored = {"seed", "grid"}
    if over_time and not (isinstance(a, Cell) and depends_on_horizon(a)):
        ignored.add("horizon")
    return _law(a, ignored) == _law(b, ignored)


def _law(source: AnyCell | Bound, ignored: Collection[str]) -> dict[str, Any]:
    if isinstance(source, Bound):
        law = {"bound": source.function, **dict(source.arguments)}
    else:
        law = source.description()
    return {name: value for name, value in law.items() if name not in ignored}


def depends_on_horizon(cell: Cell) -> bool:
    """Return whether the horizon T affects the law of the first rounds.

    It does if it is a parameter of the algorithm, or if the environment has a table of gains.
    """
    by_table = hasattr(registry.environment(cell.environment), "table")
    return by_table or "horizon" in cell.params._fields


def thinned(items: Sequence[Any]) -> list[Any]:
    """Return at most POINTS items, evenly spaced, with the first and the last."""
    if len(items) <= POINTS:
        return list(items)
    return [items[i] for i in np.linspace(0, len(items) - 1, POINTS).round().astype(int)]
