"""Captions say what was played and what the budgets add up to; the sidecar has every curve's."""

import math
import re
import subprocess
import sys
from functools import cache

import pytest
from composed import load

from dpbandits.algorithms import adap_ucb, dp_ucb, exp3_tau
from dpbandits.algorithms.dp_ucb_bound import Counter
from dpbandits.experiments.kinds import composed_budget, declared
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import captions
from dpbandits.factory.captions import caption
from dpbandits.files import project
from dpbandits.privacy.accounting import tight_epsilon
from dpbandits.tables.audits import audited

pytestmark = pytest.mark.usefixtures("in_checkout")


@cache
def text(figure: str, *overrides: str) -> str:
    """Return the caption in one line, so that the positions of line breaks do not matter."""
    return " ".join(caption(load(figure, overrides)[0]).split())


def of(figure: str, letter: str, label: str, *overrides: str) -> str:
    """Return the privacy of a curve, as in the sidecar."""
    spec, _ = load(figure, overrides)
    (panel,) = (panel for panel in spec.panels if panel.letter == letter)
    return captions.privacy(next(curve for curve in panel.curves if curve.label == label))


@pytest.mark.parametrize("figure", project.names("figure"))
def test_a_caption_is_short_and_has_no_key_of_a_paper(figure: str) -> None:
    assert len(text(figure).split()) <= (160 if figure == "variants-tossou2016" else 135)
    assert not re.search(r"\b(tossou|sajed|azize|wang|hu|ren)20\d\d\b", text(figure))


def test_a_caption_states_runs_seed_horizon_and_every_change_of_the_figure() -> None:
    assert "means of 20 runs (seed 2022);" in text("adap-headline")
    assert "C2, T = 10,000,000." in text("adap-headline")
    assert "medians of means (24 groups) of 720 runs" in text("exp3-oblivious")
    assert "without runs" in text("ftpl-gauss-cdf")
    assert "T = 1,000 to 1,000,000,000,000" in text("horizons")
    changed = text("adap-c2", "figure.horizon=100_000", "figure.environment=c4", "runs=3", "seed=4")
    assert changed.startswith("Changed from the figure's file: environment = c4 (file: c2); ")
    assert "horizon = 100,000 (file: 10,000,000)" in changed
    assert "means of 3 runs (seed 4). C4, T = 100,000." in changed
    assert "runs = 3 (file: 20); seed = 4 (file: 2022)" in " ".join(changed.split())
    assert "Changed" not in text("adap-c2", "engine.workers=1", "figure.annotated=true")


def test_a_changed_figure_says_whom_the_order_of_the_arms_and_mixed_budgets_favour() -> None:
    told = "AdaP-KLUCB: where nothing tells the arms apart, as at small budgets, the first one"
    assert told in text("adap-c2", "figure.horizon=100_000")
    turned = "{family: bernoulli, means: [0.25, 0.75]}"
    assert told not in text("adap-c2", f"figure.environment={turned}")
    assert told not in text("adap-c2")
    # A start phase that is cut pulls the arms in their order.
    beta = "+algorithm@figure.curves.beta=dp-ftpl-beta", "+figure.delta=0.01"
    mixed = text("adap-c2", "figure.horizon=10_000", *beta)
    assert "AdaP-KLUCB; DP-FTPL-Beta in (a), (b) and (c): where nothing" in mixed
    assert "Budgets of global DP and per-round DP at δ = 0.01 are not comparable." in mixed
    assert "are not comparable" in text("adap-c2", *beta, "+figure.panels.d.curves=[dp-se]")


def test_a_caption_gives_the_fewest_and_the_most_runs_of_its_curves() -> None:
    assert "means of 2 to 20 runs" in text("adap-c2", "+figure.curves.adap-ucb.runs=2")


def test_a_lower_bound_beside_curves_is_called_asymptotic_if_it_is() -> None:
    for figure, is_said in (("adap-regimes", True), ("dpklucb-c1", True), ("gdp-elim", False)):
        assert ("Lower bounds are asymptotic." in text(figure)) == is_said
    bounds = "+figure.curves.a.bound=azize2022.no_privacy_lower_bound", "+figure.curves.a.label=Asy"
    more = "+figure.curves.b.bound=azize2022.minimax_lower_bound", "+figure.curves.b.label=Low"
    assert "Asy is asymptotic." in text("adap-c2", *bounds, *more)


# Audits -------------------------------------------------------------------------------------------


def test_an_audit_stands_beside_no_other_budget_than_its_own() -> None:
    for letter, bound in zip("abcd", ("", "", "0.434", "0.994"), strict=True):
        found = re.findall(r"audited: at least ([\d.]+)", of("adap-c2", letter, "AdaP-UCB"))
        assert found == [bound] * bool(bound)
    assert of("adap-c2", "d", "AdaP-UCB").startswith("given ε = 1 (global DP), composes to 1;")
    assert "audited" not in of("dpucb-2arms", "a", "DP-UCB-INT")  # at another delta
    # In so few rounds nothing is released: the audit's own games are longer.
    assert of("adap-c2", "d", "DP-SE", "figure.horizon=1_000").endswith("composes to 0")
    assert "audited: at least" in of("adap-c2", "d", "DP-SE")


def test_an_audit_of_another_reading_is_not_taken() -> None:
    found = audited("adap-ucb", adap_ucb.Params(epsilon=0.25))
    assert found is not None
    assert (found.budget_given, found.delta, found.one_choice) == (1.0, 0.0, None)
    assert 0.5 < found.epsilon <= 1.0
    exact = audited("adap-ucb", adap_ucb.Params(epsilon=2.0))
    assert exact is not None
    assert exact.budget_given == 2.0
    counters = (Counter.HYBRID_FULL, Counter.HYBRID_SPLIT)
    full, split = (
        audited("dp-ucb", dp_ucb.Params(epsilon=0.1, counter=counter)) for counter in counters
    )
    assert full != split
    # The variant whose budget comes from a theorem has no audit.
    by_theorem = exp3_tau.Params(horizon=100, epsilon=1.0, delta=0.1)
    assert audited("exp3-tau", by_theorem) is None


def test_a_caption_takes_an_audit_from_its_table_without_any_code_of_audits() -> None:
    code = """
import sys
from dpbandits.config import compose
from dpbandits.factory import captions
spec, _ = compose.load("adap-c2", [])
assert "audited" in "".join(captions.privacy(c) for panel in spec.panels for c in panel.curves)
print([name for name in sys.modules if name.startswith("dpbandits.audit")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# Budgets ------------------------------------------------------------------------------------------


SPLIT = "figure.curves.dp-ucb.counter=hybrid-split"
ARMS = "figure.curves.dp-ucb.split=arms"


@pytest.mark.parametrize(
    ("place", "budgets"),
    [
        (("dpucb-2arms", "a", "DP-UCB-INT"), "composes to 0.7951 at δ = 4.54·10⁻⁵"),
        (("dpucb-2arms", "b", "DP-UCB"), "composes to 0.2, more than given"),
        (("dpucb-2arms", "b", "DP-UCB", SPLIT), "composes to 0.1"),
        (("adap-ksweep", "a", "DP-UCB", ARMS), "composes to 0.0007813 to 0.05"),
        (("ftpl-approx-dp", "b", "DP-UCB-INT"), "no bound known for the composition at δ = "),
        (
            ("adac-price", "a", "AdaC-UCB (T=100,000)"),
            "given ρ = 0.01 to 1000 (zCDP), composes to ε = 0.6217 to 1232 at δ = 1·10⁻⁶",
        ),
    ],
)
def test_a_curve_has_the_budget_that_its_releases_compose_to(
    place: tuple[str, ...], budgets: str
) -> None:
    assert budgets in of(*place)
    assert ("more than given" in of(*place)) == ("more than given" in budgets)


@pytest.mark.parametrize(
    ("figure", "end"),
    [
        (("adap-ksweep",), "All compose to the ε they are given."),
        (("adap-ksweep", ARMS), "except DP-UCB (ε/128 to ε/2)."),
        (("adap-c1",), "All compose to the ε they are given, except DP-UCB (ε/5)."),
        (("dpucb-2arms",), "DP-UCB and DP-UCB-BOUND (2 ε) and DP-UCB-INT (0.35 to 0.8 ε)."),
        (("ftpl-approx-dp",), "No bound is known for any composition."),
    ],
)
def test_a_caption_names_the_curves_that_compose_to_another_budget(
    figure: tuple[str, ...], end: str
) -> None:
    assert text(*figure).endswith(end)


def test_a_start_phase_that_takes_every_round_is_warned_of() -> None:
    # 9 arms, T = 10^6: the start of DP-FTPL-Gauss fills it below delta = 0.00085, at epsilon = 0.
    where = "DP-FTPL-Gauss in (a) at δ = 0.0001 to 0.000681"
    warning = f"{where}: the start phase takes all of the 1,000,000 rounds, without release."
    assert warning in text("ftpl-delta-sweep")
    for horizon, warns in ((7443, True), (7444, False)):  # 9 times 827 pulls
        line = "the start phase takes all of the 7,443 rounds"
        assert (line in text("ftpl-approx-dp", f"figure.horizon={horizon}")) == warns


def test_in_the_leaderboard_nobody_spends_more_than_the_others_may() -> None:
    for panel in load("leaderboard", [])[0].panels:
        notion = panel.row
        for curve in panel.curves:
            assert curve.x == (0.1, 1.0)
            half = 0.5 if "epsilon/2" in curve.label else 1.0
            assert (half == 0.5) == (curve.name.startswith("half-"))
            for budget_of_notion, cell in zip(curve.x, curve.sources, strict=True):
                x = half * budget_of_notion
                assert isinstance(cell, RegretExperiment)
                if hasattr(cell.params, "delta"):
                    allowed = math.exp(-10) if "delta" in notion else 0.0
                    assert cell.params.delta == pytest.approx(allowed)
                spent = composed_budget(cell)
                assert spent is not None
                if hasattr(cell.params, "rho"):
                    spent = tight_epsilon(declared(cell, "releases") or (), math.exp(-10))
                if cell.member.startswith("dp-ftpl"):
                    # All rounds together have no bound, unless the start never ends.
                    assert spent == (0.0 if declared(cell, "warning") else math.inf)
                    assert "every round" in notion
                elif cell.member in ("dp-ucb-int", "exp3-tau"):
                    assert 0.45 * x < spent <= x
                else:
                    assert spent == pytest.approx(x)
