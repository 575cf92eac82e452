"""Exact schemes that make the definition's choices, given the same noise."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from cells import ALGORITHMS, OTHER_DRAWS, SAMPLERS, instance_of, readings_of

from dpbandits.algorithms import klucb, ucb
from dpbandits.experiments import regret
from dpbandits.fast._noise import noise_ahead
from dpbandits.kernel import registry
from dpbandits.kernel.bandit import Bandit, new_bandit

LED = [name for name in ALGORITHMS if registry.scheme_source(name) and name not in SAMPLERS]
LED.remove("dp-ucb")  # changes its leader in every other round
C2 = (0.75, 0.625, 0.5, 0.375, 0.25)


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([*seed]))


def assert_same_pulls(algorithm: str, params: Any, law: str, means: tuple[float, ...]) -> None:
    horizon, ahead = 3000, algorithm in OTHER_DRAWS
    scheme = import_module(f"dpbandits.fast.{algorithm.replace('-', '_')}")
    definition, environment = registry.algorithm(algorithm), registry.environment(law)

    def bandit() -> Bandit:
        assert environment.law
        arms = environment.law(instance_of(law, means))
        return new_bandit(arms, len(means), horizon, np.arange(1, horizon + 1), generator(run))

    for run in range(2):
        led, chosen = bandit(), bandit()
        scheme.play(params, led, generator(run, 1))
        rng: Any = generator(run, 1)
        definition.play(params, chosen, noise_ahead(rng, 1, 0.0) if ahead else rng)
        np.testing.assert_array_equal(led.curve, chosen.curve)
        np.testing.assert_array_equal(led.pulls, chosen.pulls)


@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
@pytest.mark.parametrize("means", [(0.6, 0.55, 0.5), (0.5, 0.5), (1.0, 0.98, 0.0), C2, (0.3,)])
@pytest.mark.parametrize("algorithm", LED)
def test_a_leader_is_kept_just_as_long_as_it_leads(
    algorithm: str, means: tuple[float, ...], epsilon: float
) -> None:
    # With little noise and few arms, a line or a bonus that is a little off changes the pulls.
    assert LED == ["dp-ucb-bound", "dp-ucb-int", "klucb", "private-ucb", "ucb"]
    for params in readings_of(algorithm, 3000, epsilon):
        if regret.scheme(algorithm, params) is None:
            continue
        assert_same_pulls(algorithm, params, "bernoulli", means)
        if epsilon == 1.0 and means == (0.6, 0.55, 0.5):
            assert_same_pulls(algorithm, params, "beta", means)


@pytest.mark.parametrize("alpha", [0.3, 3.1, 9.0])
@pytest.mark.parametrize(("algorithm", "params"), [("ucb", ucb.Params), ("klucb", klucb.Params)])
def test_a_leader_is_kept_as_long_as_it_leads_with_another_alpha(
    algorithm: str, params: Any, alpha: float
) -> None:
    for means in ((0.6, 0.55, 0.5), (1.0, 0.98, 0.0), C2):
        assert_same_pulls(algorithm, params(alpha), "bernoulli", means)


@pytest.mark.parametrize("means", [(0.6, 0.5), (0.5,) * 4, (0.3,)], ids=str)
def test_counters_with_one_clock_release_what_single_counters_do(means: tuple[float, ...]) -> None:
    # The number of arms divides that of the draws, so that none is left out.
    for epsilon in (1.0, 50.0):
        for params in readings_of("dp-ucb", 3000, epsilon):
            assert_same_pulls("dp-ucb", params, "bernoulli", means)
