"""Requirements that every stopping rule in the folder must meet."""

import inspect
import math
from typing import Any

import numpy as np
import pytest

from dpbandits.config import conf_files
from dpbandits.contract.conditions import p_value
from dpbandits.experiments.kinds import composed_budget, declared
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.kernel import parameters, registry
from dpbandits.privacy.notions import Notion
from dpbandits.privacy.releases import Laplace, SparseVector

RULES = registry.names("stopping")
PRIVATE = [rule for rule in RULES if hasattr(registry.algorithm(rule), "releases")]


def cell_of(
    rule: str, mean: float = 0.3, radius: float = 1.0, epsilon: float = 2.0, **accuracy: float
) -> StoppingExperiment:
    cls = registry.algorithm(rule).Params
    known = {"epsilon": epsilon, "alpha": 0.5, "beta": 0.05} | accuracy
    values = {name: value for name, value in known.items() if name in cls._fields}
    params: Any = parameters.build(cls, values, rule, lambda name: "tests")
    return StoppingExperiment(rule, params, Stream(mean, radius), 7)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_s_file_is_complete(rule: str) -> None:
    module = registry.algorithm(rule)
    assert module.__doc__
    assert module.LABEL
    assert module.Params.__doc__
    assert list(inspect.signature(module.play.py_func).parameters) == ["params", "samples", "rng"]
    assert conf_files.read_member("algorithm", rule)["rule"] == rule
    assert (rule in PRIVATE) == ("epsilon" in module.Params._fields) == hasattr(module, "guarantee")


@pytest.mark.parametrize("rule", RULES)
def test_a_run_does_not_depend_on_the_runs_beside_it(rule: str) -> None:
    cell = cell_of(rule)
    together, _ = cell.play(range(8))
    alone = [cell.play(range(run, run + 1))[0][0] for run in (7, 0, 3)]
    np.testing.assert_array_equal(alone, together[[7, 0, 3]])
    assert len(set(together[:, 1])) == 8


@pytest.mark.parametrize("mean", [1.0, 0.3, -0.3, 0.02])
@pytest.mark.parametrize("rule", RULES)
def test_an_estimate_is_wrong_as_rarely_as_was_asked(rule: str, mean: float) -> None:
    alpha, beta, runs = 0.4, 0.2, 500
    cell = cell_of(rule, mean=mean, alpha=alpha, beta=beta)
    samples, estimates = cell.play(range(runs))[0].T
    assert np.all(samples >= 1)
    assert np.all(samples == np.round(samples))
    failures = np.mean(np.abs(estimates - mean) >= alpha * abs(mean))
    assert failures <= beta + 3 * math.sqrt(beta * (1 - beta) / runs)


@pytest.mark.parametrize("rule", RULES)
def test_all_scales_with_the_radius(rule: str) -> None:
    # Samples, thresholds, and noise, which is scaled by the sensitivity 2R.
    small, large = (cell_of(rule, 0.3 * r, r).play(range(1000))[0] for r in (1.0, 8.0))
    assert p_value(small[:, 0], large[:, 0]) > 1e-4
    assert p_value(small[:, 1] * 8.0, large[:, 1]) > 1e-4


@pytest.mark.parametrize("rule", PRIVATE)
def test_every_sample_is_in_the_declared_estimate(rule: str) -> None:
    halting, estimate = declared(cell_of(rule, radius=3.0, epsilon=0.5), "releases")
    assert isinstance(halting, SparseVector)
    # Replacing a sample moves the sum by 2R = 6; each of the two releases has half of the budget.
    assert halting == SparseVector(0, 1, math.inf, 6.0, 3 * 6 / 0.25, 3 * 6 / 0.25)
    assert estimate == Laplace(0, 1, math.inf, sensitivity=6.0, scale=6 / 0.25)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 25.0])
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_promises_the_epsilon_that_it_was_given_and_to_which_its_releases_compose(
    rule: str, epsilon: float
) -> None:
    for radius in (1.0, 3.0):
        cell = cell_of(rule, radius=radius, epsilon=epsilon)
        spent, guarantee = composed_budget(cell), declared(cell, "guarantee")
        if rule not in PRIVATE:
            assert (spent, guarantee) == (None, None)
            continue
        assert guarantee is not None
        assert spent == pytest.approx(epsilon, rel=1e-12)
        assert guarantee.where.startswith("sajed2019, ")
        assert guarantee[:3] == (Notion.GLOBAL, epsilon, 0.0)
        assert not guarantee.differs
