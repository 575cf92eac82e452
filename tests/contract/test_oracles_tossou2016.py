"""UCB, Private-UCB and the algorithms of tossou2016 against oracles written from the paper alone.

Both sides play whole games on the same streams: every arm, every noise with its scale and every
regret are compared. The oracles import nothing from dpbandits (tests/oracles/).
"""

import itertools
import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tossou2016 as oracle
import tossou2016_bounds as bounds
from played import Played, play_bandit
from shared_games import LAWS, same_run
from streams import Draws, Game, policy_stream, reward_stream

from dpbandits.algorithms import dp_ucb, dp_ucb_bound, dp_ucb_int, private_ucb, ucb
from dpbandits.algorithms.dp_ucb_bound import Counter, PowerOfTwo
from dpbandits.algorithms.dp_ucb_int import Noise, Schedule
from dpbandits.algorithms.private_ucb import Decay, Feed, Relaxation, Split
from dpbandits.environments import bernoulli
from dpbandits.kernel.bandit import new_bandit
from dpbandits.kernel.parameters import variant_name
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.theory import tossou2016 as theory

MEANS = [(0.5, 0.51, 0.49), (0.45, 0.6)]


def assert_alike(
    module: Any,
    params: Any,
    literal: Callable[[Game, Any], None],
    horizon: int,
    law: str = "beta",
) -> list[Played]:
    """Play both on a few instances and compare everything; return our games."""
    oracle = SimpleNamespace(play=literal)
    return [
        same_run(module, params, oracle, law, means, horizon, seed)
        for seed, means in enumerate(MEANS)
    ]


# The algorithms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_ucb_is_that_of_section_3(law: str) -> None:
    assert_alike(ucb, ucb.Params(), lambda game, _: oracle.play_ucb(game), 400, law)


@pytest.mark.parametrize("alpha", [0.7, 3.1])
def test_ucb_with_another_alpha_explores_as_the_literal_one_does(alpha: float) -> None:
    literal = partial(oracle.play_ucb, alpha=alpha)
    assert_alike(ucb, ucb.Params(alpha), lambda game, _: literal(game), 400, "bernoulli")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("counter", Counter)
def test_dp_ucb_bound_is_algorithm_1(counter: Counter, law: str) -> None:
    for epsilon, power in [(1.0, PowerOfTwo.ON), (40.0, PowerOfTwo.ON), (40.0, PowerOfTwo.OFF)]:
        params, on = dp_ucb_bound.Params(epsilon, counter, power), power is PowerOfTwo.ON
        variants: dict[str, Any] = {"variant": variant_name(counter), "power_of_two": on}
        literal = partial(oracle.play_dp_ucb_bound, epsilon=epsilon, **variants)
        games = assert_alike(dp_ucb_bound, params, literal, 300, law)
        # The trees of every arm have several levels.
        assert min(np.bincount(game.arms).min() for game in games) > 20


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("counter", Counter)
def test_dp_ucb_is_algorithm_2(counter: Counter, law: str) -> None:
    for epsilon in (0.5, 20.0):
        literal = partial(oracle.play_dp_ucb, epsilon=epsilon, variant=variant_name(counter))
        assert_alike(dp_ucb, dp_ucb.Params(epsilon, counter), literal, 150, law)


@pytest.mark.parametrize("relaxation", Relaxation)
@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("decay", Decay)
def test_private_ucb_is_that_of_its_authors(
    decay: Decay, split: Split, relaxation: Relaxation
) -> None:
    def failure(t: int) -> float:
        return {Decay.NONE: 0.1, Decay.HORIZON: 0.1 / 250, Decay.ROUND: 0.1 * t**-4.0}[decay]

    for epsilon in (2.0, 400.0):
        params = private_ucb.Params(epsilon, 250, 0.1, decay, split, relaxation)
        variants: dict[str, Any] = {
            "split": variant_name(split),
            "relaxation": variant_name(relaxation),
        }
        literal = partial(oracle.play_private_ucb, epsilon=epsilon, failure=failure, **variants)
        assert_alike(private_ucb, params, literal, 250)


def test_private_ucb_with_trees_fed_in_every_round_is_the_literal_one() -> None:
    for epsilon, split in itertools.product((2.0, 400.0), Split):
        params = private_ucb.Params(epsilon, 250, split=split, feed=Feed.EVERY_ROUND)
        variants: dict[str, Any] = {"split": variant_name(split), "fed": True}
        literal = partial(
            oracle.play_private_ucb, epsilon=epsilon, failure=lambda t: 0.1, **variants
        )
        assert_alike(private_ucb, params, literal, 250)


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("schedule", Schedule)
def test_dp_ucb_int_is_algorithm_3(schedule: Schedule, noise: Noise) -> None:
    for (epsilon, delta), v in itertools.product([(1.0, 0.1), (6.0, 0.01)], (1.1, 1.4)):
        params = dp_ucb_int.Params(epsilon, delta, v, schedule, noise)
        variants: dict[str, Any] = {
            "schedule": variant_name(schedule),
            "noise": variant_name(noise),
        }
        literal = partial(oracle.play_dp_ucb_int, target=(epsilon, delta), v=v, **variants)
        games = assert_alike(dp_ucb_int, params, literal, 350, "bernoulli")
        if epsilon > 1.0:
            # Some arm is past several releases.
            assert max(len(game.draws) for game in games) >= 8


@pytest.mark.parametrize("horizon", [1, 2, 3, 28, 29, 30, 57, 58, 59, 86, 87, 88, 89, 120])
def test_it_is_so_around_the_end_of_the_round_robin(horizon: int) -> None:
    # `series` releases first after 29 pulls, with three arms after 87 rounds.
    literal = partial(oracle.play_dp_ucb_int, target=(1.0, 0.01), v=1.1)
    assert_alike(dp_ucb_int, dp_ucb_int.Params(1.0, 0.01), literal, horizon, "bernoulli")


def test_the_recorded_pulls_of_an_arm_are_those_of_the_same_game() -> None:
    law = bernoulli.law(bernoulli.Params(MEANS[0]))
    for arm in range(3):
        bandit = new_bandit(law, 3, 200, np.arange(1, 201), reward_stream(4), True, pulls_of=arm)
        game = play_bandit(ucb.play, ucb.Params(), bandit, Draws(policy_stream(4)))
        assert game.regrets.tolist() == [game.arms[:t].count(arm) for t in range(1, 201)]


# Releases of DP-UCB-INT ---------------------------------------------------------------------------


# epsilon, delta, and how many rewards have their releases compared.
E10 = math.exp(-10)
TARGETS = [
    *((1.0, 0.01, 20_000), (1.0, E10, 20_000), (0.7, 0.3, 700), (0.5, 1.0, 700)),
    *((0.1, 0.01, 200_000), (0.1, E10, 200_000), (3.0, E10, 10_000), (30.0, E10, 3000)),
    (500.0, 0.1, 3000),
]


@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("v", [1.01, 1.05, 1.1, 1.5])
def test_release_counts_and_budget_are_those_of_lemma_b_1_and_theorem_3_4(
    v: float, schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    for epsilon, delta, most in TARGETS:
        params = dp_ucb_int.Params(epsilon, delta, v, schedule)
        own = oracle.corollary_3_2(epsilon, delta, v)
        assert dp_ucb_int.input_epsilon(params) == pytest.approx(own, rel=1e-9)
        released = oracle.release_counts(variant_name(schedule), own, v)
        counts = list(itertools.takewhile(most.__ge__, released))
        monkeypatch.setattr(dp_ucb_int, "LISTED", most)
        declared = list(dp_ucb_int.releases(params, 1, most))
        assert [int(release.last) for release in declared] == counts
        for release, n in zip(declared, counts, strict=True):
            assert release.scale == pytest.approx(1 / n ** (1 - v / 2), rel=1e-12)
            assert release.sensitivity == pytest.approx(1 / n, rel=1e-12)
        if delta < 1.0:
            spent = composed_epsilon(declared, delta)
            assert spent == pytest.approx(oracle.theorem_3_4(counts, v, delta), rel=1e-12)


# Bounds -------------------------------------------------------------------------------------------

LAMBDAS = np.linspace(0, 1, 4001)[1:-1].tolist()
INSTANCES = [(0.9, 0.6), (*(0.1,) * 8, 0.2, 0.55), (0.5, 0.45, 0.5)]
POINTS = [(100_000, 1.0), (100_000, 0.1), (37, 3.0), (10**9, 0.02)]


@pytest.mark.parametrize(("t", "epsilon"), POINTS)
@pytest.mark.parametrize("means", INSTANCES, ids=str)
def test_theorem_3_2_is_smallest_over_lambda_0(
    means: tuple[float, ...], t: int, epsilon: float
) -> None:
    printed = min(bounds.theorem_3_2_printed(means, t, epsilon, each) for each in LAMBDAS)
    value = theory.dp_ucb_bound_printed_upper_bound(means, t, epsilon)
    # The grid of lambda_0 misses the best one by at most 1/4000.
    assert printed * (1 - 2e-3) < value <= printed
    proved = sum(
        min(bounds.theorem_3_2_proved(gap, t, epsilon, each) for each in LAMBDAS)
        for gap in bounds.gaps(means)
    )
    value = theory.dp_ucb_bound_upper_bound(means, t, epsilon)
    assert proved * (1 - 2e-3) < value <= proved


@pytest.mark.parametrize(("t", "epsilon"), POINTS)
@pytest.mark.parametrize("means", INSTANCES, ids=str)
def test_theorems_3_3_and_3_5_are_those_of_the_paper(
    means: tuple[float, ...], t: int, epsilon: float
) -> None:
    value = theory.dp_ucb_upper_bound(means, t, epsilon)
    assert value == pytest.approx(bounds.theorem_3_3(means, t, epsilon), rel=1e-12)
    values = set()
    for schedule in Schedule:
        given = oracle.corollary_3_2(1.0, 0.01, 1.1)
        counts = oracle.release_counts(variant_name(schedule), given, 1.1)
        value = theory.dp_ucb_int_upper_bound(means, t, 1.0, 0.01, 1.1, schedule)
        assert value == pytest.approx(bounds.theorem_3_5(means, t, next(counts)), rel=1e-12)
        values.add(value)
    assert len(values) == len(Schedule)  # f_0 is that of the schedule
