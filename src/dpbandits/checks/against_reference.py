"""`dpbandits check`: test whether the figures still match their reference curves.

Every figure is played with few runs and other seeds (the profile `ci`). Its curves are compared
with the committed references, in bands whose error probability covers all figures together.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpbandits.checks.comparisons import counted
from dpbandits.checks.matching_points import PROFILE, Point, points
from dpbandits.checks.tolerance_bands import BandResult, Reference, compare, compare_exact
from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.run.compile_ahead import CompilingAhead
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.in_turn import Begun, InTurn, Waiting
from dpbandits.run.missing_runs import Completing, Completion
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
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
        """The comparisons that raised an alarm."""
        return [(point, outcome) for point, outcome in self.outcomes if outcome.alarm]

    def line(self) -> str:
        """Return a one-line summary for the terminal."""
        drawn = [o for p, o in self.outcomes if o.resolution != 0]
        resolved = [o.resolution for o in drawn if math.isfinite(o.resolution)]
        text = f"{self.figure}: {counted(len(self.outcomes), 'comparison')}"
        if resolved:
            share = max(o.share for o in drawn)
            half = 100 * float(np.median(resolved))
            text += (
                f"; the largest difference of means is {share:.2f} of its band; the median half"
                f" width of a band is {half:.1f} % of the mean"
            )
        wrong = len({(p.panel, p.curve.label) for p, _ in self.alarms})
        return text + (f"; {_curves_are(wrong)} OUTSIDE" if wrong else "; all inside")


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
    return compose.load(figure, [PROFILE, *overrides])


def play(spec: FigureSpec, settings: Settings) -> Store | None:
    """Play the missing runs and return the store that holds all runs; None if some failed."""
    completed = _begin(spec, settings).completing.finish()
    return None if completed.failures else completed.store


def _begin(spec: FigureSpec, settings: Settings) -> Begun[Completion]:
    folder = settings.folder(spec.name)
    completing = Completing(spec.runs_of_cells(), settings, spec.name, folder)
    return Begun(completing, completing.finish)


def compare_all(
    spec: FigureSpec, finish: Callable[[], Completion], compared: Sequence[Point], level: float
) -> Checked | None:
    """Finish the missing runs and make the comparisons, each with P(false alarm) at most `level`.

    Returns None if runs failed.
    """
    completed = finish()
    if completed.failures:
        return None
    store = completed.store
    of_curve = {curve: values(curve, store) for curve in dict.fromkeys(p.curve for p in compared)}
    made = ((p, _compare(of_curve[p.curve][:, p.i], p.reference, level)) for p in compared)
    return Checked(spec.name, tuple(made))


def _compare(column: np.ndarray, reference: Reference | float, level: float) -> BandResult:
    if isinstance(reference, float):
        return compare_exact(float(column[0]), reference)
    return compare(column, reference, level)


def check(figures: Sequence[str], overrides: Sequence[str]) -> int:
    """Compare these figures with their references, print a line for each, return the exit status.

    The status is FAILED if runs failed, else ALARM if a curve is outside its band. Raises UserError
    for an override that would change a figure, or if there is nothing to compare.
    """
    with CompilingAhead(len(figures)) as compiling:
        return _check(figures, overrides, compiling)


def _check(figures: Sequence[str], overrides: Sequence[str], compiling: CompilingAhead) -> int:
    prepared = []
    for figure in figures:
        prepared.append(prepare(figure, overrides))
        compiling.add(prepared[-1][0].runs_of_cells())
    compiling.end()
    compared = {spec.name: points(spec) for spec, _ in prepared}
    number = sum(map(len, compared.values()))
    if not number:
        raise UserError("there is nothing to compare: no figure has a curve")
    alarms, made, failed = 0, 0, list[str]()
    waiting = [
        Waiting(spec.runs_of_cells().keys(), partial(_begin, spec, settings))
        for spec, settings in prepared
    ]
    played = InTurn(waiting)
    for spec, _ in prepared:
        checked = compare_all(spec, played.finish_next, compared[spec.name], FALSE_ALARM / number)
        if checked is None:
            failed.append(spec.name)
            continue
        print(checked.line(), flush=True)
        alarms += _print_alarms(checked)
        made += len(checked.outcomes)
    if failed:
        sys.stdout.flush()
        names = ", ".join(failed)
        print(f"dpbandits: not checked, because runs failed: {names}", file=sys.stderr)
    print(_summary(len(compared) - len(failed), made, alarms))
    if failed:
        return ExitStatus.FAILED
    return ExitStatus.ALARM if alarms else ExitStatus.DONE


def _summary(figures: int, comparisons: int, alarms: int) -> str:
    # Without comparisons there is no verdict.
    text = f"{counted(figures, 'figure')}, {counted(comparisons, 'comparison')}"
    if not comparisons:
        return text
    return (
        f"{text}: {f'{_curves_are(alarms)} outside' if alarms else 'all inside'}; if every law were"
        f" the same, a curve would be outside with a probability of at most {FALSE_ALARM:g}"
    )


def _curves_are(number: int) -> str:
    return f"{counted(number, 'curve')} {'is' if number == 1 else 'are'}"


def _print_alarms(checked: Checked) -> int:
    # Prints the first alarm of every curve that has one; returns the number of such curves.
    first = {(p.panel, p.curve.label): (p, o) for p, o in reversed(checked.alarms)}
    for (panel, label), (point, outcome) in first.items():
        file = f"figures/reference/{checked.figure}/{point.scale}.csv"
        print(f"  ({panel}) {label} at {point.x:,g}: {outcome.alarm} ({file})")
    return len(first)
