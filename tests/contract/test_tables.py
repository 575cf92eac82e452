"""Requirements on every law whose gains are generated before the game, with every algorithm."""

import itertools
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from cells import ALGORITHMS, TABLES, is_quick, on, params_of

from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment, play_run
from dpbandits.kernel import parameters, registry

HORIZON = 3000


def instances_of(law: str) -> list[Any]:
    """Return the Params of a law in every combination of their variants."""
    cls = registry.environment(law).Params
    variants = {
        name: list(annotation)
        for name, annotation in parameters.fields(cls).items()
        if isinstance(annotation, type) and issubclass(annotation, IntEnum)
    }
    combinations = itertools.product(*variants.values())
    return [cls(**dict(zip(variants, members, strict=True))) for members in combinations]


INSTANCES = {law: instances_of(law) for law in TABLES}
SOME = {law: every[:: max(len(every) // 7, 1)] for law, every in INSTANCES.items()}


def cell_of(algorithm: str, law: str, instance: Any) -> RegretExperiment:
    return RegretExperiment(
        algorithm, params_of(algorithm, HORIZON, 1.0), law, instance, HORIZON, Grid.LOG, 7
    )


@pytest.mark.parametrize(("algorithm", "law"), on(*TABLES))
def test_the_curve_is_the_best_fixed_arm_in_hindsight_minus_what_was_earned(
    algorithm: str, law: str
) -> None:
    for instance in INSTANCES[law]:
        cell = cell_of(algorithm, law, instance)
        bandit = play_run(cell, 0)
        assert bandit.pulls.sum() == cell.horizon
        best = np.cumsum(bandit.law.gains, axis=0).max(axis=1)[cell.checkpoints() - 1]
        np.testing.assert_allclose(bandit.law.best[cell.checkpoints()], best, rtol=1e-12)
        left = best[-1] - bandit.law.earned[0]
        assert bandit.curve[-1] == pytest.approx(left, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("algorithm", "law"), on(*TABLES))
def test_both_modes_give_the_same_bits_on_a_table(algorithm: str, law: str) -> None:
    for instance in SOME[law]:
        cell = cell_of(algorithm, law, instance)
        batched, per_round = play_run(cell, 1), play_run(cell, 1, per_round=True)
        np.testing.assert_array_equal(batched.curve, per_round.curve)
        np.testing.assert_array_equal(batched.pulls, per_round.pulls)


@pytest.mark.parametrize("law", TABLES)
@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_algorithm_of_a_trial_meets_the_same_table(law: str, quick: bool) -> None:
    names = [name for name in ALGORITHMS if is_quick(name, law) or not quick]
    assert len(names) > 3
    for instance in INSTANCES[law]:
        bandits = [play_run(cell_of(name, law, instance), 2) for name in names]
        for bandit in bandits[1:]:
            np.testing.assert_array_equal(bandit.law.gains, bandits[0].law.gains)


@pytest.mark.parametrize(("algorithm", "law"), on(*TABLES))
def test_a_run_on_a_table_does_not_depend_on_the_runs_beside_it(algorithm: str, law: str) -> None:
    for instance in SOME[law]:
        cell = cell_of(algorithm, law, instance)
        together, _ = cell.play(range(4))
        alone, _ = cell.play(range(3, 4))
        np.testing.assert_array_equal(alone[0], together[3])
