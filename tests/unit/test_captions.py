"""The caption says what the privacy of every curve comes to."""

import math
from pathlib import Path

import pytest

from dpbandits import audited
from dpbandits.algorithms import adap_ucb, dp_ucb, exp3_tau
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.captions import budget, caption
from dpbandits.cell import Cell
from dpbandits.config import load

pytestmark = pytest.mark.usefixtures("in_checkout")


def lines(figure: str, *overrides: str) -> list[str]:
    spec, _ = load(figure, overrides)
    return caption(spec).splitlines()


def without_audits(told: list[str]) -> list[str]:
    return [line.partition("; audited")[0] for line in told]


def test_what_an_audit_found_of_the_same_promise_is_told_and_no_other() -> None:
    assert any("; audited: 0." in line for line in lines("adap-ksweep"))
    found = audited.of("adap-ucb", adap_ucb.Params(epsilon=0.25))
    assert found is not None
    assert found.one_choice is None
    assert 0.5 < found.epsilon <= 1.0
    # Of other counters, which are other promises, other audits.
    full, split = (
        audited.of("dp-ucb", dp_ucb.Params(epsilon=0.1, counter=counter))
        for counter in (Counter.HYBRID_FULL, Counter.HYBRID_SPLIT)
    )
    assert full != split
    # Nobody has audited the reading whose budget is that of a theorem.
    assert audited.of("exp3-tau", exp3_tau.Params(horizon=100, epsilon=1.0, delta=0.1)) is None


def test_a_budget_that_is_exceeded_is_told_and_no_other() -> None:
    told = lines("dpucb-2arms")
    assert "(a) UCB: not private" in told
    over = "(b) DP-UCB: given 0.1, per-round DP, composes to 0.2: MORE than it was given"
    assert over in without_audits(told)
    exceed = {line.partition(":")[0] for line in told if "MORE" in line}
    assert exceed == {f"({panel}) {name}" for panel in "ab" for name in ("DP-UCB", "DP-UCB-BOUND")}
    split = lines("dpucb-2arms", "figure.curves.dp-ucb.counter=hybrid-split")
    assert "(b) DP-UCB: given 0.1, per-round DP, composes to 0.1" in without_audits(split)


def test_a_budget_that_is_more_than_its_last_digit_is_not_exceeded() -> None:
    assert not [line for line in lines("adap-ksweep") if "MORE" in line]


def test_a_swept_curve_tells_the_range_and_a_bound_that_nothing_is_played() -> None:
    told = lines("adap-ksweep")
    assert "(a) DP-UCB: given 0.1, global DP, composes to 0.0007813 to 0.05" in without_audits(told)
    assert "(b) Lower bound (Thm 3): a bound, nothing is played" in told


def test_an_infinite_budget_and_a_delta_are_told() -> None:
    told = lines("dpucb-2arms", "figure.curves.dp-ucb-int.noise=every-round")
    line = next(line for line in told if line.startswith("(a) DP-UCB-INT"))
    assert without_audits([line]) == [
        "(a) DP-UCB-INT: given 1, per-round DP, composes to inf at delta = 4.54e-05: MORE than it"
        " was given"
    ]


def test_the_first_line_names_figure_paper_statistics_and_runs(root: Path) -> None:
    assert lines("adap-headline")[0] == (
        "Evolution of regret over time (azize2022); mean and std of 20 runs."
    )
    assert lines("adap-episodes")[0].endswith("(azize2022); mean of 1 run.")


def test_a_start_phase_that_takes_every_round_is_warned_of() -> None:
    # 9 arms, T = 10^6: the start of DP-FTPL-Gauss fills it below delta = 0.00085, at epsilon = 0.
    told = lines("ftpl-delta-sweep")
    warned = [line for line in told if "WARNING" in line]
    assert len(warned) == 1
    assert warned[0].startswith("(a) DP-FTPL-Gauss: ")
    warning = "WARNING: the start phase takes all of the 1,000,000 rounds at 0.0001 to 0.000681"
    assert warned[0].endswith(warning)
    for horizon, warns in ((7443, True), (7444, False)):  # 9 times 827 pulls
        told = lines("ftpl-approx-dp", f"figure.horizon={horizon}")
        (beta,) = (line for line in told if line.startswith("(a) DP-FTPL-Beta"))
        assert ("WARNING: the start phase takes all of the 7,443 rounds" in beta) == warns


def test_a_note_stands_between_what_a_budget_is_and_the_budgets() -> None:
    told = lines("adap-alpha", "+figure.note=Left out: nothing.")
    assert told[told.index("Left out: nothing.") - 1] == ""
    assert told[told.index("Left out: nothing.") + 2].startswith("(a) ")


def test_in_the_leaderboard_nobody_spends_more_than_the_others_may() -> None:
    spec, _ = load("leaderboard", [])
    for panel in spec.panels:
        notion = panel.title.partition(": ")[0]
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
                if cell.member.startswith("dp-ftpl"):
                    # Of all rounds together there is no bound, but for a start that never ends.
                    assert spent == (0.0 if cell.warning() else math.inf)
                    assert "every round" in notion
                elif cell.member in ("dp-ucb-int", "exp3-tau"):
                    assert 0.45 * x < spent <= x
                else:
                    assert spent == pytest.approx(x)
