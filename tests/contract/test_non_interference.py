"""Equal private bits give equal arms of LDP-UCB-B, whatever the rewards are.

It reads a reward through its private bit alone, and every reward gets a fresh one. A bit is no sum
of a reward and a noise, as in test_recorded_releases.py, so the mechanism is replaced by one that
keeps a list of the rewards it got and answers from a script.
"""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from traced_games import in_short_games as in_short_games

from dpbandits.algorithms import ldp_ucb_b
from dpbandits.algorithms.ldp_ucb_l import Start
from dpbandits.contract.traced import Game, Unreleased, played

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
        assert got == [((arm, n, n, 1.0),) for arm, n in zip(first.arms, numbers, strict=True)]


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
