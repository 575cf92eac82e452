"""The headlines of our own results hold for another seed and on other instances, at smaller scale.

The figures have seed 2022 and play C1 to C4, Instance 1 and arms of .75.
"""

import csv
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from commands import ROOT
from composed import load

from dpbandits.drawing.plotting import drawing_function
from dpbandits.environments import bernoulli
from dpbandits.experiments import kinds
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.kinds import composed_budget
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.privacy.accounting import tight_epsilon
from dpbandits.tables import references
from dpbandits.theory import azize2025, batches

pytestmark = pytest.mark.usefixtures("in_checkout")
SEED = 11
FORGETTING, BONUS = {"forgetting": True}, {"allowance": 1}


def regret(
    member: str, means: tuple[float, ...], horizon: int, runs: int, **params: Any
) -> np.ndarray:
    """Return the regret of some runs at the horizon."""
    algorithm = registry.algorithm(member)
    if "horizon" in algorithm.Params._fields:
        params["horizon"] = horizon
    params = {"ties": 1, **params} if "ties" in algorithm.Params._fields else params
    game = "bernoulli", bernoulli.Params(means), horizon, Grid.END, SEED
    return RegretExperiment(member, algorithm.Params(**params), *game).play(range(runs))[0][:, -1]


@pytest.mark.long
@pytest.mark.parametrize("means", [(0.6, 0.45, 0.3), (0.4, 0.3, 0.2, 0.2, 0.1, 0.05)], ids=str)
def test_dp_klucb_is_at_the_bound_in_batches_and_adap_klucb_far_above(
    means: tuple[float, ...],
) -> None:
    for horizon in (10**8, 10**11):
        bound = azize2025.lower_bound(means, horizon, 1.0)
        medians = {
            name: np.median(regret(name, means, horizon, 200, epsilon=1.0)) / bound
            for name in ("dp-klucb", "adap-klucb", "dp-se")
        }
        assert 1.0 < medians["dp-klucb"] < 1.35
        assert min(medians["adap-klucb"], medians["dp-se"]) > 7
        in_batches = batches.bound_in_batches(means, horizon, 1.0) / bound
        assert medians["dp-klucb"] == pytest.approx(in_batches, rel=0.1)


@pytest.mark.long
def test_alpha_multiplies_with_the_other_ingredients_but_forgetting_and_doubling_do_not() -> None:
    def median(**ingredients: Any) -> float:
        means = (0.6, 0.45, 0.3, 0.25)
        return float(np.median(regret("dp-klucb", means, 10**10, 200, epsilon=1.0, **ingredients)))

    double: dict[str, Any] = {"ratio": 2.0}
    for step in ({}, double, FORGETTING, BONUS, double | FORGETTING):
        assert 2.4 < median(alpha=3.1, **step) / median(**step) < 3.7
    none = median()
    forgetting, doubling = median(**FORGETTING) / none, median(ratio=2.0) / none
    both = median(ratio=2.0, **FORGETTING) / none
    assert forgetting == pytest.approx(3.0, rel=0.15)  # a third of the rewards is read
    assert both / doubling == pytest.approx(2.0, rel=0.15)  # and half of them
    whole = median(ratio=2.0, alpha=3.1, **FORGETTING, **BONUS) / none
    product = forgetting * doubling * median(**BONUS) * median(alpha=3.1) / none**2
    assert product > 1.2 * whole


@pytest.mark.long
@pytest.mark.parametrize("means", [(0.6, 0.3), (0.5, 0.2, 0.2, 0.2)], ids=str)
def test_privacy_is_free_for_dp_klucb_at_twice_the_threshold_but_not_for_adap_klucb(
    means: tuple[float, ...],
) -> None:
    twice = 2.0 * azize2025.transitions(means)[-1]

    def price(member: str) -> float:
        private, free = (
            regret(member, means, 10**6, 1000, epsilon=epsilon).mean() for epsilon in (twice, 1e9)
        )
        return float(private / free)

    assert price("dp-klucb") < 1.1 < 1.15 < price("adap-klucb")
    wasted, best = (regret(n, means, 10**6, 100, epsilon=1e9) for n in ("dp-se", "dp-klucb"))
    assert wasted.mean() > 10 * best.mean()


@pytest.mark.long
def test_lost_runs_are_rarer_with_a_larger_alpha_and_rule_the_mean_of_dp_imed() -> None:
    horizon, means = 10**6, (0.6, 0.5)

    def lost(member: str, **params: Any) -> float:
        runs = regret(member, means, horizon, 4000, epsilon=0.1, **params)
        return float((runs > 0.05 * horizon).mean())

    shares = [lost("dp-klucb", alpha=alpha) for alpha in (0.25, 0.5, 1.0, 2.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 10 * shares[2]
    assert lost("dp-imed") > 5 * shares[2]
    assert lost("adap-klucb") == 0.0
    runs = regret("dp-imed", means, horizon, 4000, epsilon=0.1)
    assert runs.mean() > 10 * np.median(runs)


# Equal privacy -----------------------------------------------------------------------------------


def test_at_equal_privacy_the_releases_of_every_private_curve_compose_to_the_budget() -> None:
    spec, _ = load("equal-privacy", [])
    delta = math.exp(-10)
    for panel in spec.panels[2:]:
        for curve in panel.curves:
            if f"equal-{curve.name}" in {other.name for other in panel.curves}:
                continue  # as published
            for epsilon, source in zip(curve.x or (), curve.sources, strict=True):
                spent = composed_budget(source)
                if curve.name in ("equal-exp3-tau", "adac-ucb"):  # which have closed forms
                    spent = tight_epsilon(kinds.of(source).declared(source, "releases"), delta)
                assert spent is not None
                assert spent <= epsilon * (1 + 1e-6), curve.name
                assert spent == pytest.approx(epsilon, rel=0.02), curve.name  # whole batches


def test_the_alphas_at_equal_privacy_are_those_of_the_least_regret_on_other_instances() -> None:
    with (ROOT / "figures" / "reference" / "equal-privacy.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["panel"] in "ab"]
    rows = [row for row in rows if not row.get("profile")]  # at the papers' scale
    spec, _ = load("equal-privacy", [])
    chosen = {c.name: kinds.words(c.sources[0]).settings for c in spec.panels[2].curves}
    for label in ("DP-KLUCB", "AdaP-KLUCB", "AdaP-UCB"):
        logs = dict.fromkeys((float(row["x"]) for row in rows), 0.0)  # by alpha, of both budgets
        for row in rows:
            if row["label"] == label:
                logs[float(row["x"])] += math.log(float(row["mean"]))
        name = label.lower()
        settings = chosen.get(f"equal-{name}", chosen[name])  # or as published
        assert settings["alpha"] == min(logs, key=logs.__getitem__), label


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("figure.curves.dp-ucb.share=1.5", "must be inside"),
        ("figure.curves.dp-ucb.share=compsed", "must be"),
        ("figure.curves.dp-ucb.delta=-1", "delta must be in"),
    ],
)
def test_a_wrong_share_is_one_line(override: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem) as caught:
        load("equal-privacy", [f"+{override}"])
    assert "\n" not in str(caught.value)


# Drawing -----------------------------------------------------------------------------------------


def test_privacy_is_free_from_the_first_budget_after_the_last_that_costs_a_tenth() -> None:
    spec, _ = load("free", [])
    series = next(s for s in references.read_series(spec, references.PAPER) if s.runs)
    free_from: Any = drawing_function("results", "free_from")
    x, one = np.array([1.0, 2, 4, 8, 1e9]), np.ones(5)
    for ratio, errors, expected in (
        ([3.0, 1.2, 1.05, 1.0, 1.0], 0.0, (4, 4, 4)),
        ([3.0, 1.05, 1.2, 1.0, 1.0], 0.0, (8, 8, 8)),  # dearer again
        ([1.05, 1.0, 1.0, 1.0, 1.0], 0.0, (1, 1, 1)),
        ([3.0, 2.0, 1.3, 1.2, 1.0], 0.0, (math.inf,) * 3),
        ([3.0, 1.15, 1.05, 1.0, 1.0], 0.03, (2, 4, 8)),
    ):
        mean = np.array(ratio)
        ends: dict[str, Any] = {"low": mean - errors * one, "high": mean + errors * one}
        assert free_from(replace(series, x=x, mean=mean, **ends)) == expected, ratio
