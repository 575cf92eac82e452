"""Policies that pull in batches, in batches, against oracles that pull round by round.

A sum of n coins is drawn here as n coins, from a stream that both sides read in the same order, or
from one stream per arm where passes over the arms are drawn arm by arm.
"""

from collections.abc import Callable
from typing import Any

import azize2022
import azize2025
import numpy as np
import pytest
import sajed2019
import wang2024
from played import play_bandit
from streams import Draws, Game, Reward, policy_stream, regret_curve, reward_stream

from dpbandits.algorithms import (
    adap_klucb,
    adap_ucb,
    dp_ftpl_beta,
    dp_ftpl_gauss,
    dp_imed,
    dp_klucb,
    dp_se,
    gdp_elim_new,
    se,
)
from dpbandits.algorithms._argmax import Method
from dpbandits.environments import bernoulli
from dpbandits.kernel.bandit import new_bandit

MEANS = (0.55, 0.9, 0.2)


class OneStream:
    """Generator of rewards that draws a sum of n coins with n uniform numbers."""

    def __init__(self, means: tuple[float, ...], seed: int) -> None:
        self.rng = reward_stream(seed)
        self.sums = 0

    def random(self) -> float:
        return self.rng.random()

    def binomial(self, n: int, p: float) -> int:
        self.sums += 1
        return sum(self.rng.random() < p for _ in range(n))

    @staticmethod
    def reward(means: tuple[float, ...], seed: int) -> Reward:
        """Return the rewards of the oracle, from the same stream."""
        rng = reward_stream(seed)
        return lambda arm, t: 1.0 if rng.random() < means[arm] else 0.0


class StreamPerArm:
    """The same with one stream per arm, which is recognised by its mean."""

    def __init__(self, means: tuple[float, ...], seed: int) -> None:
        self.streams = {mean: reward_stream(100 * seed + i) for i, mean in enumerate(means)}
        self.sums = 0

    def binomial(self, n: int, p: float) -> int:
        self.sums += 1
        return sum(self.streams[p].random() < p for _ in range(n))

    @staticmethod
    def reward(means: tuple[float, ...], seed: int) -> Reward:
        """Return the rewards of the oracle, from the same streams."""
        streams = [reward_stream(100 * seed + i) for i in range(len(means))]
        return lambda arm, t: 1.0 if streams[arm].random() < means[arm] else 0.0


# Package, values of Params, oracle, streams, horizon, how many sums a run draws at most.
PLAIN = Method.PLAIN
CASES: dict[str, tuple[Any, tuple[Any, ...], Callable[[], Any], Any, int, int]] = {
    "adap-ucb": (adap_ucb, (1.0,), lambda: azize2022.AdaPUCB(1.0, 3.1), OneStream, 5000, 60),
    "adap-klucb": (adap_klucb, (0.5,), lambda: azize2022.AdaPKLUCB(0.5, 3.1), OneStream, 5000, 60),
    "dp-klucb": (dp_klucb, (0.5,), lambda: azize2025.DPKLUCB(0.5, "1.5"), OneStream, 5000, 90),
    "dp-imed": (dp_imed, (0.5,), lambda: azize2025.DPIMED(0.5, "1.5"), OneStream, 5000, 90),
    "dp-ftpl-gauss": (
        *(dp_ftpl_gauss, (0.0, 0.02, PLAIN), lambda: wang2024.Gauss(0.0, 0.02)),
        *(OneStream, 800, 3),
    ),
    "dp-ftpl-beta": (
        *(dp_ftpl_beta, (1.0, 0.5, PLAIN), lambda: wang2024.Beta(1.0, 0.5)),
        *(OneStream, 1500, 3),
    ),
    "se": (se, (5000,), lambda: sajed2019.SE(1 / 5000), StreamPerArm, 5000, 900),
    "dp-se": (dp_se, (0.1, 3), lambda: sajed2019.DPSE(1 / 3, 0.1), StreamPerArm, 9000, 8),
    "gdp-elim-new": (
        *(gdp_elim_new, (0.2, 0.01, 3), lambda: wang2024.GDPElimNew(0.2, 0.01, 3)),
        *(StreamPerArm, 7000, 12),
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CASES)
def test_a_run_in_batches_is_the_literal_one(name: str, seed: int) -> None:
    module, values, oracle, streams, horizon, most = CASES[name]
    # The horizon moves with the seed: it cuts batches off at different places.
    horizon += 37 * seed
    law = bernoulli.law(bernoulli.Params(MEANS))
    coins = streams(MEANS, seed)
    bandit = new_bandit(law, len(MEANS), horizon, np.arange(1, horizon + 1), coins)
    ours = play_bandit(module.play, module.Params(*values), bandit, Draws(policy_stream(seed)))
    literal, draws = oracle(), Draws(policy_stream(seed))
    game = Game(len(MEANS), horizon, streams.reward(MEANS, seed))
    literal.play(game, draws)
    np.testing.assert_allclose(ours.regrets, regret_curve(game.played, MEANS), rtol=1e-9)
    assert np.bincount(ours.arms).tolist() == np.bincount(game.played).tolist()
    assert [draw.method for draw in ours.draws[: len(draws.log)]] == [
        draw.method for draw in draws.log
    ]
    assert 0 < coins.sums <= most
