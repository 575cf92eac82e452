"""Equal releases give equal arms, whatever the rewards are.

Every game is played twice, with all rewards different. In the second game every release gets the
value that it had in the first. A policy that uses anything but its releases then plays other arms.

LDP-UCB-B reads a reward through its private bit alone, and every reward gets a fresh one. A bit is
no sum of a reward and a noise, so the mechanism is replaced by one that keeps a list of the rewards
it got and answers from a script.
"""

import itertools
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from planted_leaks import LEAKS, Leak, planted
from traced import Game, Unreleased, played
from traced_games import CASES, NUMBERS, Case, Inputs, cases_of, game_of, random_inputs
from traced_games import in_short_games as in_short_games

from dpbandits.algorithms import ldp_ucb_b
from dpbandits.algorithms.ldp_ucb_l import Start

GAMES = range(100, 124)  # of every case: more than a thousand in all


def pair(case: Case, seed: int, *, pinned: bool = True) -> tuple[Game, Game]:
    """Play two games with different rewards; with equal releases if `pinned`."""
    inputs = random_inputs(seed)
    first = game_of(case, inputs, strict=False)
    other = Inputs(1.0 - inputs.table, inputs.noises, inputs.uniforms)
    values = [release.value for release in first.releases] if pinned else []
    return first, game_of(case, other, strict=False, pinned=values)


def interferes(case: Case, seed: int) -> bool:
    """Return True if two games with equal releases differ in an arm or in the noise drawn."""
    first, second = pair(case, seed)
    return first.arms != second.arms or first.draws != second.draws


@pytest.mark.parametrize("case", CASES, ids=str)
def test_equal_releases_and_different_rewards_give_equal_arms(case: Case) -> None:
    for seed in GAMES:
        assert not interferes(case, seed), f"game {seed}"


@pytest.mark.parametrize("algorithm", NUMBERS)
def test_without_equal_releases_the_rewards_decide(algorithm: str) -> None:
    # The power of the comparison: the rewards matter in these games.
    case = cases_of(algorithm)[0]
    games = [pair(case, seed, pinned=False) for seed in range(40)]
    assert sum(first.arms != second.arms for first, second in games) >= 4


@pytest.mark.parametrize("leak", LEAKS, ids=str)
def test_a_leak_interferes_unless_only_its_noise_is_too_small(leak: Leak) -> None:
    cases = cases_of(leak.algorithm)[:3]
    with planted(leak):
        interfered = any(
            interferes(case, seed) for seed, case in itertools.product(range(24), cases)
        )
    assert interfered != leak.keeps_arms


# LDP-UCB-B ----------------------------------------------------------------------------------------

ROUNDS = 60


def scripted_game(table: np.ndarray, bits: Sequence[float], start: Start) -> tuple[Game, list[Any]]:
    """Play with scripted private bits; return the game and the rewards that they are for."""
    got: list[Any] = []

    def respond(rng: Any, reward: Any, epsilon: float) -> float:
        assert epsilon == 0.7
        got.append(reward.reads)
        return bits[len(got) - 1]

    game = Game(table, (), ())
    with patch.object(ldp_ucb_b, "randomised_response", respond):
        played(ldp_ucb_b, ldp_ucb_b.Params(0.7, start), ROUNDS, game)
    return game, got


@pytest.mark.parametrize("start", Start)
def test_equal_bits_give_equal_arms_whatever_the_rewards_are(start: Start) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        arms = int(rng.integers(2, 5))
        table, bits = rng.random((arms, ROUNDS)), rng.integers(0, 2, ROUNDS).astype(float).tolist()
        first, got = scripted_game(table, bits, start)
        second, _ = scripted_game(1.0 - table, bits, start)
        assert first.arms == second.arms
        # One bit per round, for the reward of that round alone.
        numbers = [first.arms[: t + 1].count(arm) for t, arm in enumerate(first.arms)]
        assert got == [{(arm, n): 1.0} for arm, n in zip(first.arms, numbers, strict=True)]


@pytest.mark.parametrize("start", Start)
def test_the_bits_decide(start: Start) -> None:
    table = np.full((3, ROUNDS), 0.5)
    ones = scripted_game(table, [float(t % 2) for t in range(ROUNDS)], start)[0].arms
    assert ones != scripted_game(table, [float(t % 3 == 0) for t in range(ROUNDS)], start)[0].arms


def test_a_reward_that_is_not_made_private_is_detected() -> None:
    def leaking(rng: Any, reward: Any, epsilon: float) -> Any:
        return reward

    game = Game(np.full((2, ROUNDS), 0.5), (), ())
    with (
        patch.object(ldp_ucb_b, "randomised_response", leaking),
        pytest.raises(Unreleased, match="without noise"),
    ):
        played(ldp_ucb_b, ldp_ucb_b.Params(0.7), ROUNDS, game)
