"""Many runs in one call: states of NumPy's streams, and the bits of single runs."""

import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.algorithms import adap_ucb, dp_se, gdp_elim_new, ucb
from dpbandits.cells import play_bandit, play_stopping_rule
from dpbandits.cells.bandit_cell import Cell, Grid, StoppingCell, Stream
from dpbandits.cells.play_bandit import Game, play_run, simulate
from dpbandits.core import many_runs, registry, stream_states
from dpbandits.core.kernel import around
from dpbandits.core.randomness import Role, stream
from dpbandits.core.stream_states import memory, pcg64_states
from dpbandits.environments import bernoulli

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)

COINS = bernoulli.Params((0.7, 0.5, 0.4))
PLAYED: list[tuple[str, Any, Any]] = [
    ("adap-ucb", adap_ucb.Params(1.0), COINS),
    ("dp-se", dp_se.Params(5.0, horizon=20_000), bernoulli.Params((0.6, 0.46))),
    ("gdp-elim-new", gdp_elim_new.Params(1.0, 0.01, 20_000), bernoulli.Params((0.75, 0.5))),
    ("ucb", ucb.Params(), COINS),
]


def cell_of(algorithm: str, params: Any, instance: Any, pulls_of: int | None = None) -> Cell:
    horizon = getattr(params, "horizon", 5000)
    return Cell(algorithm, params, "bernoulli", instance, horizon, Grid.LOG, 5, pulls_of)


@pytest.fixture
def in_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_bandit, "MANY", 0)


# States ---------------------------------------------------------------------------------------


@FIXED
@given(
    st.sampled_from([0, 1, 2022, 2**32 - 1, 2**32, 2**64 + 3, 2**127, 2**200 + 7])
    | st.integers(0, 2**160),
    st.sampled_from(Role),
    st.integers(0, 2**32 - 5),
    st.text(max_size=5),
)
def test_the_states_are_those_of_numpy(root: int, role: Role, first: int, name: str) -> None:
    runs = range(first, first + 4)
    for run, state in zip(runs, pcg64_states(root, role, runs, name), strict=True):
        numpys = memory(stream(root, role, run, name))
        assert numpys is not None
        np.testing.assert_array_equal(state, numpys.state)


def test_a_generator_whose_memory_is_set_draws_the_numbers_of_the_stream() -> None:
    rng = stream(1, Role.POLICY, 0, "name")
    rng.integers(9, dtype=np.uint32)  # keeps half of a word
    inside = memory(rng)
    assert inside is not None
    inside.state[:] = pcg64_states(1, Role.POLICY, range(7, 8), "name")[0]
    inside.kept[0] = 0
    expected = stream(1, Role.POLICY, 7, "name")
    for draw in (np.random.Generator.random, np.random.Generator.normal):
        assert draw(rng) == draw(expected)
    assert [rng.integers(9, dtype=np.uint32) for _ in range(3)] == [
        expected.integers(9, dtype=np.uint32) for _ in range(3)
    ]


# Runs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "params", "instance"), PLAYED)
def test_many_runs_have_the_bits_of_single_runs(
    algorithm: str, params: Any, instance: Any, in_kernels: None
) -> None:
    cell = cell_of(algorithm, params, instance)
    curves, _ = simulate(cell, range(4, 30))
    np.testing.assert_array_equal(curves, [play_run(cell, run).curve for run in range(4, 30)])
    assert np.unique(curves[:, -1]).size > 1


def test_pulls_of_an_arm_are_recorded_too(in_kernels: None) -> None:
    cell = cell_of("adap-ucb", adap_ucb.Params(1.0), COINS, pulls_of=0)
    curves, _ = simulate(cell, range(9))
    assert [curve[-1] for curve in curves] == [play_run(cell, run).pulls[0] for run in range(9)]


def test_the_loop_is_compiled_after_many_quick_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_bandit, "MANY", 40)
    monkeypatch.setattr(play_bandit, "_played", Counter[str]())
    called = list[bool]()

    def play_many(*arguments: Any) -> Any:
        called.append(arguments[-1])
        return many_runs.play_many(*arguments)

    monkeypatch.setattr(play_bandit, "play_many", play_many)
    cell = cell_of(*PLAYED[0])
    play_run(cell, 0)  # compiled beforehand
    for first in (0, 30, 60):
        simulate(cell, range(first, first + 30))
    assert called == [False] * 4 + [False, True]
    called.clear()
    monkeypatch.setattr(play_bandit, "_played", Counter[str]())
    monkeypatch.setattr(play_bandit, "QUICK", 0.0)
    for first in (0, 30, 60):
        simulate(cell, range(first, first + 30))
    assert called == [False] * 6


def test_memory_of_another_layout_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of(*PLAYED[0])
    before, _ = simulate(cell, range(3))
    monkeypatch.setattr(stream_states, "MASK", 2**60 - 1)
    assert memory(stream(1, Role.POLICY, 0, "name")) is None
    monkeypatch.setattr(play_bandit, "play_many", None)
    np.testing.assert_array_equal(simulate(cell, range(3))[0], before)


@pytest.mark.parametrize("rule", ["nas", "dp-nas", "dp-exponential-nas"])
def test_many_runs_of_a_stopping_rule_have_the_bits_of_single_runs(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = registry.stopping_rule(rule)
    params = plugin.Params(0.5, 0.05) if rule == "nas" else plugin.Params(0.3, 0.5, 0.05)
    cell = StoppingCell(rule, params, Stream(0.4, 2.0), 11)
    together, _ = play_stopping_rule.simulate(cell, range(5, 45))
    assert len(np.unique(together[:, 1])) > 20  # runs differ
    monkeypatch.setattr(stream_states, "MASK", 2**60 - 1)
    monkeypatch.setattr(play_stopping_rule, "halt_many", None)
    singly, _ = play_stopping_rule.simulate(cell, range(5, 45))  # by named streams, one by one
    np.testing.assert_array_equal(together, singly)


@pytest.mark.parametrize("many", [0, 1000])
def test_a_policy_that_stops_early_is_an_error(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(params: Any, bandit: Any, rng: Any) -> None:
        bandit.clock[0] = 5

    monkeypatch.setattr(play_bandit, "MANY", many)
    game = Game(cell_of(*PLAYED[0]))
    game.policy = play
    monkeypatch.setattr(many_runs, "kernel_around", around)
    with pytest.raises(RuntimeError, match="adap-ucb played 5 rounds of 5000"):
        game.curves(range(3))


def test_the_seconds_are_those_of_the_runs() -> None:
    cell = cell_of(*PLAYED[0])
    start = time.perf_counter()
    _, seconds = simulate(cell, range(20))
    assert seconds.shape == (20,)
    assert 0.0 < seconds.sum() <= time.perf_counter() - start
