"""Hand-written sentences of captions that count or quantify are recomputed from their figures.

A sentence with a quantifier needs a rule here, or a reason why nothing in a figure decides it.
"""

import re
from collections.abc import Callable

import pytest
from composed import load

from dpbandits.config import instances
from dpbandits.drawing.formulas import without_tex
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.kinds import composed_budget, given_budget
from dpbandits.experiments.regret import Regret, RegretExperiment
from dpbandits.files import project
from dpbandits.kernel import registry
from dpbandits.kernel.parameters import as_json
from dpbandits.spec.figure import Curve, FigureSpec, Panel

pytestmark = pytest.mark.usefixtures("in_checkout")

PROFILES = [
    pytest.param(name, marks=[pytest.mark.long] if name == "ci" else [])
    for name in project.names("profile")
]
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
COUNT = rf"(?:{'|'.join(WORDS[1:])})"
QUANTIFIER = re.compile(
    r"\b(all|every|each|both|others?|except|only|none|any|always|never|whatever|at (?:least|most)"
    rf"|{COUNT}|\d+ runs|\S+ to C\d|up to|ties are)\b",
    re.I,
)
# Sentences on definitions, theorems, the original or the picture's form, which no number of the
# figure decides.
REASONS = {
    r"Algorithm 1, each on or off": "a definition of the curves",
    r"Remark 3 gives each": "a remark of the paper",
    r"The arm of every round": "the definition of the plot",
    r"from one run of AdaP-UCB": "the original's; the number of runs is in the next sentence",
    r"it plays the arms of the drawn one": "tested with the figure's reference",
    r"Lemma B\.2 admits every": "a lemma of the paper",
    r"a draw for every sum grows": "a property of a formula",
    r"In the legend: the ε": "its budgets are in a test of their own below",
    r"DP-Λ-Lap with each of them as base": "a definition of the curves",
    r"gain is 0 unless the arm is that of each": "a definition of the adversary",
    r"two games lose which differ in one round": "a definition of the loss",
    r"the loss is that of one sequence": "a definition of the loss",
    r"the gains of one round of the first batch": "a definition of the games",
    r"lose at most 0\.712": "numbers of the theory: test_theory_of_statements.py",
    r"arm 1, whose other rewards are 0": "a definition of the games",
    r"Privacy loss of the whole sequence": "a definition of the bounds",
    r"with as many successes as failures": "a definition of the formulas",
    r"an epoch's sum by all pulls of the arm": "a definition of the algorithm",
    r"many runs are only slow": "the bonus: test_answers.py has such runs",
    r"bands hold nine tenths": "the spread, which the caption's program states too",
    r"a private version of every reward, by one": "definitions of the algorithms",
    r"one algorithm in colour, others grey": "the form of the picture",
    r"on tables that differ in one reward": "a definition of the audit",
    r"of the variant that the (other figures|originals) draw": "the bold row: test_shapes.py",
    r"single runs are below 0": "a law of the rewards",
    r"lose the best arm .* and pay in every round": "why the figure has many runs",
    r"at most 1\.1 times that without privacy": "the definition of the marks: test_results.py",
    r"regret is at least half of that of": "the definition of a lost run: test_tails.py",
    r"algorithms that decide in every round": "a property of the algorithms",
    r"the releases of all rounds compose": "test_results.py",
}


def drawn(spec: FigureSpec, letters: str = "") -> list[tuple[Panel, Curve]]:
    panels = [p for p in spec.panels if not letters or p.letter in letters]
    return [(panel, curve) for panel in panels for curve in spec.drawn_curves(panel)]


def sources(spec: FigureSpec, letters: str = "") -> list[Experiment]:
    return [source for _, curve in drawn(spec, letters) for source in curve.played]


def number(word: str) -> int:
    return WORDS.index(word.lower())


def values(experiments: list[Experiment], *fields: str) -> set[float]:
    plain_fields = [as_json(source.params) for source in experiments]
    return {found[field] for found in plain_fields for field in fields if field in found}


def in_panels(text: str) -> str:
    found = re.match(r"((?:\(\w\)(?:, )?)+) ", text)
    return "".join(re.findall(r"\((\w)\)", found[1])) if found else ""


def budgets(spec: FigureSpec, count: str, text: str) -> bool:
    """Return whether the panels have so many budgets, together or, "in a panel", in every one."""
    if "in a panel" in text:
        each = [values(sources(spec, p.letter), "epsilon", "rho") for p in spec.panels]
    else:
        each = [values(sources(spec, in_panels(text)), "epsilon", "rho")]
    return {len(found) for found in each} == {number(count)}


def horizons(spec: FigureSpec, count: str, text: str) -> bool:
    return len({kinds.words(source).rounds for source in sources(spec, in_panels(text))}) == number(
        count
    )


def lower_bounds(spec: FigureSpec, count: str, text: str) -> bool:
    members = {c.sources[0].member for _, c in drawn(spec) if not c.played}
    return len({m for m in members if m.endswith("lower_bound")}) == number(count)


def games(spec: FigureSpec, count: str, text: str) -> bool:
    return len({kinds.setting(s, instances.description) for s in sources(spec)}) == number(count)


def arms(spec: FigureSpec, count: str, text: str) -> bool:
    found = {
        registry.environment(s[0]).arms(s[1]) for c in sources(spec) if (s := kinds.words(c).bandit)
    }
    return found == {number(count)}


def random_arms(spec: FigureSpec, count: str, text: str) -> bool:
    drawn_anew = [s for s in sources(spec, in_panels(text)) if isinstance(s, RegretExperiment)]
    return {(s.environment, as_json(s.instance)["arms"]) for s in drawn_anew} == {
        ("random-means", number(count))
    }


def alphas(spec: FigureSpec, count: str, text: str) -> bool:
    return len(values(sources(spec), "alpha")) == number(count)


def instances_named(spec: FigureSpec, last: str, text: str) -> bool:
    expected = {f"C{i}" for i in range(1, int(last) + 1)}
    return {kinds.setting(s, instances.description) for s in sources(spec)} == expected


def same_budget(spec: FigureSpec, _: str, text: str) -> bool:
    swept = [
        (x, s) for _, c in drawn(spec) for x, s in zip(c.x or (), c.sources, strict=True)
        if "epsilon" in getattr(s.params, "_fields", ())
    ]  # fmt: skip
    return bool(swept) and all(s.params.epsilon == x for x, s in swept)


def kinds_of_delta(spec: FigureSpec, _: str, text: str) -> bool:
    found = sources(spec)
    deltas = values([s for s in found if s.member == "gdp-elim-new"], "delta")
    others = {s.member for s in found if s.member != "gdp-elim-new"}
    return (len(deltas), len(others)) == (2, 3) and not values(
        [s for s in found if s.member in others], "delta"
    )


def whole_budget(spec: FigureSpec, _: str, text: str) -> bool:
    of_counters = [s for s in sources(spec) if s.member == "private-ucb"]
    return bool(of_counters) and all(
        composed_budget(s) == pytest.approx(given_budget(s)) for s in of_counters
    )


def worse_arms(spec: FigureSpec, count: str, text: str) -> bool:
    gaps = [kinds.gaps(source) for source in sources(spec)]
    return all(g is not None and [*g.round(12)].count(0.75) == number(count) for g in gaps)


def random_ties(spec: FigureSpec, _: str, text: str) -> bool:
    ties = {as_json(s.params).get("ties") for s in sources(spec)} - {None}
    return ties == {"random"}


def every_fit(spec: FigureSpec, _: str, text: str) -> bool:
    return spec.slopes and all(curve.fit is None for _, curve in drawn(spec))


def rules(spec: FigureSpec, count: str, text: str) -> bool:
    return len({s.member for s in sources(spec)}) == number(count)


def variants(spec: FigureSpec, count: str, text: str) -> bool:
    return len({c.sources[0].member for _, c in drawn(spec) if c.variant}) == number(count)


def panels(spec: FigureSpec, count: str, text: str) -> bool:
    return len(spec.panels) == number(count)


def fresh_noise(spec: FigureSpec, _: str, text: str) -> bool:
    noise = {as_json(s.params)["noise"] for s in sources(spec) if s.member == "dp-ucb-int"}
    return noise == {"every-round"}


def all_claims(spec: FigureSpec, _: str, text: str) -> bool:
    claimed = {n for n in registry.algorithm_names() if hasattr(registry.algorithm(n), "guarantee")}
    return {s.member for _, c in drawn(spec) for s in c.sources} == claimed


def by_gaps(spec: FigureSpec, _: str, text: str) -> bool:
    """Return whether no other figure shows the realised regret of arms that have means."""
    others = (load(name, [])[0] for name in project.names("figure") if name != spec.name)
    found = (s for other in others for s in sources(other) if isinstance(s, RegretExperiment))
    return all(source.regret is Regret.PSEUDO for source in found)


RULES: tuple[tuple[str, Callable[[FigureSpec, str, str], bool]], ...] = (
    (rf"({COUNT}) (?:local |privacy )?budgets", budgets),
    (rf"({COUNT}) horizons", horizons),
    (rf"({COUNT}) lower bounds", lower_bounds),
    (rf"({COUNT}) (?:instances|adversaries)\b", games),
    (rf"({COUNT}) random means", random_arms),
    (rf"({COUNT}) arms (?:within|at|of|with)|worse of ({COUNT}) arms", arms),
    (rf"the ({COUNT}) arms of Theorem", arms),
    (rf"({COUNT}) values of α", alphas),
    (r"C1 to C(\d)", instances_named),
    (r"(all) private algorithms are given the same budget", same_budget),
    (r"at (two) δ beside three algorithms", kinds_of_delta),
    (r"with (all) of ε in each counter", whole_budget),
    (rf"({COUNT}) worse arms are all \.75", worse_arms),
    (r"(Ties) are broken at random", random_ties),
    (r"fit over (all) horizons", every_fit),
    (rf"Samples of ({COUNT}) rules", rules),
    (rf"variants of ({COUNT}) algorithms", variants),
    (rf"the ({COUNT}) values are our choice", panels),
    (r"noise anew in (every) round", fresh_noise),
    (r"(every) private algorithm promises", all_claims),
    (r"which (all) other figures with stochastic", by_gaps),
    (r"tuned to (each) T", lambda spec, _, text: all(kinds.words(s).rounds for s in sources(spec))),
)


def sentences(spec: FigureSpec) -> list[str]:
    texts = (without_tex(text) for text in (spec.about, spec.note))
    return [s for text in texts for s in re.split(r"(?<=[.;]) (?=[A-Z(])", text) if s]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("figure", project.names("figure"))
def test_a_hand_written_quantifier_holds_for_the_figure(figure: str, profile: str) -> None:
    spec, _ = load(figure, [f"profile={profile}"])
    for text in sentences(spec):
        if not QUANTIFIER.search(text):
            continue
        found = [(m, rule) for form, rule in RULES for m in [re.search(form, text)] if m]
        for match, rule in found:
            assert rule(spec, next(filter(None, match.groups())), text), f"{rule.__name__}: {text}"
        assert found or any(re.search(form, text) for form in REASONS), f"not checked: {text}"


def test_the_budget_in_the_legend_is_at_most_that_of_the_title() -> None:
    for name in ("dpucb-2arms", "dpucb-10arms"):
        spec, _ = load(name, [])
        for panel, curve in drawn(spec):
            if curve.style == "dp-ucb-int":
                title = re.search(r"= ([\d.]+)", panel.title)
                assert title
                assert (composed_budget(curve.sources[0]) or 0.0) <= float(title[1])
