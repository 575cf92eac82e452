"""Verdicts on a toy paper: what decides them, over all variants of the roles that are named."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from toy_paper import Toy, near, paper, said

from dpbandits import theory
from dpbandits.judge import variants, verdicts
from dpbandits.judge.verdicts import Verdict
from dpbandits.kernel.errors import UserError

YES, NO, DEPENDS, OPEN = Verdict.REPRODUCED, Verdict.NOT, Verdict.DEPENDS, Verdict.INCONCLUSIVE
BONUS = {"bonus": {"role": "a", "variants": {"on": {"alpha": 1}, "off": {"alpha": 2}}}}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    """Curves a (10; variant `off`: 30) and b (20), with standard errors of 0.1."""
    made_up = Toy(monkeypatch)
    for name, value, alpha in (("a", 10, 1), ("a", 30, 2), ("b", 20, 1)):
        made_up.add(name, near(value, noise=1.0, seed=value), alpha)
    return made_up


# One combination ---------------------------------------------------------------------------------


def test_a_sentence_is_decided_where_its_whole_interval_lies_on_one_side(toy: Toy) -> None:
    error, result = math.hypot(0.1 / 10, 0.1 / 20), toy.one("a <= b").drawn
    assert result.estimate == pytest.approx(math.log(10 / 20), abs=1e-9)
    assert (result.high - result.low) / 2 == pytest.approx(2.241 * error, rel=0.15)
    assert [result.left, result.right, result.runs] == pytest.approx([10, 20, 100])
    for factor, verdict in ((2.06, YES), (2.01, OPEN), (1.99, OPEN), (1.94, NO)):
        # 2.24 errors of the logarithm are 2.5 %.
        assert toy.one(f"b <= {factor} * a").verdict is verdict


def test_intervals_are_wider_for_many_comparisons_and_at_later_looks(toy: Toy) -> None:
    of = paper({"it": said("a <= b")})
    widths = [r.high - r.low for look in range(3) if (r := toy.judge(of, look)["it"].drawn)]
    normal = [2.241, 2.498, 2.734]  # quantiles for errors of .05/2, .05/4 and .05/8
    assert [w / widths[0] * 2.241 for w in widths] == pytest.approx(normal, rel=0.1)
    for i in range(30):
        toy.add(f"c{i}", near(20.0, noise=1.0, seed=50 + i))
    many = toy.one("a <= 0.6 * others").drawn
    assert (many.verdict, many.comparisons) == (YES, 31)
    assert 1.2 < (many.high - many.low) / widths[0] < 2.0
    toy.add("low", near(5.0))  # all must hold
    assert toy.one("a <= 0.6 * others").verdict is NO
    assert toy.one("a <= 0.6 * b", "a <= low").drawn.text == "a <= low"


def test_fewer_than_20_runs_decide_nothing(toy: Toy) -> None:
    for runs, verdict_of in ((19, (OPEN, OPEN)), (20, (YES, NO))):
        toy.add("few", near(1.0, runs))
        assert tuple(toy.one(f"few {sign} 2").verdict for sign in ("<=", ">=")) == verdict_of
        assert toy.one("few <= a").drawn.runs == runs


def test_numbers_within_a_thousandth_satisfy_both_directions_and_are_equal(toy: Toy) -> None:
    toy.add("ten", np.full(50, 10.0))
    for share, verdict_of, equal in ((1.0009, (YES, YES), True), (1.0011, (YES, NO), False)):
        toy.add("more", np.full(50, 10.0 * share))
        found = [toy.one(text) for text in ("more >= ten", "more <= ten")]
        assert tuple(each.verdict for each in found) == verdict_of
        assert [each.drawn.equal for each in found] == [equal, equal]
        beside_open = toy.one("more <= ten", "b <= 2.01 * a").verdict
        assert beside_open is (OPEN if equal else NO)


def unmet(t: int) -> float:
    raise UserError("alpha must exceed 3")


def test_a_bound_counts_where_it_is_below_the_largest_regret_and_its_hypotheses_are_met(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases: tuple[tuple[Callable[[int], float], Verdict, int], ...] = (
        (lambda t: 0.4 * t, Verdict.VACUOUS, 0),  # the largest regret: the gap is 0.4
        (lambda t: 1.5, YES, 2),
        (lambda t: 0.9 if t == 3 else 9.0, NO, 1),
        (lambda t: unmet(t) if t < 5 else 1.9, YES, 1),
        (unmet, Verdict.NOT_MET, 0),
    )
    toy.add("c", np.full((50, 5), 1.0))
    monkeypatch.setattr(theory, "accepted", lambda name: ["alpha", "horizon"])
    for of, verdict, comparisons in cases:
        value = partial(lambda value, name, alpha, horizon: value(horizon), of)
        monkeypatch.setattr(variants, "theory_value", value)
        result = toy.one('everywhere(c) <= bound(everywhere(c), "m.f", alpha=3)').drawn
        assert (result.verdict, result.comparisons) == (verdict, comparisons)


# Choices -----------------------------------------------------------------------------------------


def test_variants_are_applied_wherever_their_role_is_named(toy: Toy) -> None:
    sentences = {
        "left": said("a <= b"),
        "right": said("b >= a"),
        "others": said("b >= others"),
        "inside": said("largest(everywhere(a)) / 2 <= 0.5 * b"),
        "without": said("b <= 25"),
        "under": said("a <= b", under={"bonus": "off"}),
    }
    claims = toy.judge(paper(sentences, choices=BONUS))
    for name in ("left", "right", "others", "inside"):
        assert [r.verdict for r in claims[name].results.values()] == [YES, NO]
        assert (claims[name].verdict, claims[name].drawn.verdict) == (DEPENDS, YES)
        assert claims[name].turned_by() == ["bonus"]
    assert claims["without"].results.keys() == {()}
    assert claims["under"].verdict is NO
    for text, verdict in (("a <= 2 * b", YES), ("a >= 2 * b", NO), ("a <= 1.5 * b", OPEN)):
        assert toy.one(text, choices=BONUS).verdict is verdict


def test_open_words_are_numbers_or_functions_and_open_games_change_whole_figures(toy: Toy) -> None:
    toy.add("c", np.tile([5.0, 25.0, 15.0], (40, 1)))
    for text, choice, verdict in (
        ("w(c) <= b", {"word": "w", "variants": {"1": "end", "2": "everywhere"}}, DEPENDS),
        ("w(c) <= b", {"word": "w", "variants": {"1": "end", "2": "smallest"}}, YES),
        ("at(c, w) <= b", {"word": "w", "variants": {"1": 1, "2": 2}}, DEPENDS),
        ("c / w <= b", {"word": ["v", "w"], "variants": {"1": {"w": 2}, "2": {"w": 0.5}}}, DEPENDS),
        ("a <= b", {"figures": "toy", "variants": {"1": {}, "2": {"figure.alpha": 2}}}, DEPENDS),
        ("c <= b", {"figures": "other", "variants": {"1": {}, "2": {"figure.alpha": 2}}}, YES),
    ):
        assert toy.one(text, choices={"choice": choice}).verdict is verdict


def test_the_choice_of_the_statistic_judges_all_its_sentences(toy: Toy) -> None:
    toy.add("a", np.where(np.arange(100) < 15, 200.0, 10.0))  # mean 38.5, median 10
    sentences = {"best": said("a <= b"), "gap": said("a >= b"), "free": said("a <= b")}
    for of, free in ((["best", "gap"], [NO]), ("all", [NO, YES])):
        choice = {"statistic": of, "variants": {"the mean": "mean", "the median": "median"}}
        claims = toy.judge(paper(sentences, choices={"which": choice}))
        found = [[r.verdict for r in claims[n].results.values()] for n in sentences]
        assert found == [[NO, YES], [YES, NO], free]


def test_an_override_reaches_its_role_alone_and_an_algorithm_replaces_a_curve() -> None:
    choices = {
        "bonus": {"role": "adap-klucb", "variants": {"on": {}, "off": {"privacy_bonus": "off"}}},
        "which": {"role": "dp-se", "variants": {"SE": {}, "UCB": {"algorithm": "adap-ucb"}}},
    }
    where = {"in": {"adap-c2": ["b"]}}
    drawn = variants.Figures(paper({"it": said("adap_klucb <= dp_se", **where)}, choices=choices))
    assert drawn.touched("it") == ["bonus", "which"]
    before, after = (
        {name: cast(Any, curve.sources[0]) for name, (curve,) in panel["b"].items()}
        for combination in ({}, {"bonus": "off", "which": "UCB"})
        if (panel := drawn.panels("adap-c2", ["b"], combination))
    )
    one, other = before["adap_klucb"].params, after["adap_klucb"].params
    assert one != other == one._replace(privacy_bonus=other.privacy_bonus)
    assert (before["dp_se"].member, after["dp_se"].member) == ("dp-se", "adap-ucb")
    assert before["adap_ucb"] == after["adap_ucb"]


# Statements and sets of sentences ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "erratum", "word"),
    [
        (said("a <= b"), "", "no counterexample in our runs"),
        (said("a >= b"), "", "contradicted"),
        (said("a <= b", status="not computable"), "", "not computable"),
        (said("a <= b"), "misprint", "no counterexample in our runs"),
        (said("a <= b"), "gap in a proof", "proof incomplete"),
        (said("a <= b"), "false for some parameters", "contradicted"),
        (said("a <= b"), "false", "contradicted"),
        (said(guarantee="b"), "", "no counterexample in our runs"),
        (said(guarantee=["a", "b"]), "", "no bound known"),
        (said(guarantee="other"), "", "not testable"),
    ],
)
def test_a_statement_never_reproduces_and_an_erratum_decides_its_status(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, claim: Any, erratum: str, word: str
) -> None:
    toy.add("other", near(1.0))
    cells = {c.sources[0]: c.name for c in toy.curves["toy"]["a"].values()}
    budgets = {"a": 1.5, "b": 1.0, "other": None}  # all are given 1
    monkeypatch.setattr(verdicts, "composed_budget", lambda cell: budgets[cells[cell]])
    errata = [{"where": "1", "status": erratum, "text": "so", "statement": ["it"]}]
    of = paper({}, statements={"it": claim}, errata=errata if erratum else [])
    assert toy.judge(of)["it"].status == word
