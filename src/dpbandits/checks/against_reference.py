"""`dpbandits check`: test whether the figures still match their reference curves.

Every figure is played with few runs and other seeds (the profile `ci`). Its curves are compared
with the committed references, in bands whose error probability covers all figures together.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbandits.checks.comparisons import counted
from dpbandits.checks.matching_points import Point, points
from dpbandits.checks.tolerance_bands import BandResult, compare, compare_exact
from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.run import ExitStatus
from dpbandits.run.runner import complete
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import references
from dpbandits.tables.series import values

FALSE_ALARM = 0.001  # upper bound on P(a whole check raises any alarm) when every law is the same
MAY_CHANGE = ("seed=", "runs=", "engine=", "engine.", "paths.")


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
        text = f"{self.figure}: {counted(len(self.outcomes), 'comparison')}"
        drawn = [outcome for _, outcome in self.outcomes if outcome.resolution != 0]
        if resolved := [o.resolution for o in drawn if math.isfinite(o.resolution)]:
            text += (
                f"; the largest difference of means is {max(o.share for o in drawn):.2f} of its"
                f" band; the median half width of a band is {100 * np.median(resolved):.1f} % of"
                " the mean"
            )
        return f"{text}; {_outside(len(self.alarms))}"


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


def compare_all(
    spec: FigureSpec, settings: Settings, compared: Sequence[Point], level: float
) -> Checked | None:
    """Play the missing runs and make the comparisons, each with P(false alarm) at most `level`.

    Returns None if runs failed.
    """
    completed = complete(spec.runs_of_cells(), settings, spec.name, settings.folder(spec.name))
    if completed.failures:
        return None
    curves = dict.fromkeys(point.curve for point in compared)
    runs = {curve: values(curve, completed.store) for curve in curves}
    outcomes = []
    for point in compared:
        column = runs[point.curve][:, point.i]
        if isinstance(point.reference, float):
            outcomes.append((point, compare_exact(float(column[0]), point.reference)))
        else:
            outcomes.append((point, compare(column, point.reference, level)))
    return Checked(spec.name, tuple(outcomes))


def check(figures: Sequence[str], overrides: Sequence[str]) -> int:
    """Compare these figures with their references, print a line for each, return the exit status.

    The status is FAILED if runs failed, else ALARM if a curve is outside its band. Raises UserError
    for an override that would change a figure, or if there is nothing to compare.
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
    made = sum(len(checked.outcomes) for checked in done)
    text = f"{counted(len(done), 'figure')}, {counted(made, 'comparison')}"
    if made:  # without comparisons there is no verdict
        text += (
            f": {_outside(alarms)}; if every law were the same, a curve would be outside with a"
            f" probability of at most {FALSE_ALARM:g}"
        )
    print(text)
    return ExitStatus.FAILED if failed else ExitStatus.ALARM if alarms else ExitStatus.DONE


def _outside(curves: int) -> str:
    return f"{counted(curves, 'curve')} OUTSIDE" if curves else "all inside"
