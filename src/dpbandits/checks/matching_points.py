"""Match the points of a figure in a check with the reference points that have the same law.

A reference at the papers' scale matches wherever the law is the same: the same cell, or, for
policies that do not use the horizon, the rounds that both have. A figure may also have a
reference at the scale of the profile `ci` itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpbandits.checks.tolerance_bands import Reference
from dpbandits.config import compose, conf_files
from dpbandits.config.settings import Settings
from dpbandits.core import registry
from dpbandits.core.errors import UserError
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.tables import references
from dpbandits.tables.series import Series, x_values

POINTS = 24  # most points of a curve that are compared
TIMES = 10  # runs of a reference at the scale of `ci`, as a multiple of those of a check
Pairs = dict[tuple[str, str], tuple[Curve, Series]]  # reference curves by panel and label


@dataclass(frozen=True)
class Point:
    """One point to compare with its reference."""

    panel: str
    curve: Curve
    i: int  # index of the point in the curve
    x: float
    profile: str  # of the reference
    reference: Reference | float  # a number for a bound, which has no randomness


def points(spec: FigureSpec) -> list[Point]:
    """Return every comparison of a figure at the scale of the profile `ci`, POINTS a curve.

    Raises UserError if a reference is unsound or a curve has no matching reference.
    """
    known = {references.PAPER: whole_reference(spec.name)}
    if references.record(spec.name, references.CI):
        known[references.CI] = _paired(spec, references.find(spec, references.CI))
    found: list[Point] = []
    for panel in spec.panels:
        for curve in panel.curves:
            before, x = len(found), x_values(curve).tolist()
            for profile, pairs in known.items():
                if pair := pairs.get((panel.letter, curve.label)):
                    for i, j in thinned(common(curve, *pair)):
                        reference = _reference(pair[1], j)
                        found.append(Point(panel.letter, curve, i, x[i], profile, reference))
            if len(found) == before:
                raise UserError(
                    f"{spec.name}: no reference has the law of ({panel.letter}) {curve.label} at"
                    f" the scale of the profile {references.CI}:"
                    f" `python scripts/make_reference.py --ci {spec.name}` makes one"
                )
    return found


def whole_reference(figure: str) -> Pairs:
    """Load the reference of a figure at the papers' scale, which must have all of its curves."""
    spec, _ = compose.load(figure, [])
    return _paired(spec, {(s.panel, s.label): s for s in references.read(spec, references.PAPER)})


def referenced(figure: str, profile: str) -> tuple[FigureSpec, Settings]:
    """Load the figure from which a reference of the profile is made; it may have no curve left.

    At the scale of `ci` it has the references' seed, TIMES the runs of a check, and the curves for
    which the reference at the papers' scale lacks points or has no more runs than a check.
    """
    if profile == references.PAPER:
        return compose.load(figure, [])
    seed = conf_files.read_yaml("conf/config.yaml")["seed"]
    spec, settings = compose.load(figure, [f"profile={profile}", f"seed={seed}"])
    whole, panels = whole_reference(figure), []
    for panel in spec.panels:
        curves = []
        for curve in panel.curves:
            pair = whole.get((panel.letter, curve.label))
            is_whole = pair and len(common(curve, *pair)) == len(x_values(curve))
            if not pair or not is_whole or 0 < pair[1].runs <= curve.runs:
                curves.append(replace(curve, runs=TIMES * curve.runs))
        if curves:
            panels.append(replace(panel, curves=tuple(curves)))
    return replace(spec, panels=tuple(panels)), settings


def common(curve: Curve, other: Curve, series: Series) -> list[tuple[int, int]]:
    """Return the pairs of points at which a curve has the law of another one, of that series."""
    index = {x: j for j, x in enumerate(series.x.tolist())}
    shared = [(i, index[x]) for i, x in enumerate(x_values(curve).tolist()) if x in index]
    if curve.x is None or other.x is None:
        same = curve.x is other.x and _laws(curve, 0) == _laws(other, 0)
        return shared if same else []
    laws = {x: _laws(other, i) for i, x in enumerate(other.x)}
    return [(i, j) for i, j in shared if _laws(curve, i) == laws[curve.x[i]]]


def _paired(spec: FigureSpec, found: references.Found) -> Pairs:
    curves = {(panel.letter, curve.label): curve for panel in spec.panels for curve in panel.curves}
    return {place: (curves[place], series) for place, series in found.items()}


def _reference(series: Series, j: int) -> Reference | float:
    names = ("mean", "std", "median", "min", "max")
    mean, *others = (float(getattr(series, name)[j]) for name in names)
    return Reference(series.runs, mean, *others) if series.runs else mean


def _laws(curve: Curve, i: int) -> list[dict[str, Any]]:
    # What the law of a curve's i-th source depends on, and of its counterpart if it has one. Over
    # time, a shorter game may be the start of a longer one.
    laws = []
    for source in (curve.sources[i], *curve.against[i : i + 1]):
        if isinstance(source, Formula):
            law = {"bound": source.function, **source.arguments()}
        else:
            law = {k: v for k, v in source.description().items() if k not in ("seed", "grid")}
        if curve.x is None and not (
            isinstance(source, RegretExperiment) and depends_on_horizon(source)
        ):
            law.pop("horizon", None)
        laws.append(law)
    return laws


def depends_on_horizon(cell: RegretExperiment) -> bool:
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
