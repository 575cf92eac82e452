"""AdaC-UCB, its counterpart without privacy and Theorem 5.6 against tests/oracles/azize2024.py."""

import itertools
from collections import Counter
from typing import Any

import azize2024
import numpy as np
import pytest
from played import assert_same_run
from shared_games import LAWS, game_of, ours_of
from streams import Draws, policy_stream, regret_curve

from dpbandits.algorithms import adac_ucb, adaptive_ucb
from dpbandits.algorithms._adaptive_episodes import FirstEpisode, Ties

MEANS = [(0.9, 0.1), (0.3, 0.5, 0.45), (0.5, 0.5, 0.5, 0.5), (0.05, 0.95, 0.2)]
# (rho, beta): of the thesis; little and much noise; a long exploration; next to no bonus.
BUDGETS = [(0.5, 1.0), (100.0, 1.0), (0.01, 0.5), (1.0, 3.5), (0.1, 0.02)]
ALGORITHMS = {"adac-ucb": adac_ucb, "adaptive-ucb": adaptive_ucb}


def both(name: str, budget: tuple[float, float], first_episode: FirstEpisode) -> tuple[Any, Any]:
    """Return the Params of the package, and the oracle, for rho and beta."""
    half = first_episode is FirstEpisode.HALF
    if name == "adac-ucb":
        params: Any = adac_ucb.Params(*budget, Ties.FIRST, first_episode)
        return params, azize2024.AdaCUCB(*budget, half=half)
    beta = budget[1]
    counterpart = adaptive_ucb.Params(beta, Ties.FIRST, first_episode)
    return counterpart, azize2024.NonPrivate(beta, half=half)


@pytest.mark.parametrize("first_episode", FirstEpisode)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_is_the_literal_one(name: str, law: str, first_episode: FirstEpisode) -> None:
    taken: Counter[str] = Counter()
    for seed, (means, budget) in enumerate(itertools.product(MEANS, BUDGETS)):
        for horizon in (len(means), 64, 400 + seed):
            params, literal = both(name, budget, first_episode)
            ours = ours_of(ALGORITHMS[name], params, law, means, horizon, seed)
            game, draws = game_of(law, means, horizon, seed), Draws(policy_stream(seed))
            literal.play(game, draws)
            # The package also releases the mean of an episode that the horizon cut off.
            unused = literal.branches["cut"] if name == "adac-ucb" else 0
            assert_same_run(ours, game.played, draws.log, unused)
            regrets = regret_curve(game.played, means)
            np.testing.assert_allclose(ours.regrets, regrets, rtol=1e-9)
            taken += literal.branches
    assert min(taken[branch] for branch in ("same arm", "other arm", "cut")) >= 5


def test_the_counterpart_is_the_limit_of_much_rho() -> None:
    for seed, means in enumerate(MEANS):  # Beta arms: no two indexes are equal
        limit = ours_of(adac_ucb, adac_ucb.Params(1e18), "beta", means, 500, seed)
        ours = ours_of(adaptive_ucb, adaptive_ucb.Params(), "beta", means, 500, seed)
        assert limit.arms == ours.arms
        assert not ours.draws
