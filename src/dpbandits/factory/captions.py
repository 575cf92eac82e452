"""Captions of figures: what is drawn, in which games, and what the budgets add up to.

A caption is short; the privacy of every single curve, in the words of `privacy`, is in the sidecar.
"""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

from dpbandits.config import instances
from dpbandits.drawing.formulas import number, without_tex
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.experiments.kinds import composed_budget, declared, delta_of, given_budget
from dpbandits.factory import papers
from dpbandits.factory.statements import (
    NAMED,
    Point,
    Statement,
    grouped,
    is_one,
    listed,
    points,
    sentence,
    which,
)
from dpbandits.kernel import parameters
from dpbandits.privacy.notions import budget_of
from dpbandits.spec.figure import OURS, TRANSITION, Curve, FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables import audits
from dpbandits.tables.statistics import CONFIDENCE, GROUPS

WIDTH = 100  # characters per line
CENTRES = {
    "mean": "means",
    "median": "medians",
    "median-of-means": "medians of means",
}
SPREADS = {
    "none": "",
    "std": "bands are one standard deviation on either side",
    "standard-error": "standard errors are drawn",
    "quartiles": "bands reach from the lower to the upper quartile",
    "nine-tenths": "bands hold the middle nine tenths of the runs",
    "gini": "bars are Gini mean differences of the runs above, and of those below",
    CONFIDENCE: "bands are {level:.6g} % confidence intervals of the {centre}",
}
INTERVALS = {  # of what the confidence intervals are
    "mean": "mean (Student's t)",
    "median": "median (order statistics)",
    "median-of-means": "median of the means of groups (order statistics)",
}
COMPARED = "comparison"  # drawing function of figures without a text of their own
NEVER_TIE = ("adap-ucb", "adac-ucb")  # noise in an index that is not clipped
# Bounds on the limit of the regret over log T.
ASYMPTOTIC = (
    "azize2025.lower_bound",
    *(f"azize2022.{name}_lower_bound" for name in ("problem_dependent", "no_privacy", "basis")),
)
# What the releases of a curve compose to.
NOT_PRIVATE = "not private"
NOT_DECLARED = "privacy not declared"
NO_BOUND = "no bound known"
NO_GUARANTEE = "no guarantee of privacy"
NOTHING = "nothing released"
EQUAL = "ε"
OTHER = "another budget"


def caption(spec: FigureSpec, noted: Sequence[Statement] = ()) -> str:
    """Return the wrapped text below a figure: changes, contents, games, note and privacy.

    `noted` is what is said of its runs.
    """
    paper = spec.paper not in OURS and papers.paper(spec.paper).short
    source = ", ".join(map(str, filter(None, (paper, spec.original or "a figure of our own"))))
    changed = "; ".join(change.phrase() for change in spec.changes)
    drawn = statistics(spec)
    opening = [
        f"Changed from the figure's file: {changed}." if changed else "",
        f"{spec.title} ({source}).",
        spec.about,
        f"{drawn[:1].upper()}{drawn[1:]}.",
        *(statement.text for statement in games(spec)),
        *(f"The means are column {of.column} of {Path(of.file).name}." for of in spec.data),
    ]
    remarks = [spec.note, *(statement.text for statement in (*notes(spec), *noted))]
    budgets = [statement.text for statement in summary(spec)]
    texts = [" ".join(filter(None, part)) for part in (opening, remarks, budgets)]
    wrapped = (textwrap.wrap(with_papers(t), WIDTH, break_on_hyphens=False) for t in texts if t)
    return "\n\n".join(map("\n".join, wrapped)) + "\n"


def with_papers(text: str) -> str:
    """Return a text as captions print it: Unicode, with authors and year for a paper's key."""
    keys = "|".join(key for key in papers.BY_KEY if key not in OURS)
    return without_tex(re.sub(rf"\b({keys})\b", lambda k: papers.paper(k[0]).short, text))


def statements(spec: FigureSpec) -> list[Statement]:
    """Return the sentences of a caption that are about several curves, in their order."""
    sentences = [*games(spec), *notes(spec), *summary(spec)]
    return [statement._replace(text=with_papers(statement.text)) for statement in sentences]


def notes(spec: FigureSpec) -> list[Statement]:
    """Return the sentences on bounds and, for a changed figure, on ties and definitions."""
    if spec.changes or spec.draw == COMPARED:
        return limits(spec) + order_of_arms(spec) + not_comparable(spec)
    return limits(spec)


def of_runs(spec: FigureSpec, store: Store) -> list[Statement]:
    """Return what kinds say of the runs in the store, which has all of them."""
    played = [point for point in points(spec) if point.curve.played]
    noted = grouped(
        (text, point)
        for point in played
        if (text := kinds.of(point.source).notes(point.source, _runs(point, store)))
    )
    return [sentence(f"{which(of, played)}: {text}", {text: of}) for text, of in noted.items()]


def _runs(point: Point, store: Store) -> Load:
    return partial(store.load, point.source, point.curve.runs)


def limits(spec: FigureSpec) -> list[Statement]:
    """Return a sentence on the lower bounds beside played curves that hold for the limit alone."""
    drawn = points(spec)
    bounds = [point for point in drawn if "lower_bound" in point.source.member]
    asymptotic = [point for point in bounds if point.source.member in ASYMPTOTIC]
    if (
        not asymptotic
        or "asymptotic" in spec.note
        or not any(point.curve.played for point in drawn)
    ):
        return []
    holds = {"asymptotic": asymptotic}
    if len(asymptotic) == len(bounds):
        return [sentence("lower bounds are asymptotic", holds)]
    who = which(asymptotic, bounds)
    return [sentence(f"{who} {_is_or_are(who, asymptotic)} asymptotic", holds)]


def order_of_arms(spec: FigureSpec) -> list[Statement]:
    """Return a sentence on the algorithms that an order of the arms favours."""
    played = [point for point in points(spec) if point.curve.played]
    favoured = []
    for point in played:
        source = point.source
        ties = parameters.as_json(source.params).get("ties") == "first"
        is_decided = (ties and source.member not in NEVER_TIE) or declared(source, "warning")
        if is_decided and (gaps := kinds.gaps(source)) is not None and gaps[0] == 0 < gaps.max():
            favoured.append(point)
    where = "where nothing tells the arms apart, as at small budgets, the first one is pulled"
    text = f"{which(favoured, played)}: {where}, here the best"
    return [sentence(text, {"favoured": favoured})] if favoured else []


def not_comparable(spec: FigureSpec) -> list[Statement]:
    """Return a sentence on definitions of privacy, with their deltas, that share a panel."""
    mixed: list[tuple[str, Point]] = []
    for panel in spec.panels:
        inside = [
            (f"{guarantee.notion.title} at δ = {number(delta_of(point.source), 3)}", point)
            for point in points(spec)
            if point.panel is panel and (guarantee := declared(point.source, "guarantee"))
        ]
        mixed += inside if len({name for name, _ in inside}) > 1 else []
    by_notion = grouped((name.removesuffix(" at δ = 0"), point) for name, point in mixed)
    several = f"{len(by_notion)} definitions of privacy"
    who = listed(list(by_notion)) if len(by_notion) <= NAMED else several
    return [sentence(f"budgets of {who} are not comparable", by_notion)] if by_notion else []


def summary(spec: FigureSpec) -> list[Statement]:
    """Return what the budgets of all drawn curves add up to; none for audits, which draw them.

    What releases nothing is named before the budgets, which are those of all other points.
    """
    every = [point for point in points(spec) if kinds.words(point.source).spends]
    by_kind = grouped((_kind(point.source), point) for point in every)
    private = [p for kind, inside in by_kind.items() if kind != NOT_PRIVATE for p in inside]
    releasing = [p for kind in (NO_BOUND, EQUAL, OTHER) for p in by_kind.get(kind, ())]
    sentences = []
    if none := by_kind.get(NOT_PRIVATE):
        who = which(none, every)
        text = f"{who} {_is_or_are(who, none)} not private" if private else "no curve is private"
        sentences.append(sentence(text, {NOT_PRIVATE: none}))
    if silent := by_kind.get(NOT_DECLARED):
        text = f"the privacy of {which(silent, private)} is not declared"
        sentences.append(sentence(text, {NOT_DECLARED: silent}))
    sentences += _remarks(every, by_kind.get(NOTHING, []))
    unmet = grouped((kinds.words(p.source).unmet, p) for p in by_kind.get(NO_GUARANTEE, ()))
    for reason, holds in unmet.items():
        are_rest = none and len(none) + len(holds) == len(every)
        who = "the others" if are_rest else which(holds, every)
        who = f" for {who}" if len(holds) < len(every) else ""
        text = f"no guarantee of privacy{who}: {reason}"
        sentences.append(sentence(text, {reason: holds}))
    if unbounded := by_kind.get(NO_BOUND):
        who = f"the composition of {which(unbounded, releasing)}"
        who = who if len(unbounded) < len(releasing) else "any composition"
        sentences.append(sentence(f"no bound is known for {who}", {NO_BOUND: unbounded}))
    equal, others = by_kind.get(EQUAL, []), by_kind.get(OTHER, [])
    if equal or others:
        is_rest = len(equal) + len(others) < len(every)
        sentences.append(_composed(equal, others, releasing, "the others" if is_rest else "all"))
    return sentences


def _is_or_are(who: str, holds: Sequence[Point]) -> str:
    return "is" if is_one(who, holds) else "are"


def _remarks(every: Sequence[Point], silent: Sequence[Point]) -> list[Statement]:
    # The algorithms' warnings, and what releases nothing: in one sentence if the points are those
    # of a warning.
    warned = grouped((text, p) for p in every if (text := declared(p.source, "warning")))
    sentences = []
    for text, holds in warned.items():
        ending = ""
        if silent and [p.place for p in holds] == [p.place for p in silent]:
            ending, silent = ", without release", []
        sentences.append(sentence(f"{which(holds, every)}: {text}{ending}", {text: holds}))
    if silent:
        sentences.append(
            sentence(f"nothing is released by {which(silent, every)}", {NOTHING: silent})
        )
    return sentences


def _kind(experiment: Experiment) -> str:
    if kinds.words(experiment).unmet:
        return NO_GUARANTEE
    if _is_undeclared(experiment):
        return NOT_DECLARED
    spent = composed_budget(experiment)
    if spent is None:
        return NOT_PRIVATE
    if math.isinf(spent):
        return NO_BOUND
    if spent == 0:
        return NOTHING
    return EQUAL if math.isclose(spent, given_budget(experiment), rel_tol=1e-6) else OTHER


def _composed(
    equal: Sequence[Point], others: Sequence[Point], releasing: Sequence[Point], who: str
) -> Statement:
    # A curve has one text for all its other budgets; more than NAMED texts become one.
    texts = {
        name: _times(of_curve) for name, of_curve in grouped((p.name, p) for p in others).items()
    }
    by_text = grouped((texts[point.name], point) for point in others)
    if len(by_text) > NAMED:
        by_text = {_times(others): [*others]}
    named = listed([f"{which(inside, releasing)} ({text})" for text, inside in by_text.items()])
    if not equal:
        return sentence(f"in parentheses, what releases compose to: {named}", by_text)
    exceptions = f", except {named}" if others else ""
    return sentence(f"{who} compose to the ε they are given{exceptions}", {EQUAL: equal, **by_text})


def _times(given: Sequence[Point]) -> str:
    # The smallest and the largest composed budget in units of the given one: `ε/5 to 2 ε`.
    factors = [
        (composed_budget(p.source) or 0.0) / (given_budget(p.source) or math.inf) for p in given
    ]
    low, high = (_factor(value) for value in (min(factors), max(factors)))
    return low if low == high else f"{low.removesuffix(' ε')} to {high}"


def _factor(value: float) -> str:
    # A whole number or its reciprocal, as with five parts of a budget, is written as such.
    near = Fraction(value).limit_denominator(200)
    part, whole = near.denominator, near.numerator
    if not math.isclose(near, value, rel_tol=1e-6) or 1 not in (whole, part):
        return f"{number(value, 2)} ε"
    if whole == 1:
        return "ε" if part == 1 else f"ε/{part}"
    return f"{whole} ε"


def runs_of(drawn: Sequence[Point]) -> str:
    """Return `20 runs`; `40 to 400 runs` if the curves differ; `one audit` for audits."""
    runs = [point.curve.runs for point in drawn]
    units = {kinds.words(source).unit for point in drawn for source in point.curve.played}
    unit = units.pop() if len(units) == 1 else "run"
    low, high = min(runs), max(runs)
    if high == 1:
        return f"one {unit}"
    return f"{high:,} {unit}s" if low == high else f"{low:,} to {high:,} {unit}s"


def _fewer_curves(drawn: Sequence[Point]) -> str:
    # If there are two numbers of runs, the rarer one with its curves, if their names are few.
    by_runs = grouped((f"{point.curve.runs:,}", point) for point in drawn)
    number_of_runs, holds = min(by_runs.items(), key=lambda item: len(item[1]))
    who = which(holds, drawn)
    is_named = len(by_runs) == 2 and not re.match(r"\d|some points of", who)
    return f", {number_of_runs} for {who}" if is_named else ""


def games(spec: FigureSpec) -> list[Statement]:
    """Return a sentence on the instances and horizons that the drawn curves play.

    Bounds count only if nothing is played.
    """
    drawn = points(spec)
    played = [point for point in drawn if point.curve.played]
    counted = played or [point for point in drawn if point.curve.style != TRANSITION]
    laws = grouped((kinds.setting(point.source, instances.description), point) for point in counted)
    laws.pop("", None)
    texts, separator = [*laws], ", "
    if len(laws) > 1 and any(", " in law for law in laws):
        separator = "; "
        if len(laws) > 2 and _are_swept(laws):
            texts = [f"{len(laws)} games, from {texts[0]} to {texts[-1]}"]
        elif len(laws) > NAMED:
            texts, separator = [f"{len(laws)} {'games' if played else 'cases'}"], ", "
    lengths = (kinds.words(point.source).rounds for point in counted)
    if horizons := [rounds for rounds in lengths if rounds]:
        low, high = min(horizons), max(horizons)
        texts.append(f"T = {low:,}" if low == high else f"T = {low:,} to {high:,}")
    return [sentence(separator.join(texts), laws)] if texts else []


def _are_swept(laws: Mapping[str, Sequence[Point]]) -> bool:
    # Every curve has all games, in the order of its swept values.
    games_of = grouped((f"{p.panel.letter} {p.curve.label}", p) for ps in laws.values() for p in ps)
    return all(
        [point.position for point in inside] == list(range(len(laws)))
        for inside in games_of.values()
    )


def statistics(spec: FigureSpec) -> str:
    """Return the meaning of lines and bands: `lines are means of 20 runs (seed 2022)`."""
    drawn = [p for p in points(spec) if p.curve.played and not p.curve.is_exact]
    if not drawn:
        return "all curves are formulas, without runs"
    runs = f"{runs_of(drawn)} (seed {spec.seed})"
    sizes = [point.curve.runs for point in drawn]
    if {*sizes} == {1}:
        return f"every value is from {runs}"
    name = spec.centre
    if name == "median-of-means" and max(sizes) <= GROUPS:  # a run is a group
        name = "median"
    centre = CENTRES[name]
    if name == "median-of-means":
        at_most = "at most " if min(sizes) < GROUPS else ""
        centre = f"{centre} ({at_most}{GROUPS} groups)"
    spread = SPREADS[spec.spread].format(level=100 * (spec.level or 0), centre=INTERVALS[name])
    lines = f"lines are {centre} of {runs}{_fewer_curves(drawn)}"
    is_apart = spec.centre != "mean" and any(p.curve.shows.is_share for p in drawn)
    shares = "shares have no bands" if is_apart else ""
    return "; ".join(filter(None, (lines, spread, shares)))


def privacy(curve: Curve) -> str:
    """Return the budget given to a curve, the one that its releases compose to, and its audit."""
    experiments = [source for source in curve.sources if source.columns]
    if not experiments:
        return "a formula, without runs"
    if any(kinds.words(experiment).unmet for experiment in experiments):
        return NO_GUARANTEE
    if any(map(_is_undeclared, experiments)):
        return NOT_DECLARED
    composed = [spent for spent in map(composed_budget, experiments) if spent is not None]
    if not composed:
        return NOT_PRIVATE
    budgets, deltas = zip(*((given_budget(e), delta_of(e)) for e in experiments), strict=True)
    guarantee = declared(experiments[0], "guarantee")
    promised = f" ({guarantee.notion.title})" if guarantee else ""
    at_delta = f" at δ = {_range(deltas, 3)}" if any(deltas) else ""
    if math.inf in composed:
        return f"given ε = {_range(budgets)}{promised}, {NO_BOUND} for the composition{at_delta}"
    asked = f"given ε = {_range(budgets)}{promised}, composes to "
    if guarantee and guarantee.notion.conversion:
        values = [
            parameters.as_json(experiment.params)[guarantee.notion.budget]
            for experiment in experiments
        ]
        asked = f"given {guarantee.notion.symbol} = {_range(values)}{promised}, composes to ε = "
    text = f"{asked}{_range(composed)}{at_delta}"
    # Rounding in the last digit does not exceed a budget.
    if any(s > g * (1 + 1e-9) for s, g in zip(composed, budgets, strict=True)):
        text = f"{text}, more than given"
    bandits = [experiment for experiment in experiments if kinds.words(experiment).bandit]
    result = audits.audited(bandits[0].member, bandits[0].params) if bandits else None
    budgets_given = ((audits.budget(c.params), delta_of(c)) for c in bandits)
    # A lower bound counts if it was made with the budget of every experiment, and is not 0. One
    # above the budget of these games is of others, with more rounds.
    is_ours = result and {*budgets_given} == {(result.budget_given, result.delta)}
    if result and is_ours and 0 < result.epsilon <= min(composed) * (1 + 1e-9):
        by_one_choice = f", {result.one_choice:.3g} by one choice" if result.one_choice else ""
        text = f"{text}; audited: at least {result.epsilon:.3g}{by_one_choice}"
    return text


def _is_undeclared(experiment: Experiment) -> bool:
    # It takes a budget but declares no releases or claims nothing.
    takes_budget = budget_of(getattr(experiment.params, "_fields", ())) is not None
    return takes_budget and None in (
        declared(experiment, "releases"),
        declared(experiment, "guarantee"),
    )


def _range(values: Sequence[float], digits: int = 4) -> str:
    low, high = number(min(values), digits), number(max(values), digits)
    return low if low == high else f"{low} to {high}"
