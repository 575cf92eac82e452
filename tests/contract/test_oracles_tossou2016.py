"""UCB, Private-UCB and the algorithms of tossou2016 against oracles written from the paper alone.

Both sides play whole games on the same streams: every arm, every noise with its scale and every
regret are compared. The oracles import nothing from dpbandits (tests/oracles/).
"""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import played
import pytest
import streams
import tossou2016 as oracle
import tossou2016_bounds as bounds
from streams import Draws, Game, policy_stream, reward_stream

from dpbandits.algorithms import dp_ucb, dp_ucb_bound, dp_ucb_int, private_ucb, ucb
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.algorithms.dp_ucb_bound import PowerOfTwo
from dpbandits.algorithms.dp_ucb_int import Noise, Schedule
from dpbandits.algorithms.private_ucb import Decay, Relaxation, Split
from dpbandits.core.bandit import new_bandit
from dpbandits.core.parameters import reading_name
from dpbandits.environments import bernoulli, beta
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.theory import tossou2016 as theory

MEANS = [(0.5, 0.51, 0.49), (0.45, 0.6)]
LAWS: dict[str, tuple[Any, Callable[..., streams.Reward]]] = {
    "bernoulli": (bernoulli, streams.bernoulli_rewards),
    "beta": (beta, streams.beta_rewards),
}


def assert_alike(
    policy: Callable[..., None],
    params: Any,
    literal: Callable[[Game, Any], None],
    horizon: int,
    law: str = "beta",
) -> list[played.Played]:
    """Play both on a few instances and compare everything; return our games."""
    environment, rewards = LAWS[law]
    games = []
    for seed, means in enumerate(MEANS):
        real = environment.law(environment.Params(means))
        ours = played.play(policy, params, real, len(means), horizon, seed)
        game = Game(len(means), horizon, rewards(means, streams.reward_stream(seed)))
        draws = Draws(streams.policy_stream(seed))
        literal(game, draws)
        played.assert_same_run(ours, game.played, draws.log)
        expected = streams.regret_curve(game.played, means)
        np.testing.assert_allclose(ours.regrets, expected, rtol=0, atol=1e-9)
        games.append(ours)
    return games


# The algorithms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_ucb_is_that_of_section_3(law: str) -> None:
    assert_alike(ucb.play, ucb.Params(), lambda game, _: oracle.play_ucb(game), 400, law)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("counter", Counter)
def test_dp_ucb_bound_is_algorithm_1(counter: Counter, law: str) -> None:
    for epsilon, power_of_two in [
        (1.0, PowerOfTwo.ON),
        (40.0, PowerOfTwo.ON),
        (40.0, PowerOfTwo.OFF),
    ]:
        games = assert_alike(
            dp_ucb_bound.play,
            dp_ucb_bound.Params(epsilon, counter, power_of_two),
            partial(
                oracle.play_dp_ucb_bound,
                epsilon=epsilon,
                reading=reading_name(counter),
                power_of_two=power_of_two is PowerOfTwo.ON,
            ),
            300,
            law,
        )
        # The trees of every arm have several levels.
        assert min(np.bincount(game.arms).min() for game in games) > 20


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("counter", Counter)
def test_dp_ucb_is_algorithm_2(counter: Counter, law: str) -> None:
    for epsilon in (0.5, 20.0):
        assert_alike(
            dp_ucb.play,
            dp_ucb.Params(epsilon, counter),
            partial(oracle.play_dp_ucb, epsilon=epsilon, reading=reading_name(counter)),
            150,
            law,
        )


@pytest.mark.parametrize("relaxation", Relaxation)
@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("decay", Decay)
def test_private_ucb_is_that_of_its_authors(
    decay: Decay, split: Split, relaxation: Relaxation
) -> None:
    gamma, horizon = 0.1, 250

    def failure(t: int) -> float:
        return {
            Decay.NONE: gamma,
            Decay.HORIZON: gamma / horizon,
            Decay.ROUND: gamma * t**-4.0,
        }[decay]

    for epsilon in (2.0, 400.0):
        assert_alike(
            private_ucb.play,
            private_ucb.Params(epsilon, horizon, gamma, decay, split, relaxation),
            partial(
                oracle.play_private_ucb,
                epsilon=epsilon,
                failure=failure,
                split=reading_name(split),
                relaxation=reading_name(relaxation),
            ),
            horizon,
        )


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("schedule", Schedule)
def test_dp_ucb_int_is_algorithm_3(schedule: Schedule, noise: Noise) -> None:
    for (epsilon, delta), v in itertools.product([(1.0, 0.1), (6.0, 0.01)], (1.1, 1.4)):
        params = dp_ucb_int.Params(epsilon, delta, v, schedule, noise)
        games = assert_alike(
            dp_ucb_int.play,
            params,
            partial(
                oracle.play_dp_ucb_int,
                target=(epsilon, delta),
                v=v,
                schedule=reading_name(schedule),
                noise=reading_name(noise),
            ),
            350,
            "bernoulli",
        )
        if epsilon > 1.0:
            # Some arm is past several releases.
            assert max(len(game.draws) for game in games) >= 8


def test_ties_go_to_the_first_arm() -> None:
    # All rewards are 1: equal counts have equal indices, and the arms are pulled in turn.
    ours = played.play(
        ucb.play, ucb.Params(), bernoulli.law(bernoulli.Params((1.0, 1.0, 1.0))), 3, 90, 0
    )
    assert ours.arms == [0, 1, 2] * 30


def test_the_recorded_pulls_of_an_arm_are_those_of_the_same_game() -> None:
    law = bernoulli.law(bernoulli.Params(MEANS[0]))
    for arm in range(3):
        bandit = new_bandit(law, 3, 200, np.arange(1, 201), reward_stream(4), True, counted=arm)
        game = played.play_bandit(ucb.play, ucb.Params(), bandit, Draws(policy_stream(4)))
        assert game.regrets.tolist() == [game.arms[:t].count(arm) for t in range(1, 201)]


# Releases of DP-UCB-INT ---------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("v", [1.01, 1.1, 1.5])
def test_release_counts_and_budget_are_those_of_lemma_b_1_and_theorem_3_4(
    v: float, schedule: Schedule
) -> None:
    for epsilon, delta in [(1.0, 0.01), (1.0, math.exp(-10)), (0.7, 0.3)]:
        params = dp_ucb_int.Params(epsilon, delta, v, schedule)
        own = oracle.corollary_3_2(epsilon, delta, v)
        assert dp_ucb_int.input_epsilon(params) == pytest.approx(own, rel=1e-9)
        counts = list(
            itertools.takewhile(
                lambda n: n <= 700, oracle.release_counts(reading_name(schedule), own, v)
            )
        )
        declared = list(dp_ucb_int.releases(params, 1, 700))
        assert [int(release.last) for release in declared] == counts
        for release, n in zip(declared, counts, strict=True):
            assert release.scale == pytest.approx(1 / n ** (1 - v / 2), rel=1e-12)
            assert release.sensitivity == pytest.approx(1 / n, rel=1e-12)
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
    first = next(oracle.release_counts("series", oracle.corollary_3_2(1.0, 0.01, 1.1), 1.1))
    value = theory.dp_ucb_int_upper_bound(means, t, 1.0, 0.01, 1.1)
    assert value == pytest.approx(bounds.theorem_3_5(means, t, first), rel=1e-12)
