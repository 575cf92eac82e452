"""`dpbandits check`: test whether the figures still match their reference curves.

Every figure is played with few runs and other seeds (the profile `ci`) and compared in bands whose
error probability covers all figures together. A reference at the papers' scale matches wherever the
law is the same: the same experiment, or, for policies that do not use the horizon, the rounds that
both have. A figure may also have a reference at the scale of the profile `ci` itself.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpbandits.checks.comparisons import plural
from dpbandits.checks.tolerance_bands import BandResult, Reference, band_result
from dpbandits.config import compose, conf_files
from dpbandits.config.settings import Settings
from dpbandits.experiments import kinds
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus
from dpbandits.run.runner import complete
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.tables import references
from dpbandits.tables.series import STATISTICS, Series, values, x_values

FALSE_ALARM = 0.001  # upper bound on P(a whole check raises any alarm) when every law is the same
MAY_CHANGE = ("seed=", "runs=", "engine=", "engine.", "paths.")
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


@dataclass(frozen=True)
class Checked:
    """Outcomes of all comparisons of one figure."""

    figure: str
    outcomes: tuple[tuple[Point, BandResult], ...]

    @property
    def alarms(self) -> list[tuple[Point, BandResult]]:
        """The first alarm of every curve that has one."""
        first: dict[tuple[str, str], tuple[Point, BandResult]] = {}
        for point, outcome in self.outcomes:
            if outcome.alarm:
                first.setdefault((point.panel, point.curve.label), (point, outcome))
        return list(first.values())

    def line(self) -> str:
        """Return a one-line summary for the terminal."""
        text = f"{self.figure}: {plural(len(self.outcomes), 'comparison')}"
        random = [outcome for _, outcome in self.outcomes if outcome.resolution != 0]
        if resolved := [o.resolution for o in random if math.isfinite(o.resolution)]:
            text += (
                f"; the largest difference of means is {max(o.share for o in random):.2f} of its"
                f" band; the median half width of a band is {100 * np.median(resolved):.1f} % of"
                " the mean"
            )
        outside = plural(len(self.alarms), "curve")
        return f"{text}; {f'{outside} OUTSIDE' if self.alarms else 'all inside'}"


def prepare(figure: str, overrides: Sequence[str]) -> tuple[FigureSpec, Settings]:
    """Load a figure at the scale of the profile `ci`.

    Raises UserError for an override that would change the figure (only MAY_CHANGE is accepted).
    """
    for override in overrides:
        if not override.startswith(MAY_CHANGE):
            raise UserError(
                f"check compares figures as their files describe them, and {override!r} would"
                f" change them; it accepts {', '.join(MAY_CHANGE)}"
            )
    return compose.load(figure, [f"profile={references.CI}", *overrides])


def points(spec: FigureSpec) -> list[Point]:
    """Return every comparison of a figure at the scale of the profile `ci`, POINTS a curve.

    Raises UserError if a reference is unsound or a curve has no matching reference.
    """
    pairs_of = {references.PAPER: paired(compose.load(spec.name, [])[0], references.PAPER)}
    if references.record(spec.name, references.CI):
        pairs_of[references.CI] = paired(spec, references.CI)
    comparisons: list[Point] = []
    for letter, curve in ((panel.letter, curve) for panel in spec.panels for curve in panel.curves):
        before, x = len(comparisons), x_values(curve).tolist()
        for profile, pairs in pairs_of.items():
            if (letter, curve.label) in pairs:
                other, series = pairs[letter, curve.label]
                for i, j in thinned(common(curve, other, series)):
                    # The mean, which is all of a bound, and the other fields of a Reference.
                    numbers = [float(getattr(series, name)[j]) for name in STATISTICS[:5]]
                    reference = Reference(series.runs, *numbers) if series.runs else numbers[0]
                    comparisons.append(Point(letter, curve, i, x[i], profile, reference))
        if len(comparisons) == before:
            raise UserError(
                f"{spec.name}: no reference has the distribution of ({letter}) {curve.label} at the"
                f" scale of the profile {references.CI}:"
                f" `dpbandits reference --ci {spec.name}` makes one"
            )
    return comparisons


def paired(spec: FigureSpec, profile: str) -> Pairs:
    """Return a figure's curves with a reference; at the papers' scale all of them must have one."""
    curves = {(p.letter, curve.label): curve for p in spec.panels for curve in p.curves}
    series = references.read_series(spec, profile, whole=profile == references.PAPER)
    return {(s.panel, s.label): (curves[s.panel, s.label], s) for s in series}


def referenced(figure: str, profile: str) -> tuple[FigureSpec, Settings]:
    """Load the figure from which a reference of the profile is made; it may have no curve left.

    At the scale of `ci` it has the references' seed, TIMES the runs of a check, and the curves for
    which the reference at the papers' scale lacks points or has no more runs than a check.
    """
    if profile == references.PAPER:
        return compose.load(figure, [])
    seed = conf_files.read_yaml("conf/config.yaml")["seed"]
    spec, settings = compose.load(figure, [f"profile={profile}", f"seed={seed}"])
    whole, panels = paired(compose.load(figure, [])[0], references.PAPER), []
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
    """Return the pairs of points at which two curves are distributed alike."""

    def laws(of: Curve, i: int) -> list[dict[str, Any]]:  # of a source, and of its counterpart
        sources = of.sources[i], *of.against[i : i + 1]
        # Over time, a shorter game may be the start of a longer one.
        return [kinds.of(source).same_distribution(source, of.x is None) for source in sources]

    index = {x: j for j, x in enumerate(series.x.tolist())}
    shared = [(i, index[x]) for i, x in enumerate(x_values(curve).tolist()) if x in index]
    if curve.x is None or other.x is None:
        return shared if curve.x is other.x and laws(curve, 0) == laws(other, 0) else []
    others = {x: laws(other, i) for i, x in enumerate(other.x)}
    return [(i, j) for i, j in shared if laws(curve, i) == others[curve.x[i]]]


def thinned(items: Sequence[Any]) -> list[Any]:
    """Return at most POINTS items, evenly spaced, with the first and the last."""
    places = np.linspace(0, len(items) - 1, min(len(items), POINTS))
    return [items[i] for i in places.round().astype(int)]


def compare_all(
    spec: FigureSpec, settings: Settings, compared: Sequence[Point], level: float
) -> Checked | None:
    """Play the missing runs and make the comparisons, each with P(false alarm) at most `level`.

    Returns None if runs failed.
    """
    completed = complete(
        spec.runs_of_experiments(), settings, spec.name, settings.folder(spec.name)
    )
    if completed.failures:
        return None
    curves = dict.fromkeys(point.curve for point in compared)
    runs = {curve: values(curve, completed.store) for curve in curves}
    outcomes = (
        (p, band_result(runs[p.curve][:, p.i], p.reference, level, not p.curve.shows.by_mean))
        for p in compared
    )
    return Checked(spec.name, tuple(outcomes))


def check(figures: Sequence[str], overrides: Sequence[str]) -> int:
    """Compare these figures with their references, print a line for each, return the exit status.

    FAILED if runs failed, else ALARM if a curve is outside its band. Raises UserError for an
    override that would change a figure, or if there is nothing to compare.
    """
    prepared = [prepare(figure, overrides) for figure in figures]
    compared = [points(spec) for spec, _ in prepared]
    number = sum(map(len, compared))
    if not number:
        raise UserError("there is nothing to compare: no figure has a curve")
    done, failed = list[Checked](), list[str]()
    for (spec, settings), expected in zip(prepared, compared, strict=True):
        checked = compare_all(spec, settings, expected, FALSE_ALARM / number)
        if checked is None:
            failed.append(spec.name)
            continue
        done.append(checked)
        print(checked.line(), flush=True)
        for point, outcome in checked.alarms:
            place = f"({point.panel}) {point.curve.label} at {point.x:,g}"
            reference = f"{references.file(spec.name)}, profile {point.profile}"
            print(f"  {place}: {outcome.alarm} ({reference})")
    if failed:
        print(f"dpbandits: not checked, because runs failed: {', '.join(failed)}", file=sys.stderr)
    alarms = sum(len(checked.alarms) for checked in done)
    comparisons = sum(len(checked.outcomes) for checked in done)
    text = f"{plural(len(done), 'figure')}, {plural(comparisons, 'comparison')}"
    if comparisons:  # without comparisons there is no verdict
        outside = f"{plural(alarms, 'curve')} OUTSIDE" if alarms else "all inside"
        text += (
            f": {outside}; if every distribution were the same, a curve would be outside with a"
            f" probability of at most {FALSE_ALARM:g}"
        )
    print(text)
    return ExitStatus.FAILED if failed else ExitStatus.ALARM if alarms else ExitStatus.DONE
