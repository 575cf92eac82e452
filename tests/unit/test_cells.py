"""Names and bounds of cells, and the seconds and mode of their runs."""

from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import adac_ucb, dp_ftpl_new, exp3
from dpbandits.core import registry
from dpbandits.environments import adversaries
from dpbandits.experiments import budgets, regret, stopping
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import Regret, RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.privacy.notions import (
    Guarantee,
    Notion,
)
from dpbandits.stopping import nas

STOPPING = StoppingExperiment("nas", nas.Params(0.5, 0.05), Stream(0.8, 1.0), 1)


def private(epsilon: float, alpha: float, mean: float, radius: float) -> StoppingExperiment:
    params = registry.stopping_rule("dp-nas").Params(epsilon, alpha, 0.1)
    return StoppingExperiment("dp-nas", params, Stream(mean, radius), 1)


@pytest.mark.parametrize(
    ("player", "times", "expected"),
    [
        (regret, [5.0, 6.0, 10.0, 12.0, 20.0, 24.0], [1.0, 2.0, 4.0]),
        (stopping, [5.0, 11.0], [2.0, 2.0, 2.0]),
    ],
)
def test_the_seconds_of_a_run_are_its_share_of_those_of_the_runs_played_with_it(
    player: ModuleType,
    times: list[float],
    expected: list[float],
    cell: RegretExperiment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter(times)
    monkeypatch.setattr(player, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    _, seconds = (cell if player is regret else STOPPING).play(range(4, 7))
    assert seconds.tolist() == expected


def test_runs_are_played_in_batches_unless_asked_otherwise(cell: RegretExperiment) -> None:
    batches, rounds = (regret.play_run(cell, 3, per_round) for per_round in (False, True))
    (curve,), _ = cell.play(range(3, 4))
    np.testing.assert_array_equal(curve, batches.curve)
    np.testing.assert_array_equal(regret.play_run(cell, 3).curve, batches.curve)
    assert (batches.curve != rounds.curve).any()


def test_the_name_of_a_cell_has_the_kind_of_its_adversary_or_the_name_of_its_law(
    cell: RegretExperiment,
) -> None:
    assert cell.name.startswith("adap-ucb(epsilon=1.0, ")
    assert cell.name.endswith(" on bernoulli K=2 T=200")
    instance = adversaries.Params(adversaries.Kind.FULLY_OBLIVIOUS, 2)
    played = RegretExperiment(
        "exp3", exp3.Params(100), "adversaries", instance, 100, Grid.END, 1, pulls_of=1
    )
    assert played.name.endswith(" on fully-oblivious adversary K=2 T=100, pulls of arm 2")
    realised = replace(played, regret=Regret.REALISED)
    assert realised.name == f"{played.name}, realised regret"


@pytest.mark.parametrize(
    ("cell", "bound"),
    [
        # 200 ((1 + 1/alpha) 4 R/|mu|)^2 + 400 (24 + 4/alpha) R/(epsilon |mu|)
        (private(1.0, 0.5, 0.5, 1.0), 200 * 24**2 + 400 * 32 * 2),
        (private(0.1, 0.25, -1.0, 4.0), 200 * 80**2 + 400 * 40 * 40),
        (StoppingExperiment("nas", nas.Params(0.5, 0.05), Stream(0.5, 1.0), 1), 200 * 24**2),
    ],
    ids=["dp-nas", "negative mean", "nas"],
)
def test_the_largest_number_of_samples_follows_from_both_terms_of_the_threshold(
    cell: StoppingExperiment, bound: float
) -> None:
    assert cell.samples_at_most() == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("claim", "epsilon", "delta"),
    [
        (Guarantee(Notion.GLOBAL, 7.0, 0.3, "a theorem"), 2.0, 0.1),
        (None, 2.0, 0.1),
        # The conversion of test_concentrated.py; the classical one gives 5.76.
        (Guarantee(Notion.CONCENTRATED, 0.5, 0.0, "a theorem"), 5.22, 1e-6),
    ],
    ids=["another claim", "no claim", "zCDP"],
)
def test_a_budget_is_that_of_the_parameters_but_for_zcdp(
    claim: Guarantee | None, epsilon: float, delta: float
) -> None:
    params: Any = dp_ftpl_new.Params(2.0, 0.1, 100)
    if claim and claim.notion is Notion.CONCENTRATED:
        params = adac_ucb.Params(0.5)
    cell: Any = SimpleNamespace(params=params, claim=lambda: claim)
    assert budgets.given(cell) == pytest.approx(epsilon, rel=0.01)
    assert budgets.delta_of(cell) == delta


def test_samples_are_one_in_magnitude_by_default() -> None:
    usual, in_full = (
        StoppingExperiment("nas", nas.Params(0.5, 0.05), samples, 1)
        for samples in (Stream(0.5), Stream(0.5, 1.0))
    )
    assert usual.samples_at_most() == in_full.samples_at_most()
