"""`dpbandits check`: are the figures as they are made today those of their references?

Every figure is played with few runs and other seeds (the profile `ci`) and compared, curve by
curve, with the committed references: that of the papers' scale wherever the law is the same (the
same cell; of policies that are not told the horizon, the rounds that both have), and that of the
profile itself, which a figure needs whose horizon the profile shortens.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits import config, references, registry, runner
from dpbandits.atomic import check_writable
from dpbandits.bands import Outcome, Reference, compare, compare_exact
from dpbandits.cell import AnyCell, Cell
from dpbandits.config import Settings
from dpbandits.curves import Series, places, values
from dpbandits.errors import UserError
from dpbandits.spec import Bound, Curve, FigureSpec
from dpbandits.store import Store

PROFILE = f"profile={references.CI}"
FALSE_ALARM = 0.001  # probability that a whole check alarms though every law is the same
POINTS = 24  # of a curve are compared at most
MAY_CHANGE = ("seed=", "runs=", "engine.", "paths.")


@dataclass(frozen=True)
class Point:
    """One comparison to be made."""

    panel: str
    curve: Curve
    i: int  # the place of the point in the curve
    x: float
    scale: str  # of the reference
    reference: Reference | float  # a number: of a bound, nothing is drawn


@dataclass(frozen=True)
class Checked:
    """What came of a figure."""

    figure: str
    outcomes: tuple[tuple[Point, Outcome], ...]

    @property
    def alarms(self) -> list[tuple[Point, Outcome]]:
        """The comparisons that went wrong."""
        return [(point, outcome) for point, outcome in self.outcomes if outcome.alarm]

    def line(self) -> str:
        """One line for people."""
        drawn = [o for p, o in self.outcomes if o.resolution != 0]
        resolved = [o.resolution for o in drawn if math.isfinite(o.resolution)]
        told = f"{self.figure}: {len(self.outcomes)} comparisons"
        if resolved:
            share = max(o.share for o in drawn)
            told += (
                f"; differences of the means take {share:.2f} of their bands at most; half a band"
                f" is {100 * float(np.median(resolved)):.1f} % of the mean in the middle"
            )
        wrong = len({(p.panel, p.curve.label) for p, _ in self.alarms})
        return told + (f"; {wrong} curves are OUTSIDE" if wrong else "; all inside")


def prepare(figure: str, overrides: Sequence[str]) -> tuple[FigureSpec, Settings]:
    """The figure as the check plays it."""
    for override in overrides:
        if not override.startswith(MAY_CHANGE):
            raise UserError(
                f"check compares the figures as their files have them, {override!r} would change"
                f" them; it takes {', '.join(MAY_CHANGE)}"
            )
    return config.load(figure, [PROFILE, *overrides])


def points(spec: FigureSpec) -> list[Point]:
    """Every comparison of the figure. UserError: a reference is unsound, or a curve has none."""
    against = [whole_reference(spec.name)]
    if references.exists(spec.name, references.CI):
        own, _ = config.load(spec.name, [PROFILE])
        against.append(Against(references.CI, own, references.find(own, references.CI)))
    found = []
    for panel in spec.panels:
        for curve in panel.curves:
            of_curve = [p for other in against for p in other.points(panel.letter, curve)]
            if not of_curve:
                raise UserError(
                    f"{spec.name}: no reference has the law of ({panel.letter}) {curve.label} at"
                    f" the scale of the profile {references.CI}:"
                    f" `python scripts/make_reference.py --ci {spec.name}` makes one"
                )
            found += of_curve
    return found


@dataclass(frozen=True)
class Against:
    """A reference: its scale, the figure that it is of and its curves."""

    scale: str
    spec: FigureSpec
    series: references.Found

    def points(self, panel: str, curve: Curve) -> list[Point]:
        """The comparisons of a curve with the same one here: a part of the common points."""
        x = places(curve)
        return [
            Point(panel, curve, i, float(x[i]), self.scale, _reference(series, j))
            for other, series in self.same(panel, curve)
            for i, j in thinned(_common(curve, x, other, series))
        ]

    def same(self, panel: str, curve: Curve) -> list[tuple[Curve, Series]]:
        """The curve of this name, with its reference; at most one."""
        place = panel, curve.label
        curves = [c for p in self.spec.panels for c in p.curves if (p.letter, c.label) == place]
        return [(other, self.series[place]) for other in curves if place in self.series]


def whole_reference(figure: str) -> Against:
    """The reference of a figure at the papers' scale, which must have all of its curves."""
    spec, _ = config.load(figure, [])
    read = references.read(spec, references.PAPER)
    return Against(references.PAPER, spec, {(s.panel, s.label): s for s in read})


def suffices(whole: Against, panel: str, curve: Curve, runs: int) -> bool:
    """Whether the papers' scale has all points of a curve, and of more runs than a check of it."""
    x = places(curve)
    return any(
        len(_common(curve, x, other, series)) == len(x) and (not series.runs or series.runs > runs)
        for other, series in whole.same(panel, curve)
    )


def play(spec: FigureSpec, settings: Settings) -> Store:
    """Play what is missing; the store that has it all."""
    store = Store(settings.cache)
    tasks = runner.plan(spec.cells(), spec.runs, store, settings.block)
    if tasks:
        check_writable(store.folder)
    if failures := runner.play(tasks, store, settings.workers, spec.name):
        first = failures[0]
        raise UserError(f"{spec.name}: {first.task.cell.name} failed: {first.error}")
    return store


def compare_all(
    spec: FigureSpec, settings: Settings, found: Sequence[Point], level: float
) -> Checked:
    """Play what is missing and make the comparisons, each at a probability of a false alarm."""
    store = play(spec, settings)
    of_curve = {
        (point.panel, point.curve): values(spec, point.curve, store)
        for point in {(point.panel, point.curve): point for point in found}.values()
    }
    made = ((p, _compare(of_curve[p.panel, p.curve][:, p.i], p.reference, level)) for p in found)
    return Checked(spec.name, tuple(made))


def _compare(column: np.ndarray, reference: Reference | float, level: float) -> Outcome:
    if isinstance(reference, float):
        return compare_exact(float(column[0]), reference)
    return compare(column, reference, level)


def _reference(series: Series, j: int) -> Reference | float:
    if not series.runs:
        return float(series.mean[j])
    told = ("mean", "std", "median", "min", "max")
    return Reference(series.runs, **{name: float(getattr(series, name)[j]) for name in told})


def _common(curve: Curve, x: np.ndarray, other: Curve, series: Series) -> list[tuple[int, int]]:
    # The points at which a curve and a reference have the same law.
    place = {each: j for j, each in enumerate(series.x.tolist())}
    shared = [(i, place[each]) for i, each in enumerate(x.tolist()) if each in place]
    if curve.x is None or other.x is None:
        same = curve.x is other.x and _same_law(curve.sources[0], other.sources[0], True)
        return shared if same else []
    source = dict(zip(other.x, other.sources, strict=True))
    return [(i, j) for i, j in shared if _same_law(curve.sources[i], source[float(x[i])], False)]


def _same_law(a: AnyCell | Bound, b: AnyCell | Bound, over_time: bool) -> bool:
    # At a common point. Over time, a shorter game may be the beginning of a longer one.
    if isinstance(a, Bound) or isinstance(b, Bound):
        return isinstance(a, Bound) and isinstance(b, Bound) and _told(a) == _told(b)
    ignored = {"seed", "grid"}
    if over_time and isinstance(a, Cell) and not told_the_horizon(a):
        ignored.add("horizon")
    one, two = a.description(), b.description()
    return {k: one[k] for k in one if k not in ignored} == {
        k: two[k] for k in two if k not in ignored
    }


def _told(bound: Bound) -> tuple[str, Any]:
    return bound.function, {k: v for k, v in bound.arguments if k != "horizon"}


def told_the_horizon(cell: Cell) -> bool:
    """Whether T is in the law of the first rounds: by the algorithm, or by a table of gains."""
    by_table = hasattr(registry.environment(cell.environment), "table")
    return by_table or "horizon" in cell.params._fields


def thinned(found: Sequence[Any]) -> list[Any]:
    """At most POINTS of them, evenly, with the first and the last."""
    if len(found) <= POINTS:
        return list(found)
    return [found[i] for i in np.linspace(0, len(found) - 1, POINTS).round().astype(int)]


def check(figures: Sequence[str], overrides: Sequence[str]) -> int:
    """Check these figures, a line for each; the status is 1 where a curve is outside."""
    prepared = [prepare(figure, overrides) for figure in figures]
    found = {spec.name: points(spec) for spec, _ in prepared}
    number = sum(map(len, found.values()))
    if not number:
        raise UserError("check would compare nothing: no figure has a curve")
    alarms = 0
    for spec, settings in prepared:
        checked = compare_all(spec, settings, found[spec.name], FALSE_ALARM / number)
        print(checked.line(), flush=True)
        alarms += _tell(checked)
    print(
        f"{len(found)} figures, {number} comparisons:"
        f" {f'{alarms} curves are outside' if alarms else 'all inside'}; were every law the same,"
        f" one would be outside with a probability of {FALSE_ALARM:g} at most"
    )
    return 1 if alarms else 0


def _tell(checked: Checked) -> int:
    # The first alarm of every curve that has one; how many curves have.
    first = {(p.panel, p.curve.label): (p, o) for p, o in reversed(checked.alarms)}
    for (panel, label), (point, outcome) in first.items():
        file = f"figures/reference/{checked.figure}/{point.scale}.csv"
        print(f"  ({panel}) {label} at {point.x:,g}: {outcome.alarm} ({file})")
    return len(first)
