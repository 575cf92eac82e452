"""The caption of a figure: what is drawn, and what the privacy of every curve comes to."""

import math
import textwrap
from collections.abc import Sequence
from functools import cache

from dpbandits import audited, parameters
from dpbandits.cell import Cell
from dpbandits.cells import AnyCell
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.spec import Bound, Curve, FigureSpec


@cache
def budget(cell: AnyCell) -> float | None:
    """The epsilon that the declared releases of a cell compose to; None where it declares none.

    At the delta of its parameters, where they have one, and else at 0; math.inf where the number
    of releases has no bound.
    """
    releases = cell.releases()
    if releases is None:
        return None
    return composed_epsilon(releases, getattr(cell.params, "delta", 0.0))


def caption(spec: FigureSpec) -> str:
    """Text of a few lines: the title, the statistics and, per curve, the budget asked and spent."""
    lines = [f"{spec.title} ({spec.paper}); {statistics(spec)}.", ""]
    lines += textwrap.wrap(
        "Privacy, of a change of one reward: the epsilon that an algorithm was given, the notion in"
        " which its paper promises it, what the releases that it declares compose to, and what an"
        f" audit at epsilon = {audited.EPSILON:g} found that is lost at least (figure"
        f" {audited.FIGURE}).",
        width=100,
    )
    if spec.note:
        lines += ["", *textwrap.wrap(spec.note, width=100), ""]
    for panel in spec.panels:
        lines += [
            f"({panel.letter}) {curve.label}: {privacy(curve)}{_warned(curve)}"
            for curve in panel.curves
        ]
    return "\n".join(lines) + "\n"


def runs_of(spec: FigureSpec) -> str:
    """`20 runs`; where the curves differ in it, `40 to 400 runs`."""
    runs = set(spec.runs_of_cells().values()) or {spec.runs}
    told = f"{min(runs)} to {max(runs)}" if len(runs) > 1 else f"{max(runs)}"
    return f"{told} run{'s' * (max(runs) > 1)}"


def statistics(spec: FigureSpec) -> str:
    """What is drawn, of how many runs: `mean and std of 20 runs`."""
    drawn = spec.centre if spec.spread == "none" else f"{spec.centre} and {spec.spread}"
    return f"{drawn} of {runs_of(spec)}"


def privacy(curve: Curve) -> str:
    """The budget that a curve was given and what its releases compose to, or that it is none."""
    cells = [source for source in curve.sources if not isinstance(source, Bound)]
    if not cells:
        return "a bound, nothing is played"
    spent = [budget(cell) for cell in cells]
    known = [epsilon for epsilon in spent if epsilon is not None]
    if not known:
        return "not private"
    given = [parameters.plain(cell.params)["epsilon"] for cell in cells]
    claim = cells[0].claim()
    promised = f", {claim.notion.title}" if claim else ""
    delta = getattr(cells[0].params, "delta", 0.0)
    at = f" at delta = {delta:.3g}" if delta else ""
    told = f"given {_range(given)}{promised}, composes to {_range(known)}{at}"
    # A last digit is not a budget.
    if any(s > g * (1 + 1e-9) for s, g in zip(known, given, strict=True)):
        told = f"{told}: MORE than it was given"
    return f"{told}{_audited(cells[0])}"


def _audited(cell: AnyCell) -> str:
    # What an audit of the same algorithm found; nothing of what is an audit itself.
    found = audited.of(cell.member, cell.params) if isinstance(cell, Cell) else None
    if found is None:
        return ""
    one = "" if found.one_choice is None else f", {found.one_choice:.3g} of one choice"
    return f"; audited: {found.epsilon:.3g}{one}"


def _warned(curve: Curve) -> str:
    told = warning(curve)
    return f"; WARNING: {told}" if told else ""


def warning(curve: Curve) -> str:
    """What an algorithm says of its cells, and of which of the swept ones; "" where nothing."""
    warned = {
        x: warning
        for x, source in zip(curve.x or [math.nan], curve.sources, strict=True)
        if isinstance(source, Cell) and (warning := source.warning())
    }
    if not warned:
        return ""
    where = f" at {_range(list(warned))}" if curve.x else ""
    return f"{next(iter(warned.values()))}{where}"


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    if math.isclose(low, high):
        return f"{low:.4g}"
    return f"{low:.4g} to {high:.4g}"
