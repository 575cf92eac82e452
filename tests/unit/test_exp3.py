"""EXP3, DP-EXP3-Lap and EXP3_tau (tossou2017): parameters and required properties.

tests/contract/test_oracles_tossou2017.py compares them with their descriptions.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import tossou2017 as oracle

from dpbandits.algorithms import exp3, exp3_tau
from dpbandits.algorithms.exp3 import Estimates, add_gain, draw_arm
from dpbandits.algorithms.exp3_tau import Calibration, batch_length
from dpbandits.environments import adversaries
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


# No overflow --------------------------------------------------------------------------------------


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
