"""EXP3, DP-EXP3-Lap and EXP3_tau (tossou2017): parameters and required properties.

tests/contract/test_oracles_tossou2017.py compares them with their descriptions.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import tossou2017 as oracle
from tossou2017 import corollary_3_2_epsilon

from dpbandits.algorithms import dp_exp3_lap, exp3, exp3_tau
from dpbandits.algorithms.exp3 import Estimates, add_gain, draw_arm, exploration
from dpbandits.algorithms.exp3_tau import Calibration, batch_length
from dpbandits.environments import adversaries, bernoulli
from dpbandits.environments.adversaries import Kind, SwitchFeedback, Walk
from dpbandits.kernel.bandit import new_bandit

T = 2**18


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


TABLES = [
    *(adversaries.Params(kind) for kind in Kind if kind is not Kind.SWITCHING),
    *(adversaries.Params(Kind.SWITCHING, 3, feedback) for feedback in SwitchFeedback),
    adversaries.Params(Kind.SWITCHING, 4, walk=Walk.PLAIN),
]


# The parameters of the experiments ----------------------------------------------------------------


def test_the_parameters_are_those_of_the_experiments() -> None:
    budget = corollary_3_2_epsilon(4, T)
    assert budget == pytest.approx(243.292, abs=5e-4)
    assert math.log(T) / budget == pytest.approx(0.0512826, abs=5e-8)
    assert exploration(4, T) == pytest.approx(0.00350865, abs=5e-9)
    tau = batch_length(exp3_tau.Params(T, budget, float(T) ** -2), 4)
    assert (tau, *divmod(T, tau)) == (19, 13797, 1)
    assert exploration(4, 13797) == pytest.approx(0.01529390, abs=5e-9)


# No overflow --------------------------------------------------------------------------------------


def test_no_weight_overflows_over_ten_million_rounds_of_gains_of_one() -> None:
    law = bernoulli.law(bernoulli.Params((1.0, 1.0, 1.0, 1.0)))
    horizon = 10**7
    for module, params in (
        (exp3, exp3.Params(horizon)),
        (dp_exp3_lap, dp_exp3_lap.Params(1000.0, horizon)),
    ):
        bandit = new_bandit(law, 4, horizon, np.array([horizon]), generator(1))
        module.play(params, bandit, generator(2))
        # If a probability were nan, only the last arm would be pulled.
        assert bandit.pulls.min() > exploration(4, horizon) / 4 * horizon / 2
        assert bandit.pulls.sum() == horizon


def test_the_probabilities_are_those_of_the_definition_however_long_the_game_is() -> None:
    # The estimates of a game of any length, in steps of the largest possible size.
    rng = generator(5)
    for favourite in (None, 2):
        estimates, gamma = Estimates(np.zeros(4), np.ones(4), np.zeros(1)), 0.01
        v, weights, shift = estimates
        for _ in range(4000):
            arm = favourite if favourite is not None and rng.random() < 0.9 else rng.integers(4)
            add_gain(estimates, arm, rng.random())
            np.testing.assert_allclose(weights, np.exp(v - shift), rtol=1e-12)
        assert v.max() > 500.0
        assert np.all(np.isfinite(weights))
        literal = oracle.EXP3(4, 1, rng)
        literal.gamma, literal.estimates = gamma, (v * 4 / gamma).tolist()
        expected = literal.probabilities()
        draws = [draw_arm(estimates, gamma, rng) for _ in range(300)]
        for arm, p in draws:
            assert p == pytest.approx(expected[arm], rel=1e-9)
        # Rounding may leave the sum of all p below the largest uniform number.
        assert draw_arm(estimates, gamma, SimpleNamespace(random=lambda: 1.0 - 2.0**-53))[0] == 3


# Properties that take no time ---------------------------------------------------------------------


def test_with_batches_of_one_round_exp3_tau_is_exp3_to_the_bit() -> None:
    horizon = 3000
    params = exp3_tau.Params(horizon, 1e9, 0.01, Calibration.BUDGET)
    assert batch_length(params, 4) == 1
    for instance in TABLES:
        bandits = []
        for module, own in ((exp3, exp3.Params(horizon)), (exp3_tau, params)):
            law = adversaries.table(instance, horizon, generator(1))
            rounds = np.arange(1, horizon + 1)
            bandit = new_bandit(law, instance.arms, horizon, rounds, generator(0))
            module.play(own, bandit, generator(2))
            bandits.append(bandit)
        assert bandits[0].pulls.tolist() == bandits[1].pulls.tolist()
        np.testing.assert_array_equal(bandits[0].curve, bandits[1].curve)
