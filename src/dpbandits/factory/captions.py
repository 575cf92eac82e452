"""Captions of figures: what is drawn, in which games, and the privacy of every curve."""

import math
import textwrap
from collections.abc import Iterator, Sequence

from dpbandits.audit.cell import AuditCell
from dpbandits.cells.bandit_cell import Cell, StoppingCell
from dpbandits.cells.budget import budget, delta_of, given
from dpbandits.cells.kinds import AnyCell
from dpbandits.core import parameters
from dpbandits.drawing.formulas import number, plain
from dpbandits.drawing.styles import symbol
from dpbandits.factory import audit_results, games
from dpbandits.privacy.notions import Notion, budget_of
from dpbandits.spec.figure import OWN, Bound, Curve, FigureSpec

WIDTH = 100  # characters per line
CENTRES = {
    "mean": "mean",
    "median": "median",
    "median-of-means": "median of means (24 groups)",
}
SPREADS = {
    "none": "no band",
    "std": "band or bars: one standard deviation on either side",
    "standard-error": "band or bars: one standard error on either side",
    "quartiles": "band or bars: from the lower to the upper quartile",
    "gini": "bars: Gini mean difference of the runs above the line, and of those below",
}
NOT_DECLARED = "privacy not declared"
UNITS = {Cell: "run", StoppingCell: "stream", AuditCell: "audit"}
EXPLANATION = (
    "Privacy, for a change of one reward: the ε given to an algorithm, the notion in which its"
    " paper promises it, the ε to which its declared releases compose and, where figure"
    f" {audit_results.FIGURE} has an audit, a lower bound on the ε that it spends, at the budget of"
    " that audit."
)


def caption(spec: FigureSpec) -> str:
    """Return the wrapped text below a figure.

    It has the changes, what is drawn, the games, the note and the privacy of every curve.
    """
    source = ", ".join(map(str, filter(None, (spec.paper != OWN and spec.paper, spec.original))))
    changed = "; ".join(change.words for change in spec.changes)
    drawn = statistics(spec)
    opening = [
        f"Changed from the figure's file: {changed}." if changed else "",
        f"{spec.title} ({source})." if source else f"{spec.title}.",
        spec.about,
        f"{drawn[:1].upper()}{drawn[1:]}.",
    ]
    paragraphs = [" ".join(filter(None, opening)), *games.of_figure(spec)]
    if spec.note:
        paragraphs += ["", spec.note]
    if spec.cells():
        paragraphs += ["", EXPLANATION, *_of_curves(spec)]
    lines = [line for text in paragraphs for line in _wrapped(plain(text))]
    return "\n".join(lines) + "\n"


def _of_curves(spec: FigureSpec) -> Iterator[str]:
    # A line shared by curves of several panels is written once. Formulas come last: they have no
    # privacy budget.
    panels: dict[str, list[str]] = {}
    formulas: dict[str, None] = {}
    for panel in spec.panels:
        for curve in panel.curves:
            if isinstance(curve.sources[0], Bound):
                formulas[curve.legend] = None
            else:
                warned = f". Warning: {text}" if (text := warning(curve)) else ""
                line = f"{curve.legend}: {privacy(curve)}{warned}"
                panels.setdefault(line, []).append(panel.letter)
    for line, letters in panels.items():
        yield f"({'), ('.join(dict.fromkeys(letters))}) {line}"
    if formulas:
        yield f"Formulas, without runs: {', '.join(formulas)}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False) or [""]


def runs_of(spec: FigureSpec) -> str:
    """Return `20 runs`; `40 to 400 runs` if the curves differ; `one audit` for audits."""
    of_cells = spec.runs_of_cells()
    runs, kinds = set(of_cells.values()) or {spec.runs}, {type(cell) for cell in of_cells}
    unit = UNITS[kinds.pop()] if len(kinds) == 1 else "run"
    low, high = min(runs), max(runs)
    if high == 1:
        return f"one {unit}"
    return f"{high:,} {unit}s" if low == high else f"{low:,} to {high:,} {unit}s"


def statistics(spec: FigureSpec) -> str:
    """Return the meaning of lines and bands: `line: mean of 20 runs, seed 2022; no band`."""
    if not spec.cells():
        return "all curves are formulas, without runs"
    runs = f"{runs_of(spec)}, seed {spec.seed}"
    if set(spec.runs_of_cells().values()) == {1}:
        return f"every value is from {runs}"
    return f"line: {CENTRES[spec.centre]} of {runs}; {SPREADS[spec.spread]}"


def privacy(curve: Curve) -> str:
    """Return the budget given to a curve, the one that its releases compose to, and its audit."""
    cells = [source for source in curve.sources if not isinstance(source, Bound)]
    if not cells:
        return "a formula, without runs"
    spent = [budget(cell) for cell in cells]
    composed = [epsilon for epsilon in spent if epsilon is not None]
    if any(map(is_undeclared, cells)):
        return NOT_DECLARED
    if not composed:
        return "not private"
    budgets = [given(cell) for cell in cells]
    claim = cells[0].claim()
    promised = f" ({claim.notion.title})" if claim else ""
    delta = delta_of(cells[0])
    at_delta = f" at δ = {number(delta, 3)}" if delta else ""
    text = f"given ε = {_range(budgets)}{promised}, composes to {_range(composed)}{at_delta}"
    if claim and claim.notion is Notion.CONCENTRATED:
        rhos = [parameters.plain(cell.params)["rho"] for cell in cells]
        text = f"given ρ = {_range(rhos)}{promised}, composes to ε = {_range(composed)}{at_delta}"
    # Rounding in the last digit does not exceed a budget.
    if any(s > g * (1 + 1e-9) for s, g in zip(composed, budgets, strict=True)):
        text = f"{text}, more than given"
    return f"{text}{_audited(cells)}"


def is_undeclared(cell: AnyCell) -> bool:
    """Return True if an algorithm takes a budget but declares no releases or claims nothing."""
    takes_budget = budget_of(getattr(getattr(cell, "params", None), "_fields", ())) is not None
    return takes_budget and (cell.releases() is None or cell.claim() is None)


def _audited(cells: Sequence[AnyCell]) -> str:
    # The lower bound of an audit, always together with the budget of that audit.
    bandits = [cell for cell in cells if isinstance(cell, Cell)]
    result = audit_results.of(bandits[0].member, bandits[0].params) if bandits else None
    if result is None:
        return ""
    made_at = (result.budget_given, result.delta)
    same = all(
        (audit_results.given(c.params), getattr(c.params, "delta", 0.0)) == made_at for c in bandits
    )
    delta = f", δ = {number(result.delta, 3)}" if result.delta else ""
    where = "" if same else f" at ε = {result.budget_given:g}{delta}"
    by_one_choice = "" if result.one_choice is None else f", {result.one_choice:.3g} by one choice"
    return f"; audited{where}: at least {result.epsilon:.3g}{by_one_choice}"


def warning(curve: Curve) -> str:
    """Return the algorithm's warning about the curve's cells, with the swept values; "" if none."""
    warned = {
        x: warning
        for x, source in zip(curve.x or [math.nan], curve.sources, strict=True)
        if isinstance(source, Cell) and (warning := source.warning())
    }
    if not warned:
        return ""
    where = f" at {plain(symbol(curve.over))} = {_range(list(warned))}" if curve.x else ""
    return f"{next(iter(warned.values()))}{where}"


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    if math.isinf(high):
        return "no finite bound" if math.isinf(low) else f"{number(low)} up to no finite bound"
    if math.isclose(low, high):
        return number(low)
    return f"{number(low)} to {number(high)}"
