"""Adaptive episodes and KL-UCB against the oracles of azize2022 and azize2024."""

import itertools
from collections import Counter
from typing import Any

import azize2022
import azize2024
import pytest
from shared_games import LAWS, MEANS, compare, cut

from dpbandits.algorithms import adac_ucb, adap_klucb, adap_ucb, adaptive_ucb, episodic_ucb, klucb
from dpbandits.algorithms.adap_ucb import FirstEpisode, Ties, noise

# (epsilon, alpha): of the paper; far from it, so that noise rules; next to no noise.
BUDGETS = [(1.0, 3.1), (0.1, 1.0), (5.0, 0.2), (0.5, 0.02), (100.0, 3.5)]
# (rho, beta): of the thesis; little and much noise; a long exploration; next to no bonus.
CONCENTRATED = [(0.5, 1.0), (100.0, 1.0), (0.01, 0.5), (1.0, 3.5), (0.1, 0.02)]
ALGORITHMS: dict[str, tuple[Any, Any, list[Any]]] = {
    "adap-ucb": (adap_ucb, azize2022.AdaPUCB, BUDGETS),
    "adap-klucb": (adap_klucb, azize2022.AdaPKLUCB, BUDGETS),
    "adac-ucb": (adac_ucb, azize2024.AdaCUCB, CONCENTRATED),
    "adaptive-ucb": (adaptive_ucb, azize2024.NonPrivate, [budget[1:] for budget in CONCENTRATED]),
}


@pytest.mark.parametrize("first_episode", FirstEpisode)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithm_1_is_the_literal_one(name: str, law: str, first_episode: FirstEpisode) -> None:
    module, oracle, budgets = ALGORITHMS[name]
    # The package also releases the mean of an episode that the horizon cut off.
    unused = (lambda literal: 0) if name == "adaptive-ucb" else cut
    taken: Counter[str] = Counter()
    for seed, (means, budget) in enumerate(itertools.product(MEANS, budgets)):
        params = module.Params(*budget, Ties.FIRST, first_episode)
        for horizon in (len(means), 64, 400 + seed):
            literal = oracle(*budget, half=first_episode is FirstEpisode.HALF)
            taken += compare(module, params, literal, law, means, horizon, seed, unused)
    expected = {"same arm", "other arm", "cut"}
    if name == "adap-klucb":
        expected |= {"below 0", "inside", "above 1", "tie"}
    assert min(taken[branch] for branch in expected) >= 5


def test_the_counterpart_releases_its_means_as_they_are() -> None:
    assert noise(adaptive_ucb.Params(), None, 1.0) == 0.0


@pytest.mark.parametrize("law", LAWS)
def test_adap_klucb_without_an_allowance_for_the_noise_is_the_literal_one(law: str) -> None:
    for seed, (means, budget) in enumerate(itertools.product(MEANS, BUDGETS)):
        params = adap_klucb.Params(*budget, privacy_bonus=adap_klucb.PrivacyBonus.OFF)
        literal = azize2022.AdaPKLUCBWithoutBonus(*budget)
        compare(adap_klucb, params, literal, law, means, 500, seed, cut)


@pytest.mark.parametrize("law", LAWS)
def test_adap_ucb_without_alpha_in_its_exploration_is_the_literal_one(law: str) -> None:
    for seed, (means, budget) in enumerate(itertools.product(MEANS, BUDGETS)):
        params = adap_ucb.Params(*budget, exploration=adap_ucb.Exploration.WITHOUT_ALPHA)
        literal = azize2022.AdaPUCBWithoutAlpha(*budget)
        compare(adap_ucb, params, literal, law, means, 500, seed, cut)


@pytest.mark.parametrize(("doubling", "forgetting"), [*itertools.product([False, True], repeat=2)])
def test_episodic_ucb_is_the_literal_one(doubling: bool, forgetting: bool) -> None:
    for seed, (means, law) in enumerate(itertools.product(MEANS, LAWS)):
        params = episodic_ucb.Params(3.1, doubling, forgetting)
        literal = azize2022.EpisodicUCB(3.1, doubling, forgetting)
        compare(episodic_ucb, params, literal, law, means, 700, seed)


@pytest.mark.parametrize(
    ("means", "law"),
    [*itertools.product(MEANS, LAWS)]
    + [(means, "bernoulli") for means in ((1.0, 0.98, 0.0), (0.0, 0.0, 0.0))],
    ids=str,
)
def test_klucb_is_the_literal_one(means: tuple[float, ...], law: str) -> None:
    compare(klucb, klucb.Params(), azize2022.KLUCB(), law, means, 500, 1)


@pytest.mark.parametrize("alpha", [0.7, 3.1])
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_klucb_with_another_alpha_is_the_literal_one(
    means: tuple[float, ...], alpha: float
) -> None:
    compare(klucb, klucb.Params(alpha), azize2022.KLUCB(alpha), "bernoulli", means, 500, 1)
