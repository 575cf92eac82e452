"""Every quantified sentence of every caption is read back and recomputed from the figure.

The grammar is this file's own. It fails on a sentence of the program, or on a quantifier in a
hand-written text, that it does not know.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import pytest
from composed import load

from dpbandits.algorithms import _ftpl
from dpbandits.config import instances
from dpbandits.drawing.formulas import without_tex
from dpbandits.drawing.styles import in_mathtext
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.kinds import composed_budget, declared, given_budget
from dpbandits.factory import captions, papers
from dpbandits.files import project
from dpbandits.kernel import registry
from dpbandits.kernel.parameters import as_json
from dpbandits.spec.figure import Curve, FigureSpec, Panel

pytestmark = [pytest.mark.usefixtures("in_checkout")]

# The profile ci is the slowest to compose, as it has budgets of its own at many horizons.
PROFILES = [
    pytest.param(name, marks=[pytest.mark.long] if name == "ci" else [])
    for name in project.names("profile")
]
NUMBER = r"[\d,]*\.?\d+(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
AMOUNT = rf"(?:ε/\d+|(?:{NUMBER} )?ε)"
AMOUNTS = rf"{AMOUNT}(?: to {AMOUNT})?|{NUMBER} to {AMOUNT}"
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NAMES_OF_X = {"horizon": "T", "arms": "K", "epsilon": "ε", "delta": "δ", "rho": "ρ"}
ASYMPTOTIC = re.compile(
    r"azize2025\.lower_bound|azize2022\.(problem_dependent|no_privacy|basis)_lower_bound"
)


class Cell(NamedTuple):
    """Drawn curve at one swept value, as the tests read it."""

    panel: Panel
    curve: Curve
    position: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.panel.letter, self.curve.label, self.position

    @property
    def source(self) -> Experiment:
        return self.curve.sources[self.position]

    @property
    def names(self) -> set[str]:
        """Names of the curve in sentences: its label, and the label without a budget."""
        label = self.curve.label
        shown = {label, re.sub(r" \(epsilon=.*", "", label)}
        return {with_authors(without_tex(in_mathtext(name))) for name in shown}


Cells = dict[tuple[str, str, int], Cell]


@cache
def cells(spec: FigureSpec) -> Cells:
    found = {}
    for panel in spec.panels:
        for curve in panel.curves:
            if spec.annotated or not curve.annotation:
                for i in range(len(curve.sources)):
                    found[panel.letter, curve.label, i] = Cell(panel, curve, i)
    return found


def those(every: Cells, holds: Callable[[Cell], Any]) -> Cells:
    return {key: cell for key, cell in every.items() if holds(cell)}


def with_authors(text: str) -> str:
    for key in papers.BY_KEY:
        if key not in ("across", "results"):
            text = re.sub(rf"\b{key}\b", papers.paper(key).short, text)
    return text


def value(text: str) -> float:
    mantissa, _, power = text.replace(",", "").partition("·10")
    return float(mantissa) * 10.0 ** int(power.translate(RAISED) or 0)


# Who: names with their panels and swept values, or a number of curves -----------------------------


def alternatives(texts: set[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def items(text: str, of: set[str]) -> list[str] | None:
    """Return `a, b and c` as a list, if all are among the given texts; else None."""
    one = f"(?:{alternatives(of)})"
    if not re.fullmatch(rf"{one}(?:(?:, {one})* and {one})?", text):
        return None
    return re.findall(one, text)


def headings(every: Cells) -> dict[str, set[str]]:
    """Return the letters of the panels that every heading can stand for."""
    found: dict[str, set[str]] = {}
    for cell in every.values():
        p = cell.panel
        row, column = without_tex(p.row), without_tex(p.column)
        for text in filter(None, (f"({p.letter})", row, column, f"{row}, {column}")):
            found.setdefault(text, set()).add(p.letter)
    return found


def named(text: str, every: Cells) -> Cells | None:
    """Return the cells that a list of names with one qualifier stands for, or None."""
    x = rf"(?P<x>\S+) = (?P<low>{NUMBER})(?: to (?P<high>{NUMBER}))?"
    places, names = headings(every), set().union(*(cell.names for cell in every.values()))
    form = rf"(?P<who>.*?)(?: in (?P<where>(?:{alternatives({*places})}|, | and )+))?(?: at {x})?"
    if not (found := re.fullmatch(form, text)):
        return None
    who = items(found["who"], names)
    where = items(found["where"], {*places}) if found["where"] else None
    if who is None or (found["where"] and where is None):
        return None
    chosen = those(every, lambda cell: cell.names & {*who})
    if where is not None:
        within = {heading: places[heading] for heading in where}
        for name in who:  # a heading names one panel for a curve
            for letters in within.values():
                assert len({c.panel.letter for c in chosen.values() if name in c.names
                            and c.panel.letter in letters}) == 1, text  # fmt: skip
        letters = set().union(*within.values())
        chosen = those(chosen, lambda cell: cell.panel.letter in letters)
    if found["x"]:
        low, high = value(found["low"]), value(found["high"] or found["low"])
        assert low <= high
        for cell in chosen.values():
            name = NAMES_OF_X.get(cell.curve.over, cell.curve.over)
            assert found["x"] == name, f"{text}: {cell.curve.over}"

        def inside(cell: Cell) -> bool:
            at = (cell.curve.x or ())[cell.position]
            return low * (1 - 1e-3) <= at <= high * (1 + 1e-3)

        chosen = those(chosen, inside)
    return chosen


def is_meant(text: str, holds: Cells, every: Cells) -> bool:
    """Return whether a text can be read, and stands for exactly the cells for which it holds.

    Raises AssertionError if it can be read and stands for others.
    """
    curves = Counter(key[:2] for key in every)
    if counted := re.fullmatch(r"((?:s|S)ome points of )?([\d,]+) of the ([\d,]+) curves", text):
        found = Counter(key[:2] for key in holds)
        is_part = any(curves[curve] != n for curve, n in found.items())
        said = bool(counted[1]), int(counted[2]), int(counted[3])
        assert said == (is_part, len(found), len(curves)), text
        assert len({label for _, label in found}) > 1 or len(found) > 3, text
        return True
    chosen: Cells = {}
    for part in text.split("; "):
        cells_of_part = named(part, every)
        if cells_of_part is None:
            return False
        assert not {*chosen} & {*cells_of_part}, text
        chosen |= cells_of_part
    assert {*chosen} == {*holds}, f"{text}: {sorted({*chosen} ^ {*holds})[:5]}"
    return True


def require(text: str, holds: Cells, every: Cells) -> None:
    assert holds, f"said of nothing: {text}"
    assert is_meant(text, holds, every), f"cannot be read: {text}"


# What holds: from the experiments alone -----------------------------------------------------------


def spending(spec: FigureSpec) -> Cells:
    return those(cells(spec), lambda c: c.source.columns and kinds.words(c.source).unit != "audit")


def takes_budget(source: Experiment) -> bool:
    return bool({"epsilon", "rho"} & {*getattr(source.params, "_fields", ())})


def is_undeclared(cell: Cell) -> bool:
    asked = [declared(cell.source, what) for what in ("releases", "guarantee")]
    return takes_budget(cell.source) and None in asked


def spent(cell: Cell) -> float | None:
    return None if is_undeclared(cell) else composed_budget(cell.source)


def is_private(cell: Cell) -> bool:
    return is_undeclared(cell) or spent(cell) is not None


def releases_nothing(cell: Cell) -> bool:
    return spent(cell) == 0


def releases(cell: Cell) -> bool:
    return bool(spent(cell))


def has_no_bound(cell: Cell) -> bool:
    return spent(cell) == math.inf


def is_equal(cell: Cell) -> bool:
    composed = spent(cell)
    return composed is not None and abs(composed - given_budget(cell.source)) <= 1e-6 * composed


def fills_the_game(cell: Cell) -> bool:
    """Return whether a start phase takes every round: N* pulls of every arm, N* rounded up."""
    source = cell.source
    game = kinds.words(source).bandit
    if not source.member.startswith("dp-ftpl") or game is None:
        return False
    environment, instance = game
    needed = _ftpl.start(source.params)
    pulls = math.ceil(max(needed, 1.0)) * registry.environment(environment).arms(instance)
    return max(needed, pulls) >= (kinds.words(source).rounds or 0)


def noise_is_small(cell: Cell) -> bool:
    is_local = cell.source.member in ("dp-exp3-lap", "dp-lambda-lap")
    return is_local and cell.source.params.epsilon >= 20


def favours_the_first(cell: Cell) -> bool:
    source = cell.source
    ties = as_json(source.params).get("ties") == "first"
    by_order = ties and source.member not in ("adap-ucb", "adac-ucb")
    if not (by_order or fills_the_game(cell) or noise_is_small(cell)):
        return False
    game = kinds.words(source).bandit
    means = getattr(game[1], "means", None) if game else None
    if means is None:
        gaps = kinds.gaps(source)
        return gaps is not None and gaps[0] == 0 < max(gaps)
    return means[0] == max(means) > min(means)


# Sentences ----------------------------------------------------------------------------------------


def runs(spec: FigureSpec, low: str, high: str, unit: str) -> list[int]:
    curves = {c.key[:2]: c.curve for c in cells(spec).values()}
    drawn = [c for c in curves.values() if c.played and c.shows.needs_runs]
    found = [curve.runs for curve in drawn]
    assert (value(low), value(high or low)) == (min(found), max(found))
    units = {kinds.words(source).unit for curve in drawn for source in curve.played}
    assert unit.removesuffix("s") == (units.pop() if len(units) == 1 else "run")
    return found


def lines(spec: FigureSpec, found: re.Match[str]) -> None:
    numbers = runs(spec, found["low"], found["high"], found["unit"])
    assert int(found["seed"]) == spec.seed
    if found["few"]:
        every = those(cells(spec), lambda c: c.curve.played and c.curve.shows.needs_runs)
        few = those(every, lambda c: c.curve.runs == value(found["few"]))
        assert len({*numbers}) == 2
        require(found["who"], few, every)
    shares = [c for c in cells(spec).values() if c.curve.shows.is_share]
    assert bool(found["shares"]) == (spec.centre != "mean" and bool(shares))
    groups = [min(24, n) for n in numbers]  # contiguous groups, or every run by itself
    expected = {"mean": "means", "median": "medians"}.get(spec.centre, "medians of means")
    if expected == "medians of means" and all(n <= 24 for n in numbers):
        expected = "medians"
    assert found["centre"] == expected
    if expected == "medians of means":
        at_most = "at most " if min(groups) < 24 else ""
        assert found["groups"] == f" ({at_most}24 groups)"
    drawn = {
        "bands are one standard deviation on either side": "std",
        "standard errors are drawn": "standard-error",
        "bands are 95 % confidence intervals of the median (order statistics)": "confidence",
        "bands reach from the lower to the upper quartile": "quartiles",
        "bands hold the middle nine tenths of the runs": "nine-tenths",
        "bars are Gini mean differences of the runs above, and of those below": "gini",
        None: "none",
    }
    assert drawn[found["spread"]] == spec.spread


def single(spec: FigureSpec, found: re.Match[str]) -> None:
    assert {*runs(spec, "1", "1", found["unit"])} == {1}


def formulas(spec: FigureSpec, found: re.Match[str]) -> None:
    assert all(not (c.curve.shows.needs_runs and c.curve.played) for c in cells(spec).values())


def played(spec: FigureSpec, text: str) -> None:
    """Check the sentence on games: each of them, or how many, and from which to which."""
    every = cells(spec)
    has_runs = those(every, lambda c: c.curve.played)
    every = has_runs or those(every, lambda c: c.curve.style != "transition")
    horizons = [n for c in every.values() if (n := kinds.words(c.source).rounds)]
    if found := re.search(r"(?:^|, |; )T = ([\d,]+)(?: to ([\d,]+))?\.$", text):
        assert value(found[1]) == min(horizons)
        assert value(found[2] or found[1]) == max(horizons)
        text = text[: found.start()]
    else:
        assert not horizons, text
    text = text.removesuffix(".")
    laws = {key: kinds.setting(c.source, instances.description) for key, c in every.items()}
    laws = {key: law for key, law in laws.items() if law}
    distinct = {*laws.values()}
    if span := re.fullmatch(r"(\d+) games, from (.*) to (K = .*)", text):
        assert int(span[1]) == len(distinct)
        assert has_runs
        for curve in {key[:2] for key in laws}:
            of_curve = [laws[key] for key in sorted(laws) if key[:2] == curve]
            x = every[*curve, 0].curve.x or ()
            assert list(x) == sorted(x)
            assert len({*of_curve}) == len(of_curve) == len(distinct)
            first = of_curve[0]
            assert (first[:1].upper() + first[1:]).lower() == span[2].lower()
            assert of_curve[-1] == span[3]
    elif counted := re.fullmatch(r"(\d+) (games|cases)", text):
        assert (int(counted[1]), counted[2]) == (len(distinct), "games" if has_runs else "cases")
    elif text or distinct:
        of_any = {law.lower() for law in distinct}
        separator = "; " if len(of_any) > 1 and any(", " in law for law in of_any) else ", "
        listed = [text] if len(of_any) == 1 else text.split(separator)
        assert Counter(law.lower() for law in listed) == Counter(of_any)


def not_private(spec: FigureSpec, found: re.Match[str]) -> None:
    every = spending(spec)
    require(found["who"], those(every, lambda c: not is_private(c)), every)


def nobody_is_private(spec: FigureSpec, found: re.Match[str]) -> None:
    assert not those(spending(spec), is_private)


def is_beyond(cell: Cell) -> bool:
    """Return whether rewards may lie beyond the range for which the algorithm is private."""
    game = kinds.words(cell.source).bandit
    if game is None or not is_private(cell) or getattr(cell.source, "clipped", False):
        return False
    assumed = getattr(registry.algorithm(cell.source.member), "RANGE", (0.0, 1.0))
    return registry.environment(game[0]).RANGE[1] > assumed[1]


def beyond_assumptions(spec: FigureSpec, found: re.Match[str]) -> None:
    every = spending(spec)
    wide = those(every, is_beyond)
    if found["who"] is None:
        assert {*wide} == {*every}
    elif found["who"] == "the others":
        assert {*wide} == {*those(every, is_private)} != {*every}
    else:
        require(found["who"], wide, every)


def not_declared(spec: FigureSpec, found: re.Match[str]) -> None:
    every = those(spending(spec), is_private)
    require(found["who"], those(every, is_undeclared), every)


def start_phase(spec: FigureSpec, found: re.Match[str]) -> None:
    every = spending(spec)
    rounds = value(found["rounds"])
    filled = those(every, lambda c: fills_the_game(c) and kinds.words(c.source).rounds == rounds)
    require(found["who"], filled, every)
    if found["silent"]:
        assert {*filled} == {*those(every, releases_nothing)}


def likelihood(spec: FigureSpec, found: re.Match[str]) -> None:
    every = spending(spec)
    exponent = found["ratio"]
    small = those(
        every, lambda c: noise_is_small(c) and f"{c.source.params.epsilon:.0f}" == exponent
    )
    require(found["who"], small, every)


def nothing_released(spec: FigureSpec, found: re.Match[str]) -> None:
    every = spending(spec)
    require(found["who"], those(every, releases_nothing), every)


def no_bound(spec: FigureSpec, found: re.Match[str]) -> None:
    every = those(spending(spec), releases)
    unbounded = those(every, has_no_bound)
    if found["who"] is None:
        assert {*unbounded} == {*every}
    else:
        require(found["who"], unbounded, every)
        assert {*unbounded} != {*every}


def amounts(chosen: Sequence[Cell]) -> tuple[float, float]:
    ratios = [(spent(cell) or 0.0) / given_budget(cell.source) for cell in chosen]
    return min(ratios), max(ratios)


def is_near(text: str, ratio: float) -> bool:
    if part := re.fullmatch(r"ε/(\d+)", text):
        return math.isclose(ratio, 1 / int(part[1]), rel_tol=1e-5)
    number = text.removesuffix("ε").strip() or "1"
    whole = math.isclose(ratio, round(ratio), rel_tol=1e-5)
    return math.isclose(value(number), ratio, rel_tol=1e-5 if whole else 0.06)


def budgets(spec: FigureSpec, found: re.Match[str]) -> None:
    """Check "All compose to the ε they are given, except ..." and the list in parentheses."""
    every = those(spending(spec), releases)
    finite = those(every, lambda c: not has_no_bound(c))
    equal, other = those(finite, is_equal), those(finite, lambda c: not is_equal(c))
    if found["who"] is None:
        assert not equal
    elif found["who"] == "All":
        assert {*finite} == {*spending(spec)}
        assert equal
    else:
        assert equal
        assert {*finite} != {*spending(spec)}
    listed = found["listed"]
    if listed is None:
        assert not other
        return
    rest = other
    for who, amount in exceptions(listed, every, other):
        low, _, high = amount.partition(" to ")
        if re.match(r"(some points of )?\d+ of the", who):
            chosen = rest if len(split(listed)) == 1 else by_amount(rest, low, high or low)
        else:
            chosen = {}
            for part in who.split("; "):
                chosen |= named(part, every) or {}
        assert chosen
        require(who, chosen, every)
        for name in {c.curve.label for c in chosen.values()}:
            of_name = [c for c in chosen.values() if c.curve.label == name]
            if "of the" not in who:
                assert is_near(low, amounts(of_name)[0]), (who, amount, amounts(of_name))
                assert is_near(high or low, amounts(of_name)[1]), (who, amount)
        low_of_all, high_of_all = amounts([*chosen.values()])
        assert is_near(low, low_of_all), (who, amount)
        assert is_near(high or low, high_of_all), (who, amount)
        rest = {key: c for key, c in rest.items() if key not in chosen}
    assert not rest, f"not named: {sorted(rest)[:5]}"


def by_amount(rest: Cells, low: str, high: str) -> Cells:
    found: Cells = {}
    for label in {c.curve.label for c in rest.values()}:
        of_label = those(rest, lambda c, label=label: c.curve.label == label)  # type: ignore
        ends = amounts([*of_label.values()])
        if is_near(low, ends[0]) and is_near(high, ends[1]):
            found |= of_label
    return found


def split(listed: str) -> list[re.Match[str]]:
    return [*re.finditer(rf" \((?P<amount>{AMOUNTS})\)(?=, | and |$)", listed)]


def exceptions(listed: str, every: Cells, other: Cells) -> Iterator[tuple[str, str]]:
    """Yield the names and the amount of every item; a label may contain parentheses too."""
    begin = 0
    for end in split(listed):
        who = listed[begin : end.start()]
        is_count = re.fullmatch(r"(some points of )?\d+ of the \d+ curves", who)
        if is_count or all(named(part, every) is not None for part in who.split("; ")):
            yield who, end["amount"]
            begin = end.end() + (5 if listed[end.end() :].startswith(" and ") else 2)
    assert begin >= len(listed), f"cannot be read: {listed[begin:]}"


def limits(spec: FigureSpec, found: re.Match[str]) -> None:
    every = those(cells(spec), lambda c: "lower_bound" in c.source.member)
    limit = those(every, lambda c: ASYMPTOTIC.fullmatch(c.source.member))
    assert those(cells(spec), lambda c: c.curve.played)
    if found["who"] == "Lower bounds":
        assert {*limit} == {*every}
        assert limit
    else:
        require(found["who"], limit, every)


def order(spec: FigureSpec, found: re.Match[str]) -> None:
    every = those(cells(spec), lambda c: c.curve.played)
    require(found["who"], those(every, favours_the_first), every)


def mixed(spec: FigureSpec) -> set[str]:
    """Return the definitions of privacy, each with its delta, of panels with two or more."""
    found: set[str] = set()
    for panel in spec.panels:
        inside = set()
        for cell in those(cells(spec), lambda c, panel=panel: c.panel is panel).values():  # type: ignore
            if guarantee := declared(cell.source, "guarantee"):
                fields = cell.source.params._asdict()
                delta = 1e-6 if "rho" in fields else guarantee.delta
                inside.add(guarantee.notion.title + (f" at δ = {delta:.3g}" if delta else ""))
        found |= inside if len(inside) > 1 else set()
    return found


def comparable(spec: FigureSpec, found: re.Match[str]) -> None:
    expected = mixed(spec)
    if counted := re.fullmatch(r"(\d+) definitions of privacy", found["who"]):
        assert int(counted[1]) == len(expected) > 3
        return
    shown = {
        re.sub(rf"δ = ({NUMBER})", lambda m: f"δ = {value(m[1]):.3g}", text)
        for text in re.split(r", | and ", found["who"])
    }
    assert shown == expected
    # Every delta of the sentence is one at which the sidecar states a budget.
    stated = [
        (value(low), value(high or low))
        for cell in cells(spec).values()
        for low, high in re.findall(
            rf"δ = ({NUMBER})(?: to ({NUMBER}))?", captions.privacy(cell.curve)
        )
    ]
    for text in expected:
        if delta := text.partition("δ = ")[2]:
            assert any(low * 0.999 <= float(delta) <= high * 1.001 for low, high in stated), text


LINES = (
    r"Lines are (?P<centre>means|medians of means|medians)(?P<groups> \((?:at most )?24 groups\))?"
    r" of (?P<low>[\d,]+)(?: to (?P<high>[\d,]+))? (?P<unit>runs|audits|streams)"
    r" \(seed (?P<seed>\d+)\)(?:, (?P<few>[\d,]+) for (?P<who>.*?))?(?=; |\.(?: |$))"
    r"(?:; (?P<spread>(?!shares)[^.;]*))?(?P<shares>; shares have no bands)?\."
)
STATISTICS: tuple[tuple[str, Callable[[FigureSpec, re.Match[str]], None]], ...] = (
    (LINES, lines),
    (r"Every value is from one (?P<unit>run|audit|stream) \(seed \d+\)\.", single),
    (r"All curves are formulas, without runs\.", formulas),
)
SENTENCES: tuple[tuple[str, Callable[[FigureSpec, re.Match[str]], None]], ...] = (
    (r"No curve is private\.", nobody_is_private),
    (r"(?P<who>(?:(?!\. ).)*?) (?:is|are) not private\.", not_private),
    (r"The privacy of (?P<who>.*?) is not declared\.", not_declared),
    (
        r"No guarantee of privacy(?: for (?P<who>.*?))?: releases assume rewards in \[-1, 1\], but"
        r" they are unbounded\.",
        beyond_assumptions,
    ),
    (
        r"(?P<who>(?:(?!\. ).)*?): the start phase takes all of the (?P<rounds>[\d,]+) rounds"
        r"(?P<silent>, without release)?\.",
        start_phase,
    ),
    (
        r"(?P<who>(?:(?!\. ).)*?): a likelihood ratio of e\^(?P<ratio>\d+) is no privacy\.",
        likelihood,
    ),
    (r"Nothing is released by (?P<who>.*?)\.(?= [A-Z]|$)", nothing_released),
    (
        r"No bound is known for (?:any composition|the composition of (?P<who>.*?))\.(?= [A-Z]|$)",
        no_bound,
    ),
    (
        r"(?P<who>All|The others) compose to the ε they are given"
        r"(?:, except (?P<listed>.*?))?\.(?= [A-Z]|$)",
        budgets,
    ),
    (
        r"(?P<who>\b\B)?In parentheses, what releases compose to: (?P<listed>.*?)\.(?= [A-Z]|$)",
        budgets,
    ),
    (r"(?P<who>(?:(?!\. ).)*?) (?:is|are) asymptotic\.", limits),
    (
        r"(?P<who>(?:(?!\. ).)*?): where nothing tells the arms apart, as at small budgets, the"
        r" first one is pulled, here the best\.",
        order,
    ),
    (r"Budgets of (?P<who>.*?) are not comparable\.", comparable),
)


def said(spec: FigureSpec) -> tuple[str, str]:
    """Return what the program wrote into the caption: after the contents, and after the note."""
    paragraphs = [" ".join(p.split()) for p in captions.caption(spec).split("\n\n")]
    hand = [" ".join(with_authors(without_tex(text)).split()) for text in (spec.about, spec.note)]
    opening, rest = paragraphs[0], " ".join(paragraphs[1:])
    assert hand[0] in opening
    assert rest.startswith(hand[1])
    start = opening.rindex(hand[0]) + len(hand[0]) if hand[0] else opening.index(").") + 2
    return opening[start:].strip(), rest[len(hand[1]) :].strip()


def check(spec: FigureSpec) -> None:
    opening, rest = said(spec)
    for form, checker in STATISTICS:
        if found := re.match(form, opening):
            checker(spec, found)
            break
    else:
        raise AssertionError(f"unknown sentence: {opening}")
    played(spec, opening[found.end() :].strip())
    seen = set()
    while rest:
        for form, checker in SENTENCES:
            if found := re.match(form, rest):
                checker(spec, found)
                seen.add(checker)
                rest = rest[found.end() :].strip()
                break
        else:
            raise AssertionError(f"unknown sentence: {rest}")
    every = spending(spec)
    needed = {
        not_declared: those(every, lambda c: is_undeclared(c) and not is_beyond(c)),
        beyond_assumptions: those(every, is_beyond),
        no_bound: those(every, has_no_bound),
        budgets: those(every, lambda c: releases(c) and not has_no_bound(c)),
        likelihood: those(every, noise_is_small),
        start_phase: those(every, fills_the_game),
    }
    for checker, holds in needed.items():
        assert (checker in seen) == bool(holds), checker.__name__
    open_ones = those(every, lambda c: not is_private(c))
    assert bool({not_private, nobody_is_private} & seen) == bool(open_ones)
    assert those(every, releases_nothing).keys() <= those(every, fills_the_game).keys() or (
        nothing_released in seen
    )
    if spec.changes:
        favoured = those(cells(spec), lambda c: c.curve.played and favours_the_first(c))
        assert (order in seen, comparable in seen) == (bool(favoured), bool(mixed(spec)))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("figure", project.names("figure"))
def test_every_sentence_of_a_caption_holds_for_what_the_figure_draws(
    figure: str, profile: str
) -> None:
    check(load(figure, [f"profile={profile}"])[0])
