"""The judge against a table of claims whose verdicts and numbers are computed by hand."""

import csv
import io
import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from scipy import stats
from toy_paper import Toy, cell, line, near, paper, said

from dpbandits import theory
from dpbandits.algorithms.adap_ucb import Ties
from dpbandits.experiments import kinds
from dpbandits.judge import claims_table, variants, verdicts
from dpbandits.judge.claims_table import Gathered
from dpbandits.judge.resampled import RESAMPLES, Line
from dpbandits.judge.variants import Figures
from dpbandits.judge.verdicts import Judged, Key, Result, Verdict, combinations
from dpbandits.kernel.errors import UserError

YES, NO, OPEN, EXPLAINED = (
    *(Verdict.REPRODUCED, Verdict.NOT, Verdict.INCONCLUSIVE),
    Verdict.EXPLAINED,
)
DEPENDS, VACUOUS = Verdict.DEPENDS, Verdict.VACUOUS
SIGNS = {"+": YES, "-": NO, "?": OPEN, "v": VACUOUS}
LOOP = {
    "role": "a",
    "variants": {"at once": {"alpha": 1}, "while": {"alpha": 2}},
    "against": {"while": "published-a"},
}
FITS = {"published-a": said("a >= 5")}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    return Toy(monkeypatch)


def made_up(signs: str, kind: str = "sentences", **choices: Any) -> Judged:
    """Return a claim `it` with a result for every combination of these choices, in their order."""
    of = paper(**({"sentences": {}} | {kind: {"it": said("a <= b")}}), choices=choices)
    keys = (tuple(c.items()) for c in combinations(of, choices))
    results = {k: Result(verdict=SIGNS[s]) for k, s in zip(keys, signs, strict=True) if s != " "}
    return Judged(of, "it", results)


def word(*variants: str, against: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a choice of a word that no claim has."""
    return {"word": "w", "variants": dict.fromkeys(variants, 1), "against": against or {}}


# The verdict over combinations -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "against", "verdict"),
    [
        ("+++", "   ", YES),
        ("---", "   ", NO),
        ("+-?", "   ", DEPENDS),
        ("+?+", "   ", OPEN),
        ("-?-", "   ", OPEN),
        ("+vv", "   ", YES),
        ("v+-", "   ", DEPENDS),
        ("vvv", "   ", VACUOUS),
        ("---", "-?-", NO),
        ("---", "-?+", EXPLAINED),
        ("-v-", "+++", EXPLAINED),
        ("--?", "+++", OPEN),
        ("-+-", "+++", DEPENDS),
        ("+++", "---", YES),
    ],
)
def test_the_text_alone_decides_and_what_fits_can_only_explain_why_all_of_it_fails(
    text: str, against: str, verdict: Verdict
) -> None:
    loop, way = word("at once", "while", against={"while": "published-a"}), word("1", "2", "3")
    both: list[tuple[str, dict[str, Any]]] = [
        (text + against, {"loop": loop, "way": way}),
        ("".join(map("".join, zip(text, against, strict=True))), {"way": way, "loop": loop}),
    ]
    for signs, choices in both:
        assert made_up(signs, **choices).verdict is verdict
        statement = made_up(signs, "statements", **choices).verdict
        assert statement is (NO if verdict is EXPLAINED else verdict)


def test_an_explanation_has_the_fewest_variants_and_then_the_largest_share() -> None:
    loop = word("at once", "while", against={"while": "published-a"})
    base = word("2", "e", against={"e": "published-a"})
    for signs, variants_of, holds in (  # loop x base x way
        ("---+--++-+++", {"loop": "while"}, 2),
        ("---++-+--+++", {"base": "e"}, 2),
        ("-----?---++-", {"loop": "while", "base": "e"}, 2),
    ):
        found = made_up(signs, loop=loop, base=base, way=word("1", "2", "3"))
        assert (found.verdict, found.explanation) == (EXPLAINED, (variants_of, holds, 3))


def test_a_choice_turns_a_verdict_if_it_alone_changes_it() -> None:
    idle, way = word("x", "y"), word("1", "2")
    assert made_up("+-+-", idle=idle, way=way).turned_by() == ["way"]
    assert made_up("+  -", idle=idle, way=way).turned_by() == []
    assert made_up("+++-", idle=idle, way=way).turned_by() == ["idle", "way"]


@pytest.mark.parametrize(
    ("signs", "status"),
    [
        ("+?", "no counterexample in our runs"),
        ("?+", "inconclusive"),
        ("??", "inconclusive"),
        ("?-", "inconclusive"),
        ("+-", "depends on an unstated choice"),
        ("--", "contradicted"),
    ],
)
def test_a_statement_has_no_counterexample_only_if_it_was_seen_to_hold_as_drawn(
    signs: str, status: str
) -> None:
    assert made_up(signs, "statements", way=word("1", "2")).status == status


def test_statements_on_published_curves_have_the_variants_that_fit_and_must_fit_their_own(
    toy: Toy,
) -> None:
    for alpha, value in ((1, 2), (2, 10), (3, 3)):
        toy.add("a", near(value), alpha)
    third = LOOP["variants"] | {"third": {"alpha": 3}}  # type: ignore[operator]
    ours = {**FITS, "published-all": said("a >= 1"), "published-no": said("a >= 50")}
    for against, problems in (
        ({"while": ["published-a", "published-all"]}, []),
        ({"while": "published-a", "third": "published-a"}, ["third"]),
        ({"third": ["published-all", "published-no"]}, ["third"]),
    ):
        loop = LOOP | {"variants": third, "against": against}
        of = paper({"it": said("a >= 4")}, ours=ours, choices={"loop": loop})
        claims = toy.judge(of)
        assert [{*claims[name].status.removeprefix("fits ").split("; ")} for name in ours] == [
            *({"while"}, {"as drawn", "while", "third"}, {"no variant"})
        ]
        file = "conf/claims/toy.yaml: choices.loop.against"
        told = [*claims_table.misfits(Gathered(of, claims))]
        assert [line.split("' does")[0] for line in told] == [f"{file}: '{v}" for v in problems]
        assert claims["it"].verdict is (EXPLAINED if "while" in against else DEPENDS)


def test_variants_of_one_name_fit_each_for_itself(toy: Toy) -> None:
    for alpha, value in ((1, 2), (2, 10)):
        toy.add("a", near(value), alpha)
    bar = {"word": "w", "variants": {"5": 5, "while": 7}, "against": {"while": "published-a"}}
    of = paper({}, ours={"published-a": said("a >= w")}, choices={"loop": LOOP, "bar": bar})
    (told,) = claims_table.misfits(Gathered(of, toy.judge(of)))
    assert told.startswith("conf/claims/toy.yaml: choices.bar.against: 'while' does not fit")


def test_sets_and_the_joint_table_are_made_of_the_text_and_again_with_what_fits(toy: Toy) -> None:
    for name, alpha, value in (("a", 1, 2), ("a", 2, 10), ("b", 1, 1), ("b", 2, 9)):
        toy.add(name, near(value), alpha)
    way = {"role": "b", "variants": {"K": {"alpha": 1}, "1": {"alpha": 2}}}
    idle = {"word": "w", "variants": {"1": 100, "2": 200}}
    sentences = {"small": said("a <= 5"), "large": said("a >= 5"), "b": said("b >= 5")}
    sentences |= {"sure": said("a <= w"), "mute": {"says": "so", "not testable": "no number"}}
    of = paper(sentences, ours=FITS, choices={"loop": LOOP, "way": way, "idle": idle}, runs=3)
    claims = toy.judge(of)
    sets = (
        {j.sentences: dict(j.combination) for j in claims_table.largest_sets(claims.values(), only)}
        for only in (True, False)
    )
    assert [*sets] == [
        {("small", "b", "sure"): {"loop": "at once", "way": "1"}},
        {("large", "b", "sure"): {"loop": "while", "way": "1"}},
    ]
    rows = csv.reader(io.StringIO(claims_table.joint_table(Gathered(of, claims)).decode()))
    assert [" ".join(row) for row in rows] == [
        "standing loop way small large b sure reproduced",
        *("text at once K + - - + 2", "text at once 1 + - + + 3"),
        *("fits while K - + - + 2", "fits while 1 - + + + 3"),
    ]
    unknown = toy.judge(paper({"small": said("a <= 5")})).values()  # no number of runs is known
    assert math.isnan(claims_table.largest_sets(unknown, only_text=True)[0].chance)


# Comparisons and their numbers -------------------------------------------------------------------


def test_the_quoted_comparison_is_the_one_that_decides_and_the_typical_one_the_median(
    toy: Toy,
) -> None:
    toy.add("tight", near(12.0, noise=0.01))
    toy.add("wide", near(11.0, noise=6.0))  # 2.4 standard errors of its logarithm are 0.13
    texts = ["tight <= 10", "wide <= 10", "tight <= 24"]  # log 1.2, log 1.1 +- 0.13, log 0.5
    for several in itertools.permutations(texts):
        missed = toy.one(*several).drawn
        assert (missed.verdict, missed.text) == (NO, "tight <= 10")
        assert missed.low == pytest.approx(math.log(1.2), abs=1e-3)
        assert missed.typical == pytest.approx(math.log(1.1), abs=1e-9)
    held = toy.one("wide <= 12.8", "tight <= 13").drawn  # -0.15 +- 0.13, -0.08
    assert (held.verdict, held.text) == (YES, "wide <= 12.8")


def test_a_chance_counts_every_comparison_of_experiments_that_are_independent(toy: Toy) -> None:
    for name, ones in (("a", 60), ("b", 50)):
        toy.add(name, np.where(np.arange(100) < ones, 1.0, 3.0))
    error = math.sqrt(0.3 * 0.7 / RESAMPLES)
    for texts in (("a <= 2", "b <= 2"), ("b <= 2", "a <= 2", "a <= 4")):  # of one run each
        assert abs(toy.one(*texts, runs=1).drawn.chance - 0.6 * 0.5) < 3.5 * error


def test_experiments_with_equal_runs_have_resamples_that_are_no_permutation_of_each_other(
    toy: Toy,
) -> None:
    own = [Line.of(toy.resampler(), "mean", toy.add(n, near(1.0, 50))) for n in "ab"]
    one, other = (
        np.sort(toy.resampler().statistic(each.curve, "mean", each.columns)[1:, 0]) for each in own
    )
    assert (one != other).mean() > 0.9


def test_the_spread_is_of_as_many_runs_as_the_figure_draws_and_its_chance_of_the_papers(
    toy: Toy,
) -> None:
    curve = toy.add("a", np.where(np.arange(100) < 50, 1.0, 3.0))
    toy.curves["toy"]["a"]["a 1.0"] = replace(curve, runs=4)
    result = toy.one("spread(a) >= 1.9", runs=9).drawn
    assert result.left == pytest.approx(2 * (1 - 2 / 2**4))  # 0 only if all 4 runs agree
    assert abs(result.chance - (1 - 2 / 2**9)) < 0.01


def test_intervals_are_as_wide_as_all_combinations_of_the_text_ask_for_and_no_wider(
    toy: Toy,
) -> None:
    for alpha in range(1, 31):
        toy.add("a", near(10.0, noise=1.0, seed=alpha), alpha)

    def width(last: int, against: bool = False, look: int = 0) -> float:
        several: dict[str, Any] = {str(i): {"alpha": i} for i in range(1, last + 1)}
        excluded = dict.fromkeys([*several][1:], "published-a") if against else {}
        choice = {"role": "a", "variants": several, "against": excluded}
        of = paper({"it": said("a <= 20")}, choices={"way": choice}, ours=FITS)
        drawn = toy.judge(of, look)["it"].drawn
        return drawn.high - drawn.low

    for look, level in enumerate((0.025, 0.0125, 0.00625)):
        normal = stats.norm.isf(level / 2 / np.array([30, 1]))
        expected = normal[0] / normal[1]  # of 30 independent curves, and of one
        assert width(30, look=look) / width(1, look=look) == pytest.approx(expected, rel=0.13)
    assert width(30, against=True) == width(1)


def test_what_a_bound_is_given_replaces_the_curves_own_and_a_sweep_has_a_game_at_every_point(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theory, "accepted", lambda name: ["alpha", "epsilon", "horizon"])
    monkeypatch.setattr(
        variants, "theory_value", lambda _, alpha, epsilon, horizon: alpha * epsilon * horizon / 100
    )
    toy.add("a", np.ones((30, 3)), alpha=1)
    toy.add("swept", np.ones((30, 3)), x=(1, 5, 7))
    for text, right in (
        ('everywhere(a) <= bound(everywhere(a), "f", alpha=2)', [0.02, 0.04, 0.06]),
        ('everywhere(a) <= bound(everywhere(a), "f")', [0.01, 0.02, 0.03]),
        ('everywhere(swept) <= bound(everywhere(swept), "f")', [0.01, 0.05, 0.07]),
        ('after(swept, 5) <= bound(after(swept, 5), "f", alpha=3)', [0.15, 0.21]),
    ):
        of = Figures(paper({"it": said(text)}))
        ((_, found),) = of.comparisons("it", {}, toy.resampler())
        assert found.right == pytest.approx(right)


def test_a_guarantee_over_a_sweep_is_exceeded_at_any_point(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.add("a", np.ones((20, 3)), x=(1, 2, 4))  # the given budgets
    of = paper({}, statements={"it": said(guarantee="a")})
    for spent, ratio, status in (
        ({1: 0.5, 2: 3.0, 4: 5.0}, 3 / 2, "no bound known"),
        ({1: 0.5, 2: 1.8, 4: 2.0}, 0.9, "no counterexample in our runs"),
    ):
        monkeypatch.setattr(
            verdicts, "composed_budget", lambda e, spent=spent: spent[e.params.epsilon]
        )
        judged = toy.judge(of)["it"]
        assert judged.status == status
        assert judged.drawn.estimate == pytest.approx(math.log(ratio))


def test_every_curve_that_an_each_makes_is_compared_also_among_others(toy: Toy) -> None:
    made = {name: toy.add(name, [value] * 3) for name, value in (("a", 6.0), ("b", 8.0))}
    values = {"b": (2.0, 3.0), "c": (12.0, 24.0)}
    several = [replace(toy.add(f"{n}{v}", [v] * 3), name=n) for n, vs in values.items() for v in vs]
    spec = toy.load_figure("toy", ())[0]
    own = replace(spec.panels[0], curves=(*made.values(), *several))
    for text, ratios in {
        "a <= b": [6 / 8, 6 / 2, 6 / 3],
        "b <= a": [8 / 6, 2 / 6, 3 / 6],
        "b <= others": [8 / 6, 8 / 12, 2 / 6, 2 / 24, 3 / 6, 3 / 24],
        "a <= others": [6 / 8, 6 / 12, 6 / 2, 6 / 24, 6 / 3],
    }.items():
        figures = Figures(paper({"it": said(text)}), {("toy",): replace(spec, panels=(own,))})
        found = figures.comparisons("it", {}, toy.resampler())
        assert [math.exp(c.distances[0, 0]) for _, c in found] == pytest.approx(ratios), text


# p-values and the memory -------------------------------------------------------------------------


def published(toy: Toy, name: str, runs: int, at: float) -> None:
    """Add a curve with the runs 10, 20, ... and a published point; offsets are at most 0.9."""
    curve = toy.add(name, 10.0 * (1 + np.arange(runs)))
    toy.curves["toy"]["a"][f"{name} 1.0"] = replace(curve, published=((1.0, at),))


def test_published_curves_of_one_experiment_have_their_own_p_values(toy: Toy) -> None:
    published(toy, "a", 20, 1000.0)
    (curve,), resampler = toy.curves["toy"]["a"].values(), toy.resampler()
    for at, beyond in ((1000.0, 0), (105.5, 20), (181.0, 5)):  # 181: 10, 20, 30; 190, 200
        other = replace(curve, published=((1.0, at),))
        for found in (resampler, toy.resampler()):
            values = found.statistic(other, "p_value", np.array([0]))
            assert values[0] == pytest.approx((beyond + 1) / 21)
    assert toy.resampler(4).statistic(curve, "p_value", np.array([0]))[1:] == pytest.approx(1 / 5)


def test_the_memory_tells_what_a_curve_shows(toy: Toy) -> None:
    source = cell("a")
    toy.runs[source] = np.full((20, 1), 10.0)
    resampler, known = toy.resampler(), kinds.quantities()
    for shows, value in (("regret", 10.0), ("regret-per-log-t", 10 / math.log(5))):
        swept = replace(line("a", [source], [1.0]), shows=known[shows])
        assert resampler.statistic(swept, "mean", np.array([0])) == pytest.approx(value)


def test_no_curve_is_refuted_at_the_floor_of_its_p_value(toy: Toy) -> None:
    for name, runs in (("few", 39), ("enough", 41)):
        published(toy, name, runs, 1e6)
    toy.add("c", near(1.0))
    for texts, verdict in (
        (["p_value(few) >= 0.05"], OPEN),  # 39 times 0.05 is less than 2
        (["0.05 <= p_value(few)"], OPEN),
        (["p_value(enough) >= 0.05"], NO),
        (["0.05 <= p_value(enough)"], NO),
        (["p_value(few) >= 0.02", "c >= 2"], NO),  # the floor excuses nothing else
        (["p_value(few) >= 0.02", "c <= 2"], YES),
    ):
        assert toy.one(*texts).verdict is verdict, texts
    assert toy.one("p_value(few) >= 0.05", "c >= 2").drawn.text == "c >= 2"


# Figures and runs --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a <= 2 * b", "b >= others", "[a, c] >= [b]"])
def test_two_curves_of_one_game_are_never_compared(toy: Toy, text: str) -> None:
    made, other = toy.add("a", [1.0] * 20), toy.add("c", [1.0] * 20)
    source = cast(Any, made.sources[0])
    curves = toy.curves["toy"]["a"]
    for change in ({"seed": 9}, {"params": source.params._replace(ties=Ties.RANDOM)}, {}):
        curves["b 1.0"] = replace(line("b", [replace(source, **change)]), label="better")
        with pytest.raises(UserError) as raised:
            toy.one(text)
        assert str(raised.value).startswith(f"conf/claims/toy.yaml: it: {text}: ")
        assert "\n" not in str(raised.value)
    assert toy.one("b <= 2 * c").paper.claims()  # others that the text leaves out are no matter
    for params in ({"alpha": 2.0}, {"epsilon": 2.0}):
        game = replace(source, params=source.params._replace(**params))
        toy.runs[game] = toy.runs[source]
        curves["b 1.0"] = line("b", [game])
        assert toy.one(text.replace("others", "a")).drawn.comparisons
    assert other.sources[0] != source


def test_a_choice_that_is_open_in_one_figure_leaves_the_others_as_drawn(toy: Toy) -> None:
    for figure in ("toy", "two"):
        for value in (1, 2):
            toy.add("a", [10.0**value] * 20, value, figure=figure)
    choice = {"role": "a", "variants": {"one": {}, "other": {"alpha": 2}}, "open in": "toy"}
    sentences = {
        "both": said("a <= 50") | {"in": ["toy", "two"]},
        "two": said("a <= 5") | {"in": "two"},
    }
    for open_in, both, two in (
        ("toy", {"one": (YES, "toy"), "other": (NO, "toy")}, [()]),
        ("two", {"one": (YES, "toy"), "other": (NO, "two")}, ["one", "other"]),
    ):
        claims = toy.judge(paper(sentences, choices={"way": choice | {"open in": open_in}}))
        results: dict[Key, Result] = claims["both"].results
        assert {k[0][1]: (r.verdict, r.figure) for k, r in results.items()} == both
        assert [k[0][1] if k else () for k in claims["two"].results] == two


def test_later_looks_have_four_and_sixteen_times_the_runs_if_the_rounds_allow_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Played(NamedTuple):
        member: str
        rounds: int
        seconds: float  # of its one run

    def seconds(of: Played) -> float:
        return of.seconds

    monkeypatch.setattr(kinds, "words", lambda of: of)
    fast, slow, idle = Played("a", 5, 0.0), Played("b", 10**6, 1.0), Played("c", 7, 0.0)
    store = cast(Any, SimpleNamespace(seconds=seconds, covered=lambda of: {0}))
    for look, expected in enumerate(([1000, 100], [4000, 4000], [16_000, 5000])):
        runs = cast(Any, dict.fromkeys((fast, slow, idle), 20))
        found = claims_table._more_runs(runs, [fast, slow], store, look)  # type: ignore[list-item]
        assert [*found.values()] == [*expected, 20]  # 10^8 rounds; then 10^10 / 2
