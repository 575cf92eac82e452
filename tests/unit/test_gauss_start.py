"""Regret of the start phase of DP-FTPL-Gauss, and the point where its regimes meet."""

import math

import numpy as np
import pytest

from dpbandits.algorithms import dp_ftpl_gauss
from dpbandits.core.bandit import new_bandit
from dpbandits.environments import bernoulli
from dpbandits.theory.wang2024 import (
    gauss_start_deltas,
    gauss_start_epsilons,
    gauss_start_regret,
)
from dpbandits.theory.wang2024_privacy import gauss_start

INSTANCE_1 = [0.3 + 0.05 * i for i in range(9)]  # gaps with sum 1.8
T = 10**6


def test_the_start_costs_as_many_pulls_of_every_arm_up_to_the_horizon() -> None:
    assert gauss_start_regret(INSTANCE_1, T, 1.0, 0.01) == pytest.approx(1.8 * 8)
    assert gauss_start_regret(INSTANCE_1, T, 0.0, 0.001) == pytest.approx(1.8 * 79_578)
    # 318,310 pulls of each of three arms, and the remaining rounds on the fourth.
    filled = (0.4 + 0.35 + 0.3) * 318_310 + 0.25 * (T - 3 * 318_310)
    assert gauss_start_regret(INSTANCE_1, T, 0.0, 0.0005) == pytest.approx(filled)
    assert gauss_start_regret(INSTANCE_1, T, 0.0, 1e-9) == pytest.approx(0.4 * T)


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("horizon", [100, 2000])
def test_the_algorithm_starts_with_that_regret(delta: float, horizon: int) -> None:
    law = bernoulli.law(bernoulli.Params(tuple(INSTANCE_1)))
    rounds = min(9 * math.ceil(gauss_start(0.0, delta)), horizon)
    rng = np.random.default_rng(1)
    bandit = new_bandit(law, 9, horizon, np.array([rounds, horizon]), rng)
    dp_ftpl_gauss.play(dp_ftpl_gauss.Params(0.0, delta), bandit, rng)
    expected = gauss_start_regret(INSTANCE_1, horizon, 0.0, delta)
    assert bandit.curve[0] == pytest.approx(expected)


def slope(epsilon: float, delta: float) -> float:
    """Return the slope of log N_G* against log delta."""
    step = 1e-6
    change = math.log(gauss_start(epsilon, delta * (1 + step)) / gauss_start(epsilon, delta))
    return change / math.log1p(step)


def test_the_regimes_in_delta_meet_where_the_slope_changes() -> None:
    (meet,) = gauss_start_deltas(9, T, 0.1)
    assert meet == pytest.approx(0.0102, abs=5e-5)  # "the break near 0.01"
    assert slope(0.1, meet * 1.01) == pytest.approx(-2, abs=1e-4)
    assert -0.35 < slope(0.1, meet * 0.99) < -0.2
    (full,) = gauss_start_deltas(9, T, 0.0)
    assert 9 * gauss_start(0.0, full) == pytest.approx(T, rel=1e-9)
    assert gauss_start_deltas(9, T, 2.0) == ()


def test_the_regimes_in_epsilon_meet_where_the_start_is_constant_or_fills_the_horizon() -> None:
    (meet,) = gauss_start_epsilons(9, T, 0.001)
    assert gauss_start(meet * 0.99, 0.001) == gauss_start(0.0, 0.001)
    assert gauss_start(meet * 1.01, 0.001) < gauss_start(0.0, 0.001)
    meet, full = gauss_start_epsilons(9, T, 1e-10)
    assert meet < 1e-8
    assert 9 * gauss_start(full, 1e-10) == pytest.approx(T, rel=1e-9)
    assert gauss_start_epsilons(9, T, 0.3) == ()
