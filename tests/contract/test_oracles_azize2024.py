"""AdaC-UCB, its counterpart without privacy and Theorem 5.6 against tests/oracles/azize2024.py."""

import itertools
from collections import Counter
from typing import Any

import azize2024
import pytest
from shared_games import LAWS, compare, cut, ours_of

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
            # The package also releases the mean of an episode that the horizon cut off.
            unused = cut if name == "adac-ucb" else lambda literal: 0
            taken += compare(ALGORITHMS[name], params, literal, law, means, horizon, seed, unused)
    assert min(taken[branch] for branch in ("same arm", "other arm", "cut")) >= 5


def test_the_counterpart_is_the_limit_of_much_rho() -> None:
    for seed, means in enumerate(MEANS):  # Beta arms: no two indexes are equal
        limit = ours_of(adac_ucb, adac_ucb.Params(1e18), "beta", means, 500, seed)
        ours = ours_of(adaptive_ucb, adaptive_ucb.Params(), "beta", means, 500, seed)
        assert limit.arms == ours.arms
        assert not ours.draws
