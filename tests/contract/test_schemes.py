"""Exact schemes that make the definition's choices, given the same noise."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from cells import ALGORITHMS, SAMPLERS, cell_of, instance_of, readings_of

from dpbandits.core import registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.kl import bernoulli_kl_upper
from dpbandits.experiments.regret import Game
from dpbandits.fast import _leader_runs
from dpbandits.fast._noise import noise_ahead
from dpbandits.fast.klucb import exceeds

LED = [name for name in ALGORITHMS if registry.scheme(name) and name not in SAMPLERS]
LED.remove("dp-ucb")  # changes its leader in every other round
C2 = (0.75, 0.625, 0.5, 0.375, 0.25)


def test_index_policies_in_which_only_the_pulled_arm_changes_are_led() -> None:
    assert LED == ["dp-ucb-bound", "klucb", "private-ucb", "ucb"]


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([*seed]))


def assert_same_pulls(algorithm: str, params: Any, law: str, means: tuple[float, ...]) -> None:
    horizon = 3000
    scheme = import_module(f"dpbandits.fast.{algorithm.replace('-', '_')}")
    definition, environment = registry.algorithm(algorithm), registry.environment(law)

    def bandit() -> Bandit:
        arms = environment.law(instance_of(law, means))
        return new_bandit(arms, len(means), horizon, np.arange(1, horizon + 1), generator(run))

    for run in range(2):
        led, chosen = bandit(), bandit()
        scheme.play(params, led, generator(run, 1))
        definition.play(params, chosen, noise_ahead(generator(run, 1), 1, 0.0))
        np.testing.assert_array_equal(led.curve, chosen.curve)
        np.testing.assert_array_equal(led.pulls, chosen.pulls)


@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
@pytest.mark.parametrize("means", [(0.6, 0.55, 0.5), (0.5, 0.5), (1.0, 0.98, 0.0), C2, (0.3,)])
@pytest.mark.parametrize("algorithm", LED)
def test_a_leader_is_kept_just_as_long_as_it_leads(
    algorithm: str, means: tuple[float, ...], epsilon: float
) -> None:
    # With little noise and few arms, a line or a bonus that is a little off changes the pulls.
    for params in readings_of(algorithm, 3000, epsilon):
        assert_same_pulls(algorithm, params, "bernoulli", means)


@pytest.mark.parametrize("algorithm", LED)
def test_a_leader_is_kept_as_long_with_rewards_in_between(algorithm: str) -> None:
    for params in readings_of(algorithm, 3000, 1.0):
        assert_same_pulls(algorithm, params, "beta", (0.6, 0.55, 0.5))


@pytest.mark.parametrize("means", [(0.6, 0.5), (0.5,) * 4, (0.3,)], ids=str)
def test_counters_with_one_clock_release_what_single_counters_do(means: tuple[float, ...]) -> None:
    # The number of arms divides that of the draws, so that none is left out.
    for epsilon in (1.0, 50.0):
        for params in readings_of("dp-ucb", 3000, epsilon):
            assert_same_pulls("dp-ucb", params, "bernoulli", means)


@pytest.mark.parametrize("algorithm", LED)
def test_a_run_of_the_leader_spares_most_choices(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In plain Python: how many choices 2,000 rounds take.
    cell, choices = cell_of(algorithm, "bernoulli", (0.8, 0.3), 2000, 100.0), 0

    def counted(t: int) -> int:
        nonlocal choices
        choices += 1
        return t + max(16, t >> 10)

    module = import_module(f"dpbandits.fast.{algorithm.replace('-', '_')}")
    home = module if algorithm == "klucb" else _leader_runs
    monkeypatch.setattr(home, "window_end", counted)
    game = Game(cell)
    game.policy = getattr(module.play, "py_func", module.play)
    game.play(0)
    assert 2000 / 17 < choices < 1000


def test_what_exceeds_an_index_has_a_larger_one() -> None:
    rng, found = np.random.default_rng(2), {True: 0, False: 0}
    for _ in range(5000):
        p, n, log_t = float(rng.random()), float(rng.integers(1, 3000)), float(rng.uniform(1, 15))
        index = bernoulli_kl_upper(p, log_t / n)
        q = float(min(1.0, index + rng.normal() * 0.01))
        answer = exceeds(p, n, q, log_t)
        found[answer] += 1
        assert answer == (index > q) or abs(index - q) < 1e-6
    assert min(found.values()) > 1000
