"""EXP3, DP-EXP3-Lap and EXP3_tau (tossou2017): parameters, required properties, texts.

tests/contract/test_oracles_tossou2017.py compares them with their descriptions.
"""

import math
from typing import Any

import environments as described
import numpy as np
import pytest
import tossou2017 as oracle
from scipy import stats
from tossou2017 import corollary_3_2_epsilon

from dpbandits.algorithms import dp_exp3_lap, exp3, exp3_tau
from dpbandits.algorithms._exp3 import add_gain, draw_arm, exploration, no_estimates
from dpbandits.algorithms.exp3_tau import Calibration, batch_length
from dpbandits.core import registry
from dpbandits.core.bandit import new_bandit
from dpbandits.environments import adversaries, bernoulli
from dpbandits.environments._gain_table import SwitchFeedback
from dpbandits.environments.adversaries import Kind, Walk
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.tables.statistics import GROUPS, median_of_means
from dpbandits.theory import tossou2017

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
        estimates, gamma = no_estimates(4), 0.01
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


# Properties that take no time ---------------------------------------------------------------------


def final_regrets(
    algorithm: str,
    instance: adversaries.Params,
    runs: int,
    horizon: int,
    epsilon: float = 243.292,
    **readings: Any,
) -> np.ndarray:
    cls = registry.algorithm(algorithm).Params
    fields = {"horizon": horizon, "epsilon": epsilon, "delta": horizon**-2.0, **readings}
    params = cls(**{name: value for name, value in fields.items() if name in cls._fields})
    cell = RegretExperiment(algorithm, params, "adversaries", instance, horizon, Grid.END, 11)
    return cell.play(range(runs))[0][:, -1]


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


@pytest.mark.parametrize("algorithm", ["exp3", "dp-exp3-lap", "exp3-tau"])
def test_redrawing_the_means_in_every_round_changes_no_law(algorithm: str) -> None:
    # Panels (b) and (c) of the figure.
    stochastic, fully = (
        final_regrets(algorithm, adversaries.Params(kind), 300, 2**13)
        for kind in (Kind.STOCHASTIC, Kind.FULLY_OBLIVIOUS)
    )
    assert stats.ks_2samp(stochastic, fully).pvalue > 1e-4


def test_without_a_switching_cost_all_tie_on_the_walk() -> None:
    instance = adversaries.Params(Kind.SWITCHING, switch_feedback=SwitchFeedback.NONE)
    costly = adversaries.Params(Kind.SWITCHING)
    regrets = {a: final_regrets(a, instance, 60, 2**14) for a in ("exp3", "dp-exp3-lap")}
    regrets["exp3-tau"] = final_regrets("exp3-tau", instance, 60, 2**14)
    paid = final_regrets("exp3", costly, 60, 2**14)
    # The gap separates the arms; switches, where they cost, add a hundred times as much.
    gap = 4 ** (1 / 3) * 2 ** (-14 / 3) / (9 * 14)
    for one in regrets.values():
        assert np.all(np.abs(one) <= 2**14 * gap + 1e-9)
    assert paid.mean() > 20 * 2**14 * gap


def test_half_a_round_of_a_run_is_ignored() -> None:
    horizon, runs, epsilon = 150, 400, 3.0
    ignored = 0
    for run in range(runs):
        gains = described.stochastic(horizon, 4, generator(run))
        game = described.TableGame(gains, "none")
        ignored += oracle.play_dp_exp3_lap(game, generator(run + runs), epsilon)
    # The noisy gain lies beyond the near end of [-b, b+1] with probability 1/(2T) per round, and
    # beyond the far end with e^-epsilon times that.
    expected = runs * 0.5 * (1.0 + math.exp(-epsilon))
    assert abs(ignored - expected) < 4 * math.sqrt(expected)


def test_the_median_of_means_is_where_proposition_4_1_has_it() -> None:
    for kind in (Kind.DETERMINISTIC, Kind.STOCHASTIC):
        values = final_regrets("exp3", adversaries.Params(kind), 240, 2**13)
        distance = abs(float(median_of_means(values)) - values.mean())
        assert distance <= values.std() * math.sqrt(6 * GROUPS / values.size)


# The bounds ---------------------------------------------------------------------------------------


def test_corollary_3_1_holds_as_corrected_and_not_as_printed() -> None:
    printed, corrected = (
        bound(4, T, 243.292)
        for bound in (
            tossou2017.dp_exp3_lap_printed_upper_bound,
            tossou2017.dp_exp3_lap_upper_bound,
        )
    )
    assert (round(printed), round(corrected)) == (344, 3505)
    regrets = final_regrets("dp-exp3-lap", adversaries.Params(Kind.DETERMINISTIC), 10, T)
    assert 5.0 * printed < regrets.mean() < 0.65 * corrected
    assert regrets.std() < 0.2 * regrets.mean()


@pytest.mark.parametrize("kind", Kind)
def test_the_regret_is_below_the_bounds(kind: Kind) -> None:
    horizon, instance = 2**14, adversaries.Params(kind)
    tau = batch_length(exp3_tau.Params(horizon, 1.0, 0.01), 4)
    bounds = {
        "exp3": tossou2017.exp3_upper_bound(4, horizon),
        "dp-exp3-lap": tossou2017.dp_exp3_lap_upper_bound(4, horizon, 243.292),
        "exp3-tau": tossou2017.exp3_tau_upper_bound(4, horizon, tau, 1),
    }
    for algorithm, bound in bounds.items():
        if kind is Kind.SWITCHING and algorithm != "exp3-tau":
            continue  # no bound against an adversary with a memory
        assert final_regrets(algorithm, instance, 48, horizon).mean() < bound


# User-visible texts -------------------------------------------------------------------------------


def test_a_cell_is_called_by_its_adversary() -> None:
    instance = adversaries.Params(Kind.FULLY_OBLIVIOUS)
    cell = RegretExperiment("exp3", exp3.Params(T), "adversaries", instance, T, Grid.END, 1)
    assert cell.name == "exp3(horizon=262144) on fully-oblivious adversary K=4 T=262144"


def test_a_budget_that_is_no_privacy_is_told_to_the_reader() -> None:
    assert dp_exp3_lap.warning(dp_exp3_lap.Params(10.0, T), 4, T) is None
    warned = dp_exp3_lap.warning(dp_exp3_lap.Params(243.292, T), 4, T)
    assert warned == "a likelihood ratio of e^243 is no privacy"
