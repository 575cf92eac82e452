"""Captions are short and say what the budgets of the curves add up to; the sidecar has each."""

import math
import re
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from composed import load

from dpbandits.algorithms import adap_ucb, dp_ucb, exp3_tau
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.budget import budget
from dpbandits.factory import audit_results, captions
from dpbandits.factory.captions import caption
from dpbandits.files import project
from dpbandits.privacy.accounting import tight_epsilon
from dpbandits.privacy.notions import ConcentratedGuarantee

pytestmark = pytest.mark.usefixtures("in_checkout")


@cache
def text(figure: str, *overrides: str) -> str:
    """Return the caption in one line, so that the positions of line breaks do not matter."""
    spec, _ = load(figure, overrides)
    return " ".join(caption(spec).split())


def test_the_first_sentences_name_figure_paper_original_statistics_and_games() -> None:
    assert text("adap-headline").startswith(
        "Evolution of regret over time (Azize and Basu 2022, Fig. 2). Regret over time on C2 at ε ="
        " 1. DP-UCB is that of Mishra and Thakurta (2015). Lines are means of 20 runs (seed 2022);"
        " bands are one standard deviation on either side. C2, T = 10,000,000."
    )
    assert "Every value is from one run (seed 2022). K = 2, Bernoulli arms" in text("adap-episodes")
    assert "All curves are formulas, without runs." in text("ftpl-gauss-cdf")
    assert "Every value is from one audit (seed 2022)." in text("privacy-audit")
    assert "means of 10,000 streams" in text("stopping-rules")
    assert "medians of means (24 groups) of 720 runs" in text("exp3-oblivious")


@pytest.mark.parametrize("figure", project.names("figure"))
def test_a_caption_has_120_words_at_most_and_no_key_of_a_paper(figure: str) -> None:
    assert len(text(figure).split()) <= 120
    assert not re.search(r"\b(tossou|sajed|azize|wang|hu|ren)20\d\d\b", text(figure))


def test_formulas_keep_the_extent_of_their_signs() -> None:
    assert "√(t μ* (1 − μ*))" in text("regret-realised")
    assert "√(2 log(t)/n)" in text("klucb-improvement")
    assert "T = 2¹⁸" in text("exp3-horizons")
    assert "R log(1/β)/(ε α |μ|)" in text("stopping-rules")


def test_a_change_is_the_first_sentence_and_titles_and_games_follow_it() -> None:
    changed = text("adap-c2", "figure.horizon=100_000", "figure.environment=c4", "runs=3", "seed=4")
    assert changed.startswith(
        "Changed from the figure's file: environment = c4 (file: c2); horizon = 100,000 (file:"
        " 10,000,000). Evolution of regret on C4 (Azize and Basu 2022, Fig. 5)."
    )
    assert "means of 3 runs (seed 4). C4, T = 100,000." in changed
    unchanged = ("runs=3", "seed=4", "engine.workers=1", "figure.annotated=true")
    assert "Changed" not in text("adap-c2", *unchanged)


def test_games_have_their_names_and_of_many_without_a_name_the_ends() -> None:
    assert "Instance 1, Instance 2, T = 1,000,000." in text("ftpl-approx-dp")
    assert "7 games, from K = 2, Bernoulli arms of means 0.75, 0.25 to K = 128," in text(
        "adap-ksweep"
    )
    assert "T = 1,000 to 1,000,000,000,000" in text("horizons")
    assert "scale of the profile ci" in text("adap-c2", "profile=ci")


def of(figure: str, letter: str, label: str, *overrides: str) -> str:
    """Return the privacy of a curve, as in the sidecar."""
    spec, _ = load(figure, overrides)
    (panel,) = (panel for panel in spec.panels if panel.letter == letter)
    return captions.privacy(next(curve for curve in panel.curves if curve.label == label))


def test_an_audit_stands_beside_no_other_budget_than_its_own() -> None:
    assert of("adap-c2", "d", "AdaP-UCB").startswith(
        "given ε = 1 (global DP), composes to 1; audited: at least 0.994"
    )
    assert "audited: at least 0.434" in of("adap-c2", "c", "AdaP-UCB")
    for letter in "ab":
        assert "audited" not in of("adap-c2", letter, "AdaP-UCB")
    # Another delta gives another budget.
    assert of("dpucb-2arms", "a", "DP-UCB-INT") == (
        "given ε = 1 (per-round DP), composes to 0.7951 at δ = 4.54·10⁻⁵"
    )


def test_no_audited_bound_stands_beside_a_smaller_budget() -> None:
    # A hasty reader would see a violation.
    beside = re.compile(
        r"given ε = ([\d.]+)[^;]*?composes to ([\d.]+)[^;]*; audited: at least ([\d.]+)"
    )
    seen = 0
    for figure in ("adap-c1", "adap-headline", "dpucb-2arms", "ftpl-pure-dp", "dpse-epsilon"):
        every = [captions.privacy(c) for panel in load(figure, [])[0].panels for c in panel.curves]
        for given, composed, bound in (m for one in every for m in beside.findall(one)):
            assert 0 < float(bound) <= max(float(given), float(composed))
            seen += 1
    assert seen > 5


def test_an_audit_of_another_reading_is_not_taken() -> None:
    found = audit_results.of("adap-ucb", adap_ucb.Params(epsilon=0.25))
    assert found is not None
    assert (found.budget_given, found.delta, found.one_choice) == (1.0, 0.0, None)
    assert 0.5 < found.epsilon <= 1.0
    own = audit_results.of("adap-ucb", adap_ucb.Params(epsilon=2.0))
    assert own is not None
    assert own.budget_given == 2.0
    full, split = (
        audit_results.of("dp-ucb", dp_ucb.Params(epsilon=0.1, counter=counter))
        for counter in (Counter.HYBRID_FULL, Counter.HYBRID_SPLIT)
    )
    assert full != split
    # The reading whose budget comes from a theorem has no audit.
    assert (
        audit_results.of("exp3-tau", exp3_tau.Params(horizon=100, epsilon=1.0, delta=0.1)) is None
    )


class Rho(NamedTuple):
    rho: float


@pytest.mark.parametrize("claim", [None, "a claim"])
def test_a_budget_without_a_claim_is_not_declared(claim: str | None) -> None:
    cell: Any = SimpleNamespace(params=Rho(1.0), releases=lambda: [], claim=lambda: claim)
    assert captions.is_undeclared(cell) == (claim is None)
    if claim is None:
        curve: Any = SimpleNamespace(sources=(cell,))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(captions, "budget", lambda cell: 1.0)
            assert captions.privacy(curve) == captions.NOT_DECLARED


def test_budgets_are_one_sentence_with_the_exceptions() -> None:
    assert text("adap-c1").endswith("All compose to the ε they are given, except DP-UCB (ε/5).")
    assert text("dpucb-2arms").endswith(
        "UCB is not private. In parentheses, what releases compose to: Private-UCB (ε/2), DP-UCB"
        " and DP-UCB-BOUND (2 ε) and DP-UCB-INT (0.35 ε or 0.8 ε)."
    )
    assert of("dpucb-2arms", "b", "DP-UCB").startswith(
        "given ε = 0.1 (per-round DP), composes to 0.2, more than given"
    )
    split = ("dpucb-2arms", "b", "DP-UCB", "figure.curves.dp-ucb.counter=hybrid-split")
    assert "more than given" not in of(*split)
    assert text("adap-ksweep").endswith("All compose to the ε they are given.")


def test_a_swept_curve_has_the_range_of_its_budgets() -> None:
    swept = ("adap-ksweep", "a", "DP-UCB", "figure.curves.dp-ucb.split=arms")
    assert of(*swept).startswith("given ε = 0.1 (global DP), composes to 0.0007813 to 0.05")
    assert text("adap-ksweep", swept[-1]).endswith("except DP-UCB (ε/128 to ε/2).")


def test_a_composition_without_a_bound_is_called_so_and_never_not_private() -> None:
    assert text("ftpl-approx-dp").endswith(
        "No bound is known for the composition of DP-FTPL-Gauss, DP-FTPL-Beta, DP-FTPL-New and"
        " DP-UCB-INT."
    )
    assert of("ftpl-approx-dp", "b", "DP-UCB-INT") == (
        "given ε = 1 (per-round DP), no bound known for the composition at δ = 4.54·10⁻⁵"
    )


def test_a_start_phase_that_takes_every_round_is_warned_of() -> None:
    # 9 arms, T = 10^6: the start of DP-FTPL-Gauss fills it below delta = 0.00085, at epsilon = 0.
    warning = "the start phase takes all of the 1,000,000 rounds at δ = 0.0001 to 0.000681."
    assert text("ftpl-delta-sweep").endswith(f"DP-FTPL-Gauss: {warning}")
    for horizon, warns in ((7443, True), (7444, False)):  # 9 times 827 pulls
        line = "the start phase takes all of the 7,443 rounds"
        assert (line in text("ftpl-approx-dp", f"figure.horizon={horizon}")) == warns


def test_a_note_stands_in_a_paragraph_of_its_own() -> None:
    spec, _ = load("adap-alpha", ["++figure.note=Left out: nothing."])
    assert "\n\nLeft out: nothing.\n\nAll compose" in caption(spec)


def test_a_budget_of_zcdp_has_the_epsilon_that_follows_at_a_delta() -> None:
    found = of("adac-price", "a", "AdaC-UCB (T=100,000)")
    assert "given ρ = 0.1 to 1000 (zCDP), composes to ε = 2.142 to 1232 at δ = 1·10⁻⁶" in found
    assert "more than given" not in found


def test_in_the_leaderboard_nobody_spends_more_than_the_others_may() -> None:
    spec, _ = load("leaderboard", [])
    for panel in spec.panels:
        notion = panel.row
        for curve in panel.curves:
            half = 0.5 if "epsilon/2" in curve.label else 1.0
            assert curve.x == (0.1 * half, 1.0 * half)
            for x, cell in zip(curve.x, curve.sources, strict=True):
                assert isinstance(cell, Cell)
                if hasattr(cell.params, "delta"):
                    allowed = math.exp(-10) if "delta" in notion else 0.0
                    assert cell.params.delta == pytest.approx(allowed)
                spent = budget(cell)
                assert spent is not None
                if isinstance(cell.claim(), ConcentratedGuarantee):
                    spent = tight_epsilon(cell.releases() or (), math.exp(-10))
                if cell.member.startswith("dp-ftpl"):
                    # All rounds together have no bound, unless the start never ends.
                    assert spent == (0.0 if cell.warning() else math.inf)
                    assert "every round" in notion
                elif cell.member in ("dp-ucb-int", "exp3-tau"):
                    assert 0.45 * x < spent <= x
                else:
                    assert spent == pytest.approx(x)
