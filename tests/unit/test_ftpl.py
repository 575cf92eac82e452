"""Constants of wang2024's algorithms; test_oracles_wang2024.py compares whole runs."""

import math
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new, gdp_elim_new
from dpbandits.environments import bernoulli
from dpbandits.kernel import parameters
from dpbandits.kernel.bandit import Bandit, new_bandit
from dpbandits.kernel.errors import UserError
from dpbandits.mechanisms.perturbation import perturbation
from dpbandits.theory.wang2024 import gauss_start_regret

INSTANCE_1 = tuple(0.3 + 0.05 * i for i in range(9))


def a_bandit(means: tuple[float, ...], *checkpoints: int) -> Bandit:
    rng = np.random.Generator(np.random.PCG64([1, 0]))
    law = bernoulli.law(bernoulli.Params(means))
    return new_bandit(law, len(means), checkpoints[-1], np.array(checkpoints), rng, True)


def generator() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([2, 0]))


@pytest.mark.parametrize("module", [dp_ftpl_gauss, dp_ftpl_beta], ids=["gauss", "beta"])
def test_the_start_plays_arm_by_arm_up_to_the_horizon(module: Any) -> None:
    for delta in (0.001, 1e-200):
        bandit = a_bandit((0.5, 0.5, 0.5), 100)
        module.play(module.Params(0.0, delta), bandit, generator())
        assert bandit.pulls.tolist() == [100, 0, 0]
        assert not list(module.releases(module.Params(0.0, delta), 3, 100))


def test_the_phases_of_gdp_elim_new_on_instance_1() -> None:
    params = gdp_elim_new.Params(1.0, 0.0, 10**6)
    law = perturbation(1.0, 0.0)
    needed = [gdp_elim_new.passes_of_phase(params, law, 2.0**-k) for k in range(1, 5)]
    assert [math.ceil(n) for n in needed] == [1769, 7074, 28295, 113177]
    bandit = a_bandit(INSTANCE_1, 10**6)._replace(per_round=False)
    gdp_elim_new.play(params, bandit, generator())
    # It never finishes exploring: it passes over the arms until the end.
    assert bandit.pulls.tolist() == [111112] + [111111] * 8


# Rejected values -------------------------------------------------------------------------------

MODULES = [dp_ftpl_gauss, dp_ftpl_beta, dp_ftpl_new, gdp_elim_new]


def refusal(module: Any, **values: float) -> str:
    known = {"epsilon": 1.0, "delta": 0.01, "horizon": 100} | values
    fields = {name: known[name] for name in module.Params._fields if name in known}
    with pytest.raises(UserError) as caught:
        parameters.build(module.Params, fields, "here", str)
    return str(caught.value)


@pytest.mark.parametrize("module", MODULES)
def test_what_no_noise_gives_is_refused(module: Any) -> None:
    start = module in (dp_ftpl_gauss, dp_ftpl_beta)  # which never ends for delta = 0
    least = "delta must be in (0, 1]" if start else "delta must be in [0, 1]"
    both_zero = refusal(module, epsilon=0, delta=0)
    assert (least if start else "must not both be 0") in both_zero
    assert "epsilon must be" in refusal(module, epsilon=-0.1)
    assert f"{least}, got 1.5" in refusal(module, delta=1.5)


@pytest.mark.parametrize("module", MODULES[2:])
def test_one_part_of_the_budget_may_be_0(module: Any) -> None:
    for epsilon, delta in ((0, 0.01), (1, 0)):
        values = {"epsilon": epsilon, "delta": delta, "horizon": 100}
        assert parameters.build(module.Params, values, "here", str)[:2] == (epsilon, delta)


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("horizon", [100, 2000])
def test_dp_ftpl_gauss_begins_with_the_regret_of_its_start(delta: float, horizon: int) -> None:
    params = dp_ftpl_gauss.Params(0.0, delta)
    rounds = min(9 * math.ceil(max(1.0, dp_ftpl_gauss.start(params))), horizon)
    bandit = a_bandit(INSTANCE_1, rounds, horizon)
    dp_ftpl_gauss.play(params, bandit, generator())
    expected = gauss_start_regret(INSTANCE_1, horizon, 0.0, delta)
    assert bandit.curve[0] == pytest.approx(expected)
