"""Captions of figures: what is drawn, in which games, and what the budgets add up to.

A caption is short; the privacy of every single curve, in the words of `privacy`, is in the sidecar.
"""

import math
import re
import textwrap
from collections.abc import Sequence
from fractions import Fraction

from dpbandits.config import instances
from dpbandits.core import parameters
from dpbandits.drawing.formulas import number, plain
from dpbandits.drawing.styles import in_mathtext, symbol
from dpbandits.experiments import Experiment, budget, delta_of, given
from dpbandits.factory import audit_results, papers
from dpbandits.privacy.notions import budget_of
from dpbandits.spec.figure import OWN, TRANSITION, Curve, FigureSpec

WIDTH = 100  # characters per line
CENTRES = {
    "mean": "means",
    "median": "medians",
    "median-of-means": "medians of means (24 groups)",
}
SPREADS = {
    "none": "",
    "std": "bands are one standard deviation on either side",
    "standard-error": "spreads are standard errors",
    "quartiles": "bands reach from the lower to the upper quartile",
    "nine-tenths": "bands hold the middle nine tenths of the runs",
    "gini": "bars are Gini mean differences of the runs above, and of those below",
}
NOT_DECLARED = "privacy not declared"
NO_BOUND = "no bound known"


def caption(spec: FigureSpec) -> str:
    """Return the wrapped text below a figure: changes, contents, games, note and privacy."""
    paper = spec.paper != OWN and papers.paper(spec.paper).short
    source = ", ".join(map(str, filter(None, (paper, spec.original or "a figure of our own"))))
    changed = "; ".join(change.words for change in spec.changes)
    drawn = statistics(spec)
    opening = [
        f"Changed from the figure's file: {changed}." if changed else "",
        f"{spec.title} ({source}).",
        spec.about,
        f"{drawn[:1].upper()}{drawn[1:]}.",
        games(spec),
    ]
    texts = [" ".join(filter(None, opening)), spec.note, summary(spec)]
    named = [re.sub(rf"\b({'|'.join(papers.BY_KEY)})\b", _cited, text) for text in texts if text]
    return "\n\n".join("\n".join(_wrapped(plain(text))) for text in named) + "\n"


def _cited(key: re.Match[str]) -> str:
    return key[0] if key[0] == OWN else papers.paper(key[0]).short


def summary(spec: FigureSpec) -> str:
    """Return what the budgets of all drawn curves add up to, in a sentence or two.

    An audit draws budgets itself, so its figure has no such sentence.
    """
    of_curves: dict[str, set[str]] = {}  # words on budgets, by label
    warnings: dict[str, None] = {}
    for panel in spec.panels:
        for curve in spec.drawn(panel):
            cells = [cell for cell in curve.sources if cell.spends]
            if cells and not curve.reading:  # a reading names its budget
                name = in_mathtext(curve.label.partition(" (epsilon=")[0])
                of_curves.setdefault(name, set()).add(_spent(cells))
                if warned := warning(curve):
                    warnings[f"{name}: {warned}."] = None
    by_words: dict[str, list[str]] = {}
    for name, words in of_curves.items():
        by_words.setdefault(" or ".join(sorted(words)), []).append(name)
    none, unbounded = by_words.pop("not private", []), by_words.pop(NO_BOUND, [])
    equal = by_words.pop("ε", [])
    others = _and([f"{_and(names)} ({words})" for words, names in by_words.items()])
    sentences = []
    if none:
        sentences = [f"{_and(none)} {'is' if len(none) == 1 else 'are'} not private."]
    if unbounded:
        sentences.append(f"No bound is known for the composition of {_and(unbounded)}.")
    if equal:
        who = "The others compose" if sentences else "All compose"
        sentences.append(f"{who} to the ε they are given{', except ' * bool(others)}{others}.")
    elif others:
        sentences.append(f"In parentheses, what releases compose to: {others}.")
    return " ".join([*sentences, *warnings])


def _spent(cells: Sequence[Experiment]) -> str:
    # The composed budget in units of the given one: `ε`, `ε/5`, `2 ε`, or in words.
    if any(map(is_undeclared, cells)):
        return NOT_DECLARED
    spent = [budget(cell) for cell in cells]
    if None in spent:
        return "not private"
    if math.inf in spent:
        return NO_BOUND
    times = [e / given(cell) for e, cell in zip(spent, cells, strict=True) if e and given(cell)]
    low, high = _times(min(times, default=1.0)), _times(max(times, default=1.0))
    return low if low == high else f"{low.removesuffix(' ε')} to {high}"


def _times(factor: float) -> str:
    near = Fraction(factor).limit_denominator(200)
    if not math.isclose(near, factor, rel_tol=1e-6) or 1 not in (near.numerator, near.denominator):
        return f"{factor:.2g} ε"
    if near.numerator == 1:
        return "ε" if near.denominator == 1 else f"ε/{near.denominator}"
    return f"{near.numerator} ε"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False) or [""]


def runs_of(spec: FigureSpec) -> str:
    """Return `20 runs`; `40 to 400 runs` if the curves differ; `one audit` for audits."""
    of_cells = spec.runs_of_cells()
    runs, units = set(of_cells.values()) or {spec.runs}, {cell.unit for cell in of_cells}
    unit = units.pop() if len(units) == 1 else "run"
    low, high = min(runs), max(runs)
    if high == 1:
        return f"one {unit}"
    return f"{high:,} {unit}s" if low == high else f"{low:,} to {high:,} {unit}s"


def games(spec: FigureSpec) -> str:
    """Return a sentence on the instances and horizons that the drawn curves play; "" without any.

    Bounds count only if nothing is played.
    """
    curves = [curve for panel in spec.panels for curve in spec.drawn(panel)]
    played = [curve for curve in curves if curve.played]
    sources = [s for c in played or curves if c.style != TRANSITION for s in c.sources]
    laws = [law for law in dict.fromkeys(s.setting(instances.description) for s in sources) if law]
    if len(laws) > 1 and any("," in law for law in laws):  # of several without names, two
        laws = [f"{len(laws)} games, from {laws[0]} to {laws[-1]}"]
    if horizons := [source.rounds for source in sources if source.rounds]:
        low, high = min(horizons), max(horizons)
        laws.append(f"T = {low:,}" if low == high else f"T = {low:,} to {high:,}")
    text = ", ".join(laws)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def statistics(spec: FigureSpec) -> str:
    """Return the meaning of lines and bands: `lines are means of 20 runs (seed 2022)`."""
    if not spec.cells():
        return "all curves are formulas, without runs"
    runs = f"{runs_of(spec)} (seed {spec.seed})"
    if set(spec.runs_of_cells().values()) == {1}:
        return f"every value is from {runs}"
    return "; ".join(
        filter(None, (f"lines are {CENTRES[spec.centre]} of {runs}", SPREADS[spec.spread]))
    )


def privacy(curve: Curve) -> str:
    """Return the budget given to a curve, the one that its releases compose to, and its audit."""
    cells = [source for source in curve.sources if source.columns]
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
    if math.inf in composed:
        return f"given ε = {_range(budgets)}{promised}, {NO_BOUND} for the composition{at_delta}"
    if claim and claim.notion.conversion:
        own = [parameters.plain(cell.params)[claim.notion.budget] for cell in cells]
        given_own = f"given {claim.notion.symbol} = {_range(own)}{promised}"
        text = f"{given_own}, composes to ε = {_range(composed)}{at_delta}"
    # Rounding in the last digit does not exceed a budget.
    if any(s > g * (1 + 1e-9) for s, g in zip(composed, budgets, strict=True)):
        text = f"{text}, more than given"
    return f"{text}{_audited(cells)}"


def is_undeclared(cell: Experiment) -> bool:
    """Return True if an algorithm takes a budget but declares no releases or claims nothing."""
    takes_budget = budget_of(getattr(getattr(cell, "params", None), "_fields", ())) is not None
    return takes_budget and (cell.releases() is None or cell.claim() is None)


def _audited(cells: Sequence[Experiment]) -> str:
    # The lower bound of an audit, if it was made with the budget of every cell, and not 0.
    bandits = [cell for cell in cells if cell.bandit]
    result = audit_results.of(bandits[0].member, bandits[0].params) if bandits else None
    if result is None or not result.epsilon:
        return ""
    made_at = (result.budget_given, result.delta)
    same = all(
        (audit_results.given(c.params), getattr(c.params, "delta", 0.0)) == made_at for c in bandits
    )
    by_one_choice = f", {result.one_choice:.3g} by one choice" if result.one_choice else ""
    return f"; audited: at least {result.epsilon:.3g}{by_one_choice}" if same else ""


def warning(curve: Curve) -> str:
    """Return the algorithm's warning about the curve's cells, with the swept values; "" if none."""
    warned = {
        x: warning
        for x, source in zip(curve.x or [math.nan], curve.sources, strict=True)
        if (warning := source.warning())
    }
    if not warned:
        return ""
    some = curve.x and len(warned) < len(curve.x)
    where = f" at {plain(symbol(curve.over))} = {_range(list(warned))}" if some else ""
    return f"{next(iter(warned.values()))}{where}"


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    if math.isclose(low, high):
        return number(low)
    return f"{number(low)} to {number(high)}"
