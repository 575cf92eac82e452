"""Captions of figures: what is drawn, in which games, and what the budgets add up to.

A caption is short; the privacy of every single curve, in the words of `privacy`, is in the sidecar.
"""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from dpbandits.audit import designs
from dpbandits.audit.subject import Subject
from dpbandits.config import compose, instances
from dpbandits.drawing.formulas import number, plain
from dpbandits.drawing.styles import in_mathtext, symbol
from dpbandits.experiments import Experiment, Quantity, budget, delta_of, given
from dpbandits.experiments.audit import AuditExperiment
from dpbandits.factory import papers
from dpbandits.files import project
from dpbandits.kernel import parameters
from dpbandits.privacy.notions import BUDGETS, Guarantee, approximate, budget_of
from dpbandits.spec.figure import OWN, TRANSITION, Curve, FigureSpec
from dpbandits.tables import references

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
COMPARED = "comparison"  # drawing function of figures without a text of their own
NEVER_TIE = ("adap-ucb", "adac-ucb")  # noise in an index that is not clipped
# Bounds on the limit of the regret over log T.
ASYMPTOTIC = (
    "azize2025.lower_bound",
    *(f"azize2022.{name}_lower_bound" for name in ("problem_dependent", "no_privacy", "basis")),
)
NOT_DECLARED = "privacy not declared"
NO_BOUND = "no bound known"
AUDITS = "privacy-audit"  # whose reference has the audit of every algorithm
EPSILON = 1.0  # budget of the audits on the pages


def caption(spec: FigureSpec) -> str:
    """Return the wrapped text below a figure: changes, contents, games, note and privacy."""
    paper = spec.paper != OWN and papers.paper(spec.paper).short
    source = ", ".join(map(str, filter(None, (paper, spec.original or "a figure of our own"))))
    changed = "; ".join(change.words() for change in spec.changes)
    drawn = statistics(spec)
    opening = [
        f"Changed from the figure's file: {changed}." if changed else "",
        f"{spec.title} ({source}).",
        spec.about,
        f"{drawn[:1].upper()}{drawn[1:]}.",
        games(spec),
    ]
    note = [spec.note, limits(spec)]
    if spec.changes or spec.draw == COMPARED:
        note += [order_of_arms(spec), not_comparable(spec)]
    texts = [" ".join(filter(None, part)) for part in (opening, note, [summary(spec)])]
    keys = "|".join(key for key in papers.BY_KEY if key != OWN)
    named = [re.sub(rf"\b({keys})\b", lambda k: papers.paper(k[0]).short, t) for t in texts if t]
    wrapped = (textwrap.wrap(plain(text), WIDTH, break_on_hyphens=False) for text in named)
    return "\n\n".join(map("\n".join, wrapped)) + "\n"


def limits(spec: FigureSpec) -> str:
    """Return a sentence on the lower bounds beside played curves that hold for the limit alone."""
    drawn = [curve for panel in spec.panels for curve in spec.drawn(panel)]
    bounds = {c.legend: c.sources[0].member for c in drawn if "lower_bound" in c.sources[0].member}
    found = [in_mathtext(legend) for legend, member in bounds.items() if member in ASYMPTOTIC]
    if not found or "asymptotic" in spec.note or not any(curve.played for curve in drawn):
        return ""
    return f"{'Lower bounds' if len(found) == len(bounds) else _and(found)} are asymptotic."


def order_of_arms(spec: FigureSpec) -> str:
    """Return a sentence on the algorithms that an order of the arms favours; "" without any."""
    favoured = dict[str, None]()
    for curve in (c for panel in spec.panels for c in spec.drawn(panel) if c.played):
        for source in curve.sources:
            ties = parameters.plain(source.params).get("ties") == "first"
            is_decided = (ties and source.member not in NEVER_TIE) or source.declared("warning")
            if is_decided and (gaps := source.gaps()) is not None and gaps[0] == 0 < gaps.max():
                favoured[_name(curve)] = None
    where = "where nothing tells the arms apart, as at small budgets, the first one is pulled"
    return f"{_and([*favoured])}: {where}, here the best." if favoured else ""


def not_comparable(spec: FigureSpec) -> str:
    """Return a sentence on definitions of privacy, with their deltas, that share a panel."""
    mixed = dict[str, None]()
    for panel in spec.panels:
        sources = [source for curve in spec.drawn(panel) for source in curve.played]
        claims = [approximate(claim) for s in sources if (claim := s.declared("claim"))]
        found = {f"{c.notion.title} at δ = {number(c.delta, 3)}": None for c in claims}
        mixed |= found if len(found) > 1 else {}
    names = [name.removesuffix(" at δ = 0") for name in mixed]
    return f"Budgets of {_and(names)} are not comparable." if names else ""


def summary(spec: FigureSpec) -> str:
    """Return what the budgets of all drawn curves add up to; "" for audits, which draw budgets."""
    budgets: dict[str, set[str]] = {}  # in words, by label
    warnings: dict[str, None] = {}
    for panel in spec.panels:
        for curve in spec.drawn(panel):
            experiments = [experiment for experiment in curve.sources if experiment.spends]
            if experiments and not curve.reading:  # a reading names its budget
                name = _name(curve)
                budgets.setdefault(name, set()).add(_spent(experiments))
                if warned := warning(curve):
                    warnings[f"{name}: {warned}."] = None
    by_words: dict[str, list[str]] = {}
    for name, spent in budgets.items():
        by_words.setdefault(" or ".join(sorted(spent)), []).append(name)
    none, unbounded = by_words.pop("not private", []), by_words.pop(NO_BOUND, [])
    equal, sentences = by_words.pop("ε", []), list[str]()
    others = _and([f"{_and(names)} ({spent})" for spent, names in by_words.items()])
    if none:
        sentences.append(f"{_and(none)} {'is' if len(none) == 1 else 'are'} not private.")
    if unbounded:
        sentences.append(f"No bound is known for the composition of {_and(unbounded)}.")
    if equal:
        who = "The others compose" if sentences else "All compose"
        sentences.append(f"{who} to the ε they are given{', except ' * bool(others)}{others}.")
    elif others:
        sentences.append(f"In parentheses, what releases compose to: {others}.")
    return " ".join([*sentences, *warnings])


def _spent(experiments: Sequence[Experiment]) -> str:
    # The composed budget in units of the given one: `ε`, `ε/5`, `2 ε`, or in words.
    if any(map(_is_undeclared, experiments)):
        return NOT_DECLARED
    spent = [budget(experiment) for experiment in experiments]
    if None in spent:
        return "not private"
    if math.inf in spent:
        return NO_BOUND
    times = [
        e / given(experiment)
        for e, experiment in zip(spent, experiments, strict=True)
        if e and given(experiment)
    ]
    words = []
    for factor in (min(times, default=1.0), max(times, default=1.0)):
        # A whole number or its reciprocal, as with five parts of a budget, is written as such.
        near = Fraction(factor).limit_denominator(200)
        part, whole = near.denominator, near.numerator
        if not math.isclose(near, factor, rel_tol=1e-6) or 1 not in (whole, part):
            words.append(f"{factor:.2g} ε")
        elif whole == 1:
            words.append("ε" if part == 1 else f"ε/{part}")
        else:
            words.append(f"{whole} ε")
    low, high = words
    return low if low == high else f"{low.removesuffix(' ε')} to {high}"


def _name(curve: Curve) -> str:
    return in_mathtext(curve.label.partition(" (epsilon=")[0])


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def runs_of(spec: FigureSpec) -> str:
    """Return `20 runs`; `40 to 400 runs` if the curves differ; `one audit` for audits."""
    experiments = spec.runs_of_experiments()
    runs, units = experiments.values() or [spec.runs], {e.unit for e in experiments}
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
    if not spec.experiments():
        return "all curves are formulas, without runs"
    runs = f"{runs_of(spec)} (seed {spec.seed})"
    if set(spec.runs_of_experiments().values()) == {1}:
        return f"every value is from {runs}"
    parts = f"lines are {CENTRES[spec.centre]} of {runs}", SPREADS[spec.spread]
    return "; ".join(filter(None, parts))


def privacy(curve: Curve) -> str:
    """Return the budget given to a curve, the one that its releases compose to, and its audit."""
    experiments = [source for source in curve.sources if source.columns]
    if not experiments:
        return "a formula, without runs"
    if any(map(_is_undeclared, experiments)):
        return NOT_DECLARED
    composed = [spent for spent in map(budget, experiments) if spent is not None]
    if not composed:
        return "not private"
    budgets, delta = [given(experiment) for experiment in experiments], delta_of(experiments[0])
    claim = experiments[0].declared("claim")
    promised = f" ({claim.notion.title})" if claim else ""
    at_delta = f" at δ = {number(delta, 3)}" if delta else ""
    if math.inf in composed:
        return f"given ε = {_range(budgets)}{promised}, {NO_BOUND} for the composition{at_delta}"
    asked = f"given ε = {_range(budgets)}{promised}, composes to "
    if claim and claim.notion.conversion:
        values = [
            parameters.plain(experiment.params)[claim.notion.budget] for experiment in experiments
        ]
        asked = f"given {claim.notion.symbol} = {_range(values)}{promised}, composes to ε = "
    text = f"{asked}{_range(composed)}{at_delta}"
    # Rounding in the last digit does not exceed a budget.
    if any(s > g * (1 + 1e-9) for s, g in zip(composed, budgets, strict=True)):
        text = f"{text}, more than given"
    bandits = [experiment for experiment in experiments if experiment.bandit]
    result = audited(bandits[0].member, bandits[0].params) if bandits else None
    made = ((_budget(c.params), getattr(c.params, "delta", 0.0)) for c in bandits)
    # A lower bound counts if it was made with the budget of every experiment, and is not 0. One
    # above the budget of these games is of others, with more rounds.
    is_ours = result and {*made} == {(result.budget_given, result.delta)}
    if result and is_ours and 0 < result.epsilon <= min(composed) * (1 + 1e-9):
        by_one_choice = f", {result.one_choice:.3g} by one choice" if result.one_choice else ""
        text = f"{text}; audited: at least {result.epsilon:.3g}{by_one_choice}"
    return text


def _is_undeclared(experiment: Experiment) -> bool:
    # It takes a budget but declares no releases or claims nothing.
    takes_budget = budget_of(getattr(experiment.params, "_fields", ())) is not None
    return takes_budget and None in (experiment.declared("releases"), experiment.declared("claim"))


def warning(curve: Curve) -> str:
    """Return the algorithm's warning about a curve, with the swept values; "" if none."""
    pairs = zip(curve.x or [math.nan], curve.sources, strict=True)
    warned = {x: text for x, source in pairs if (text := source.declared("warning"))}
    if not warned:
        return ""
    some = curve.x and len(warned) < len(curve.x)
    where = f" at {plain(symbol(curve.over))} = {_range(list(warned))}" if some else ""
    return f"{next(iter(warned.values()))}{where}"


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return number(low) if math.isclose(low, high) else f"{number(low)} to {number(high)}"


# Audits, read from the reference of their figure. A result is valid for all parameters that give
# the same claim and the same composed budget at the audit's epsilon and delta.


class Audited(NamedTuple):
    """Lower bounds on epsilon, each with 99 % confidence."""

    label: str  # label of the curve
    budget_given: float  # epsilon, or rho, given to the algorithm in the audit
    delta: float  # delta of the audit, 0 if the algorithm has none
    epsilon: float  # lower bound from all arms together
    one_choice: float | None  # lower bound from one choice; None if the promise is about all arms


def audited(algorithm: str, params: Any) -> Audited | None:
    """Return the audit of an algorithm with these parameters, or None if there is none.

    The audit is at their epsilon if there is one, else at epsilon = 1.
    """
    valid = []
    for experiment, result in audits().items():
        if experiment.member == algorithm:
            named = (name for name in (*BUDGETS, "delta") if name in params._fields)
            asked = params._replace(**{name: getattr(experiment.params, name) for name in named})
            promises = (
                _promise(algorithm, p, experiment.longest) for p in (asked, experiment.params)
            )
            if len({*promises}) == 1:
                valid.append(result)
    budgets = _budget(params), EPSILON
    return next((r for budget in budgets for r in valid if r.budget_given == budget), None)


def audits() -> Mapping[AuditExperiment, Audited]:
    """Return the result for every audited curve and budget, in the order of the figure."""
    return _audits(project.layers())


def _budget(params: Any) -> float:
    # The budget given to a private algorithm: epsilon, or rho for zCDP.
    return float(getattr(params, budget_of(params._fields) or "epsilon"))


@cache
def _promise(algorithm: str, params: Any, rounds: int) -> tuple[Guarantee, float]:
    # The claim for games of this many rounds, and what the declared releases in them compose to.
    subject, game = Subject.of(algorithm, params), (designs.ARMS, rounds)
    return subject.claim(*game), subject.composed(*game)


@cache
def _audits(layers: tuple[Path, ...]) -> Mapping[AuditExperiment, Audited]:
    # The layers are only part of the cache key: every project has results of its own.
    if AUDITS not in project.names("figure") or not references.record(AUDITS, references.PAPER):
        return {}
    spec, _ = compose.load(AUDITS, [])
    series = {(s.panel, s.label): s for s in references.read(spec, references.PAPER, whole=False)}
    found: dict[AuditExperiment, Audited] = {}
    for panel in spec.panels:
        for curve in panel.curves:
            reference = series.get((panel.letter, curve.label))
            if reference is None or curve.is_exact:
                continue
            field = "epsilon" if curve.shows is Quantity.AUDITED else "one_choice"
            for i, experiment in enumerate(cast(tuple[AuditExperiment, ...], curve.sources)):
                delta = getattr(experiment.params, "delta", 0.0)
                result = Audited(curve.label, _budget(experiment.params), delta, math.nan, None)
                bound: dict[str, Any] = {"label": curve.label, field: float(reference.centre[i])}
                found[experiment] = found.get(experiment, result)._replace(**bound)
    return found
