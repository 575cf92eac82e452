"""AdaP-UCB, AdaP-KLUCB, KL-UCB and the bounds of azize2022 against tests/oracles/azize2022*.py."""

import itertools
from collections import Counter
from typing import Any

import azize2022
import numpy as np
import pytest
from played import assert_same_run
from scipy import stats
from shared_games import LAWS, compare, cut, game_of, ours_of
from streams import policy_stream, regret_curve

from dpbandits.algorithms import adap_klucb, adap_ucb, klucb
from dpbandits.algorithms._adaptive_episodes import FirstEpisode, Ties
from dpbandits.core.kl import bernoulli_kl_upper

MEANS = [(0.9, 0.1), (0.3, 0.5, 0.45), (0.5, 0.5, 0.5, 0.5), (0.05, 0.95, 0.2)]
# (epsilon, alpha): of the paper; far from it, so that noise rules; next to no noise.
BUDGETS = [(1.0, 3.1), (0.1, 1.0), (5.0, 0.2), (0.5, 0.02), (100.0, 3.5)]


# Algorithm 1 -------------------------------------------------------------------------------------

ALGORITHMS = [(adap_ucb, azize2022.AdaPUCB), (adap_klucb, azize2022.AdaPKLUCB)]


@pytest.mark.parametrize("first_episode", FirstEpisode)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("pair", ALGORITHMS, ids=["adap-ucb", "adap-klucb"])
def test_algorithm_1_is_the_literal_one(
    pair: tuple[Any, Any], law: str, first_episode: FirstEpisode
) -> None:
    module, oracle = pair
    taken: Counter[str] = Counter()
    for seed, (means, budget) in enumerate(itertools.product(MEANS, BUDGETS)):
        params = module.Params(*budget, Ties.FIRST, first_episode)
        for horizon in (len(means), 64, 400 + seed):
            literal = oracle(*budget, half=first_episode is FirstEpisode.HALF)
            taken += compare(module, params, literal, law, means, horizon, seed, cut)
    expected = {"same arm", "other arm", "cut"}
    if pair[0] is adap_klucb:
        expected |= {"below 0", "inside", "above 1", "tie"}
    assert set(+taken) == expected
    assert min(taken[branch] for branch in expected) >= 5


@pytest.mark.parametrize("law", LAWS)
def test_adap_klucb_without_an_allowance_for_the_noise_is_the_literal_one(law: str) -> None:
    differs = 0
    for seed, (means, budget) in enumerate(itertools.product(MEANS, BUDGETS)):
        params = adap_klucb.Params(*budget, privacy_bonus=adap_klucb.PrivacyBonus.OFF)
        literal = azize2022.AdaPKLUCBWithoutBonus(*budget)
        compare(adap_klucb, params, literal, law, means, 500, seed, cut)
        ours = ours_of(adap_klucb, params, law, means, 500, seed)
        printed = ours_of(adap_klucb, adap_klucb.Params(*budget), law, means, 500, seed)
        differs += printed.arms != ours.arms
    assert differs >= 3


@pytest.mark.parametrize(
    ("pair", "runs"),
    [(ALGORITHMS[0], 100), (ALGORITHMS[1], 800)],
    ids=["adap-ucb", "adap-klucb"],
)
def test_a_random_tie_falls_on_each_of_the_largest_indexes_equally_often(
    pair: tuple[Any, Any], runs: int
) -> None:
    # alpha = .5: some private means are clipped to 1 and tie, the others do not.
    module, oracle = pair
    means, arms, budget = (0.5,) * 4, 4, (1.0, 0.5)
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for seed in range(runs):
        params = module.Params(*budget, Ties.RANDOM)
        ours = ours_of(module, params, "bernoulli", means, arms + 1, seed)
        literal = oracle(*budget)
        literal.play(game_of("bernoulli", means, arms + 1, seed), policy_stream(seed))
        counts.setdefault(tuple(literal.largest[0]), Counter())[ours.arms[arms]] += 1
    sizes = Counter(len(tied) for tied in counts)
    assert sizes == ({1: 4} if module is adap_ucb else {1: 4, 2: 6, 3: 4, 4: 1})
    for tied, chosen in counts.items():
        assert set(chosen) == set(tied)
        if len(tied) > 1:
            # 11 comparisons: a fair choice fails any of them with probability 10^-4.
            assert stats.chisquare([chosen[arm] for arm in tied]).pvalue > 1e-4 / 11


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_klucb_is_the_literal_one(means: tuple[float, ...], law: str) -> None:
    ours = ours_of(klucb, klucb.Params(), law, means, 500, 1)
    game = game_of(law, means, 500, 1)
    azize2022.KLUCB().play(game)
    assert_same_run(ours, game.played, [])
    np.testing.assert_allclose(ours.regrets, regret_curve(game.played, means), rtol=1e-9)


@pytest.mark.parametrize("p", [0.0, 1e-9, 0.02, 0.5, 0.97, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("level", [0.0, 1e-14, 1e-6, 0.03, 1.0, 40.0])
def test_the_kl_index_is_the_largest_q(p: float, level: float) -> None:
    ours, literal = bernoulli_kl_upper(p, level), azize2022.largest_within(p, level)
    # Next to p, d(p, q) is (q-p)^2/(2p(1-p)) and rounding moves q by the root of that of d.
    assert ours == pytest.approx(literal, abs=1e-12 if level > 1e-9 else 1e-7)
