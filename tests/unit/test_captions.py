"""The caption states the composed privacy of every curve."""

import math
import re
from functools import cache
from pathlib import Path
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
from dpbandits.privacy.accounting import tight_epsilon
from dpbandits.privacy.notions import ConcentratedGuarantee

pytestmark = pytest.mark.usefixtures("in_checkout")


@cache
def text(figure: str, *overrides: str) -> str:
    """Return the caption in one line, so that the positions of line breaks do not matter."""
    spec, _ = load(figure, overrides)
    return " ".join(caption(spec).split())


def test_the_first_sentences_name_figure_paper_original_and_statistics() -> None:
    assert text("adap-headline").startswith(
        "Evolution of regret over time (azize2022, Fig. 2). Regret over time on C2 at ε = 1. Line:"
        " mean of 20 runs, seed 2022; band or bars: one standard deviation on either side."
        " C2 (K = 5, Bernoulli arms of means 0.75, 0.625, 0.5, 0.375, 0.25), T = 10,000,000."
    )
    assert "Every value is from one run, seed 2022. K = 2, Bernoulli arms" in text("adap-episodes")
    assert "All curves are formulas, without runs." in text("ftpl-gauss-cdf")
    assert "Every value is from one audit, seed 2022." in text("privacy-audit")
    assert "mean of 10,000 streams" in text("stopping-rules")
    assert "median of means (24 groups) of 720 runs" in text("exp3-oblivious")


def test_a_change_is_the_first_sentence_and_titles_and_games_follow_it() -> None:
    changed = text("adap-c2", "figure.horizon=100_000", "figure.environment=c4", "runs=3", "seed=4")
    assert changed.startswith(
        "Changed from the figure's file: environment = c4 (file: c2); horizon = 100,000 (file:"
        " 10,000,000). Evolution of regret on C4 (azize2022, Fig. 5). Regret over time on C4"
    )
    assert "mean of 3 runs, seed 4;" in changed
    assert (
        "C4 (K = 5, Bernoulli arms of means 0.75, 0.71875, 0.625, 0.46875, 0.25), T = 100,000."
        in changed
    )
    for stale in ("on C2", "T = 10,000,000", "2022"):
        assert stale not in changed.partition("C4")[2].replace("azize2022", "")
    assert "Changed" not in text("adap-c2", "runs=3", "seed=4", "engine.workers=1")


def test_every_game_is_described_with_the_panels_that_play_it() -> None:
    games = text("ftpl-approx-dp")
    assert "(a), (b) Instance 1 (K = 9, Bernoulli arms of means 0.3, 0.35," in games
    assert (
        "(c), (d) Instance 2 (K = 101, Bernoulli arms of means in equal steps from 0.3 to 0.7)"
        in games
    )
    assert "7 games, from K = 2, Bernoulli arms of means 0.75, 0.25 to K = 128," in text(
        "adap-ksweep"
    )
    assert "T = 1,000 to 1,000,000,000,000" in text("horizons")
    ci = text("adap-c2", "profile=ci")
    assert "scale of the profile ci" in ci
    assert "DP-UCB: C2 (K = 5" in ci  # at its own horizon
    assert "walk=plain" in text("exp3-readings")


def test_an_audit_stands_beside_the_budget_that_it_was_made_with() -> None:
    c2 = text("adap-c2")
    assert "(d) AdaP-UCB: given ε = 1 (global DP), composes to 1; audited: at least 0.994" in c2
    assert "(c) AdaP-UCB: given ε = 0.5 (global DP), composes to 0.5; audited: at least 0.434" in c2
    for letter, epsilon in (("a", "0.1"), ("b", "0.25")):
        assert (
            f"({letter}) AdaP-UCB: given ε = {epsilon} (global DP), composes to {epsilon};"
            " audited at ε = 1: at least 0.994" in c2
        )
    # Another delta gives another budget.
    assert "(a) DP-UCB-INT (0.00396): given ε = 1" in text("dpucb-2arms")
    assert "composes to 0.7951 at δ = 4.54·10⁻⁵; audited at ε = 1, δ = 0.001: at least" in (
        text("dpucb-2arms")
    )


def test_no_audited_bound_stands_beside_a_smaller_budget_without_its_own(root: Path) -> None:
    # A hasty reader would see a violation: an audited bound above the budget printed before it.
    beside = re.compile(
        r"given ε = ([\d.]+)[^;]*?composes to ([\d.]+)[^;]*; audited: at least ([\d.]+)"
    )
    seen = 0
    for figure in ("adap-c1", "adap-headline", "dpucb-2arms", "ftpl-pure-dp", "dpse-epsilon"):
        for given, composed, bound in beside.findall(text(figure)):
            assert float(bound) <= max(float(given), float(composed))
            seen += 1
    assert seen > 10


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


def test_a_budget_that_is_exceeded_is_reported_and_no_other() -> None:
    both = text("dpucb-2arms")
    assert "(a), (b) UCB: not private" in both
    assert (
        "(b) DP-UCB (0.1): given ε = 0.1 (per-round DP), composes to 0.2, more than given;" in both
    )
    assert both.count("more than given") == 4  # DP-UCB and DP-UCB-BOUND, in both panels
    split = text("dpucb-2arms", "figure.curves.dp-ucb.counter=hybrid-split")
    assert "(b) DP-UCB (0.1): given ε = 0.1 (per-round DP), composes to 0.1;" in split
    assert "more than given" not in text("adap-ksweep")  # a last digit does not count


def test_a_swept_curve_has_its_range_and_formulas_are_named_once() -> None:
    ksweep = text("adap-ksweep")
    assert "(a) DP-UCB: given ε = 0.1 (global DP), composes to 0.0007813 to 0.05;" in ksweep
    assert ksweep.endswith("Formulas, without runs: Lower bound (Thm 3)")


def test_an_infinite_budget_and_a_delta_are_in_words() -> None:
    assert "composes to no finite bound at δ = 4.54·10⁻⁵, more than given" in (
        text("dpucb-2arms", "figure.curves.dp-ucb-int.noise=every-round")
    )


def test_a_start_phase_that_takes_every_round_is_warned_of() -> None:
    # 9 arms, T = 10^6: the start of DP-FTPL-Gauss fills it below delta = 0.00085, at epsilon = 0.
    warning = "Warning: the start phase takes all of the 1,000,000 rounds at δ = 0.0001 to 0.000681"
    assert text("ftpl-delta-sweep").count("Warning") == 1
    assert warning in text("ftpl-delta-sweep")
    for horizon, warns in ((7443, True), (7444, False)):  # 9 times 827 pulls
        line = "Warning: the start phase takes all of the 7,443 rounds"
        assert (line in text("ftpl-approx-dp", f"figure.horizon={horizon}")) == warns


def test_a_note_stands_in_a_paragraph_of_its_own() -> None:
    spec, _ = load("adap-alpha", ["++figure.note=Left out: nothing."])
    assert "\n\nLeft out: nothing.\n\nPrivacy" in caption(spec)


def test_a_caption_states_rho_and_the_epsilon_that_follows_at_a_delta() -> None:
    found = text("adac-price")
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
