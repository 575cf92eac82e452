"""Sixteen runs in step: the bits of single runs, their law, and tables that are drawn once."""

import itertools
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cells import ALGORITHMS, params_of, readings_of

from dpbandits.algorithms import exp3_tau
from dpbandits.algorithms._exp3 import STEP, exploration
from dpbandits.cells import play_bandit, shared_tables
from dpbandits.cells.bandit_cell import Cell, Grid, Regret
from dpbandits.cells.kinds import AnyCell
from dpbandits.cells.play_bandit import Game, play_run, simulate
from dpbandits.contract.playing import p_value
from dpbandits.core import registry
from dpbandits.core.lane_ir import in_lanes
from dpbandits.environments import adversaries, bernoulli
from dpbandits.environments._gain_table import SwitchFeedback, gain_table
from dpbandits.environments.adversaries import Kind
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store

IN_LANES = [name for name in ALGORITHMS if hasattr(registry.algorithm(name), "IN_LANES")]
INSTANCES = [
    *(adversaries.Params(kind) for kind in Kind if kind is not Kind.SWITCHING),
    *(adversaries.Params(Kind.SWITCHING, 3, feedback) for feedback in SwitchFeedback),
]
RUNS = range(9, 36)  # of three blocks, the first and the last of which are incomplete


def cell_of(algorithm: str, instance: Any, horizon: int = 2000, seed: int = 3) -> Cell:
    params = params_of(algorithm, horizon)
    return Cell(algorithm, params, "adversaries", instance, horizon, Grid.LOG, seed)


def single_runs(cell: Cell, runs: range) -> np.ndarray:
    return np.array([play_run(cell, run).curve for run in runs])


def test_the_family_of_exp3_and_dp_ucb_are_played_in_step() -> None:
    assert in_lanes()
    assert {*IN_LANES} == {"dp-exp3-lap", "dp-ucb", "exp3", "exp3-tau", "uniform"}
    cell = cell_of("exp3", INSTANCES[0])
    assert cell.in_lanes
    assert not replace(cell, pulls_of=1).in_lanes
    assert not cell_of("ucb", INSTANCES[0]).in_lanes


# The bits of single runs --------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", IN_LANES)
def test_runs_in_step_have_the_bits_of_single_runs(algorithm: str) -> None:
    for instance in INSTANCES:
        cell = cell_of(algorithm, instance)
        in_step, _ = simulate(cell, RUNS)
        np.testing.assert_array_equal(in_step, single_runs(cell, RUNS))
        assert np.unique(in_step[:, -1]).size > 1


@pytest.mark.parametrize("algorithm", ["dp-exp3-lap", "exp3"])
def test_weights_that_are_scaled_anew_leave_the_bits_equal(algorithm: str) -> None:
    horizon = 60_000
    cell = cell_of(algorithm, adversaries.Params(Kind.STOCHASTIC, 2), horizon)
    best = Game(cell).play(0).law.best[-1]
    assert exploration(2, horizon) / 2 * best > 1.5 * STEP  # about v of the best arm
    np.testing.assert_array_equal(simulate(cell, range(3, 20))[0], single_runs(cell, range(3, 20)))


@pytest.mark.parametrize("algorithm", IN_LANES)
def test_tables_too_large_for_memory_and_kernels_without_vectors_leave_the_bits_equal(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = cell_of(algorithm, INSTANCES[1])
    in_step, _ = simulate(cell, RUNS)
    shared_tables.forget()
    with monkeypatch.context() as small:
        small.setattr(shared_tables, "MOST_BYTES", 16 * 8)
        np.testing.assert_array_equal(simulate(cell, RUNS)[0], in_step)
    shared_tables.forget()
    monkeypatch.setattr(play_bandit, "in_lanes", lambda: False)
    monkeypatch.setattr(Game, "_play_in_lanes", None)
    np.testing.assert_array_equal(simulate(cell, RUNS)[0], in_step)


def test_one_game_is_played_in_every_way_in_turn() -> None:
    cell = cell_of("exp3", INSTANCES[1])
    game = Game(cell)
    single = game.play(3).curve
    per_round = game.play(3, per_round=True).curve
    for _ in range(2):
        np.testing.assert_array_equal(game.curves(range(3, 5))[0], single)
        np.testing.assert_array_equal(game.play(3).curve, single)
        np.testing.assert_array_equal(game.play(3, per_round=True).curve, per_round)


def test_a_policy_that_stops_early_in_step_is_an_error() -> None:
    game = Game(cell_of("exp3", INSTANCES[0]))
    game.policy = lambda params, bandit, streams: None
    with pytest.raises(RuntimeError, match="exp3 played 0 rounds of 2000"):
        game.curves(range(3))


# On arms with means ------------------------------------------------------------------------------

ON_ARMS = [name for name in IN_LANES if registry.algorithm(name).IN_LANES == "everywhere"]
MEANS = [(0.5, 0.6), (0.9, 0.1, 0.4, 0.4), (1.0, 0.0, 0.3)]


def on_arms(algorithm: str, means: tuple[float, ...], horizon: int = 2000, seed: int = 3) -> Cell:
    params, arms = params_of(algorithm, horizon), bernoulli.Params(means)
    return Cell(algorithm, params, "bernoulli", arms, horizon, Grid.LOG, seed)


def test_policies_that_decide_every_round_are_played_in_step_on_coins() -> None:
    assert {*ON_ARMS} == {"dp-exp3-lap", "dp-ucb", "exp3", "uniform"}
    cell = on_arms("exp3", MEANS[0])
    assert cell.in_lanes
    assert not replace(cell, pulls_of=1).in_lanes
    assert not replace(cell, regret=Regret.REALISED).in_lanes
    assert not replace(cell, environment="beta").in_lanes
    assert not on_arms("exp3-tau", MEANS[0]).in_lanes


@pytest.mark.parametrize("algorithm", ON_ARMS)
def test_runs_in_step_on_coins_have_the_bits_of_single_runs(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for means, params in itertools.product(MEANS, readings_of(algorithm, 2000, 1.0)):
        cell = replace(on_arms(algorithm, means), params=params)
        in_step, _ = simulate(cell, RUNS)
        np.testing.assert_array_equal(in_step, single_runs(cell, RUNS))
        assert np.unique(in_step[:, -1]).size > 1
    monkeypatch.setattr(play_bandit, "in_lanes", lambda: False)
    monkeypatch.setattr(Game, "_play_in_lanes", None)
    np.testing.assert_array_equal(simulate(cell, RUNS)[0], in_step)


@pytest.mark.parametrize("algorithm", ON_ARMS)
def test_a_run_whose_pulls_or_rewards_are_recorded_is_that_of_the_regret(algorithm: str) -> None:
    cell = on_arms(algorithm, MEANS[1])
    for run in (0, 20):
        plain = play_run(cell, run)
        rewards = play_run(replace(cell, regret=Regret.REALISED), run)
        np.testing.assert_array_equal(rewards.pulls, plain.pulls)
        for arm in range(len(MEANS[1])):
            ((*_, counted),) = simulate(replace(cell, pulls_of=arm), range(run, run + 1))[0]
            assert counted == plain.pulls[arm]


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ON_ARMS)
def test_runs_in_step_on_coins_have_the_law_of_rounds_of_numpy(algorithm: str) -> None:
    for params in readings_of(algorithm, 2000, 1.0):
        cell = replace(on_arms(algorithm, MEANS[1]), params=params)
        lanes, plain = (
            outcomes_of(replace(cell, seed=seed), mode) for seed, mode in ((1, False), (2, True))
        )
        for column in range(lanes.shape[1]):
            assert p_value(lanes[:, column], plain[:, column]) > LIMIT


# Their law ----------------------------------------------------------------------------------------

TAU = exp3_tau.Params(2000, 30.0, 1e-3, exp3_tau.Calibration.BUDGET)
GAMES: dict[str, tuple[str, Any, Any]] = {
    "exp3, deterministic": ("exp3", {}, INSTANCES[0]),
    "exp3, switches seen": ("exp3", {}, INSTANCES[4]),
    "dp-exp3-lap, oblivious": ("dp-exp3-lap", {}, INSTANCES[3]),
    "dp-exp3-lap, little noise": ("dp-exp3-lap", {"epsilon": 8.0}, INSTANCES[0]),
    "dp-exp3-lap, switches cost 1": ("dp-exp3-lap", {"epsilon": 8.0}, INSTANCES[6]),
    "exp3-tau, regret": ("exp3-tau", {}, INSTANCES[0]),
    "exp3-tau, budget": ("exp3-tau", TAU._asdict(), INSTANCES[1]),
    "uniform, stochastic": ("uniform", {}, INSTANCES[1]),
}
MANY = 2000
# 66 comparisons: a false alarm has probability 0.007 in all. With 2,000 runs each, a shift of the
# mean by a fifth of the standard deviation has a p-value near 1e-9.
LIMIT = 1e-4


def outcomes(game: str, seed: int, per_round: bool) -> np.ndarray:
    """Return the regret at two rounds, the last one included, and the pulls of each arm."""
    algorithm, values, instance = GAMES[game]
    cell = cell_of(algorithm, instance, seed=seed)
    return outcomes_of(replace(cell, params=cell.params._replace(**values)), per_round)


def outcomes_of(cell: Cell, per_round: bool) -> np.ndarray:
    """Return the regret at two rounds, the last one included, and the pulls of each arm."""
    game = Game(cell)
    bandits = [game.play(run, per_round) for run in range(MANY)]
    return np.array([[*bandit.curve[[-20, -1]], *bandit.pulls] for bandit in bandits])


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_streams_of_lanes_and_of_numpy_play_the_same_law(game: str) -> None:
    lanes, plain = outcomes(game, 1, per_round=False), outcomes(game, 2, per_round=True)
    for column in range(lanes.shape[1]):
        assert p_value(lanes[:, column], plain[:, column]) > LIMIT


# Tables that are drawn once -----------------------------------------------------------------------


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """Count the tables that are drawn, by the first word of their streams."""
    counted = Counter[int]()
    drawn: Callable[..., Any] = adversaries.table

    def table(params: Any, horizon: int, rng: np.random.Generator) -> Any:
        counted[rng.bit_generator.state["state"]["state"]] += 1
        return drawn(params, horizon, rng)

    monkeypatch.setattr(adversaries, "table", table)
    shared_tables.forget()
    return counted


def test_all_algorithms_of_a_command_share_tables_that_are_drawn_once(
    draws: Counter[int], tmp_path: Path
) -> None:
    cells: dict[AnyCell, int] = {cell_of(name, INSTANCES[1]): 40 for name in IN_LANES}
    store = Store(tmp_path)
    assert not runner.play(plan(cells, store, 5), store, 2, "test")
    assert sorted(draws.values()) == [1] * 40
    assert not shared_tables._kept, "a command frees the tables at its end"


def test_tables_without_randomness_are_kept_once_for_all_runs(draws: Counter[int]) -> None:
    shared = shared_tables.tables(cell_of("exp3", INSTANCES[0]), range(16))
    assert (shared.gains.shape[0], draws.total()) == (1, 1)
    assert shared.gains.dtype == np.float64


@pytest.mark.parametrize("gains", [(0.5, 0.25, 0.75), (0.0, 1.0, 0.0)])
def test_a_constant_table_may_have_any_layout_in_memory(
    gains: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    curves = []
    for layout in (np.array, np.asarray, np.asfortranarray):
        rows = np.broadcast_to(gains, (2000, 3))
        played = gain_table(layout(rows), SwitchFeedback.NONE)
        fresh = partial(_unplayed, played)
        monkeypatch.setattr(adversaries, "table", fresh)
        shared_tables.forget()
        cell = cell_of("exp3", adversaries.Params(Kind.DETERMINISTIC, 3))
        curves.append(simulate(cell, range(20))[0])
    np.testing.assert_array_equal(curves[0], curves[1])
    np.testing.assert_array_equal(curves[0], curves[2])


def _unplayed(table: Any, *_: Any) -> Any:
    return table._replace(earned=np.zeros(1), previous=np.full(1, -1))


def test_threads_that_need_the_same_constant_table_draw_it_once(
    draws: Counter[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: Callable[..., Any] = adversaries.table

    def table(params: Any, horizon: int, rng: np.random.Generator) -> Any:
        time.sleep(0.1)  # the other thread comes now
        return drawn(params, horizon, rng)

    monkeypatch.setattr(adversaries, "table", table)
    cell = cell_of("exp3", INSTANCES[0])
    with ThreadPoolExecutor(2) as threads:
        shared = [*threads.map(partial(shared_tables.tables, cell), (range(2), range(2, 4)))]
    assert draws.total() == 1
    assert shared[0] is shared[1]


@pytest.mark.parametrize("row", [0, 40_000, -1])
def test_one_other_gain_makes_a_table_one_of_floats(row: int) -> None:
    gains = np.ones((50_001, 2))
    assert shared_tables._are_coins(gains)
    gains[row, 1] = 0.5
    assert not shared_tables._are_coins(gains)


def test_gains_of_0_and_1_take_a_byte_until_another_gain_comes() -> None:
    cell = cell_of("exp3", INSTANCES[1])
    shared = shared_tables.Tables(cell)
    shared.draw(range(2))
    assert shared.gains.dtype == np.uint8
    before = shared.gains[:2].copy()
    shared.cell = cell_of("exp3", adversaries.Params(Kind.SWITCHING))
    shared.draw(range(2, 3))
    assert shared.gains.dtype == np.float64
    np.testing.assert_array_equal(shared.gains[:2], before)
    assert np.unique(shared.gains[2]).size > 100


def test_tables_too_large_are_tried_once_and_nothing_is_kept_beside_them(
    monkeypatch: pytest.MonkeyPatch, draws: Counter[int]
) -> None:
    cell = cell_of("exp3", INSTANCES[1])
    shared_tables.tables(cell_of("exp3", INSTANCES[0]), range(16))
    with monkeypatch.context() as small:
        small.setattr(shared_tables, "MOST_BYTES", 16 * 8)
        for _ in range(2):
            with pytest.raises(shared_tables.TooLarge):
                shared_tables.tables(cell, range(16))
    assert (draws.total(), len(shared_tables._kept)) == (2, 0)
    shared_tables.forget()
    shared_tables.tables(cell, range(16))
    assert draws.total() == 2 + 16


def test_the_latest_tables_are_kept(monkeypatch: pytest.MonkeyPatch, draws: Counter[int]) -> None:
    cell = cell_of("exp3", INSTANCES[1])
    of_block = 16 * 2000 * 4
    monkeypatch.setattr(shared_tables, "KEPT_BYTES", 2 * of_block)
    for first in (0, 16, 32, 16, 32):
        shared_tables.tables(cell, range(first, first + 2))
    assert [key[-1] for key in shared_tables._kept] == [1, 2]
    assert draws.total() == 6
    shared_tables.tables(cell, range(1))
    assert draws.total() == 7


def test_kept_tables_give_way_before_a_new_block_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of("exp3", adversaries.Params(Kind.SWITCHING))
    of_table = 2000 * 4 * 8
    monkeypatch.setattr(shared_tables, "KEPT_BYTES", 18 * of_table)
    kept: list[list[tuple[Any, int]]] = []  # blocks and their bytes, at every draw
    real = adversaries.table

    def table(*arguments: Any) -> Any:
        kept.append([(key[-1], block.nbytes) for key, block in shared_tables._kept.items()])
        return real(*arguments)

    monkeypatch.setattr(adversaries, "table", table)
    shared_tables.forget()
    first = shared_tables.tables(cell, range(2))
    before = first.gains.copy()
    shared_tables.tables(cell, range(16, 18))
    of_block = 16 * of_table
    assert kept == [[(0, 0)], [(0, of_block)], [(0, of_block), (1, 0)], [(1, of_block)]]
    np.testing.assert_array_equal(first.gains, before)  # a task that plays on it still holds it


def test_kept_tables_give_way_to_a_table_that_turns_out_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cell = cell_of("exp3", adversaries.Params(Kind.SWITCHING))
    of_table = 2000 * 4 * 8
    monkeypatch.setattr(shared_tables, "KEPT_BYTES", of_table)
    shared_tables.forget()
    shared_tables.tables(cell_of("exp3", INSTANCES[0]), range(16))
    (small,) = shared_tables._kept
    kept = []
    real = adversaries.table

    def table(*arguments: Any) -> Any:
        kept.append([key for key in shared_tables._kept if key == small])
        return real(*arguments)

    monkeypatch.setattr(adversaries, "table", table)
    monkeypatch.setattr(shared_tables, "MOST_BYTES", of_table)
    with pytest.raises(shared_tables.TooLarge):
        shared_tables.tables(cell, range(16))
    assert kept == [[]]
