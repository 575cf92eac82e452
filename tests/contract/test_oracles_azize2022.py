"""AdaP-UCB, AdaP-KLUCB, KL-UCB and the bounds of azize2022 against tests/oracles/azize2022*.py."""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import azize2022
import azize2022_bounds
import numpy as np
import pytest
from played import assert_same_run, play
from scipy import stats
from shared_games import LAWS, game_of, ours_of
from streams import Draws, policy_stream, regret_curve

from dpbandits.algorithms import _adaptive_episodes, adap_klucb, adap_ucb, klucb
from dpbandits.algorithms._adaptive_episodes import FirstEpisode, Ties
from dpbandits.algorithms._argmax import random_argmax
from dpbandits.core.kl import bernoulli_kl_upper
from dpbandits.environments import bernoulli
from dpbandits.theory import bounds, function, transitions

MEANS = [(0.9, 0.1), (0.3, 0.5, 0.45), (0.5, 0.5, 0.5, 0.5), (0.05, 0.95, 0.2)]
# (epsilon, alpha): of the paper; far from it, so that noise rules; next to no noise.
BUDGETS = [(1.0, 3.1), (0.1, 1.0), (5.0, 0.2), (0.5, 0.02), (100.0, 3.5)]


# Algorithm 1 -------------------------------------------------------------------------------------

ALGORITHMS = [(adap_ucb, azize2022.AdaPUCB), (adap_klucb, azize2022.AdaPKLUCB)]


def compare(
    pair: tuple[Any, Any],
    law: str,
    means: tuple[float, ...],
    budget: tuple[float, float],
    horizon: int,
    first_episode: FirstEpisode,
    seed: int,
) -> Counter[str]:
    """Compare one whole run; return the branches that it took."""
    module, oracle = pair
    params = module.Params(*budget, Ties.FIRST, first_episode)
    ours = ours_of(module, params, law, means, horizon, seed)
    literal = oracle(*budget, half=first_episode is FirstEpisode.HALF)
    game, draws = game_of(law, means, horizon, seed), Draws(policy_stream(seed))
    literal.play(game, draws)
    assert_same_run(ours, game.played, draws.log, unused=literal.branches["cut"])
    np.testing.assert_allclose(ours.regrets, regret_curve(game.played, means), rtol=1e-9)
    taken: Counter[str] = literal.branches
    return taken


@pytest.mark.parametrize("first_episode", FirstEpisode)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("pair", ALGORITHMS, ids=["adap-ucb", "adap-klucb"])
def test_algorithm_1_is_the_literal_one(
    pair: tuple[Any, Any], law: str, first_episode: FirstEpisode
) -> None:
    taken: Counter[str] = Counter()
    for seed, (means, budget) in enumerate(itertools.product(MEANS, BUDGETS)):
        for horizon in (len(means), 64, 400 + seed):
            taken += compare(pair, law, means, budget, horizon, first_episode, seed)
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
        ours = ours_of(adap_klucb, params, law, means, 500, seed)
        literal = azize2022.AdaPKLUCBWithoutBonus(*budget)
        game, draws = game_of(law, means, 500, seed), Draws(policy_stream(seed))
        literal.play(game, draws)
        assert_same_run(ours, game.played, draws.log, unused=literal.branches["cut"])
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


@pytest.mark.parametrize(
    "values",
    [(1.0, 1.0), (2.0, 0.0, 2.0, 2.0), (1.0, 1.0, 2.0, 2.0, 1.0, 2.0), (0.0, 0.0, 0.0, 1.0)],
    ids=str,
)
def test_a_random_argmax_is_fair(values: tuple[float, ...]) -> None:
    rng = np.random.default_rng(6)
    drawn = Counter(random_argmax(np.array(values), rng) for _ in range(8000))
    largest = [i for i, value in enumerate(values) if value == max(values)]
    assert set(drawn) == set(largest)
    assert len(largest) == 1 or stats.chisquare([drawn[i] for i in largest]).pvalue > 1e-4 / 4


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_klucb_is_the_literal_one(means: tuple[float, ...], law: str) -> None:
    ours = ours_of(klucb, klucb.Params(), law, means, 500, 1)
    game = game_of(law, means, 500, 1)
    azize2022.KLUCB().play(game)
    assert_same_run(ours, game.played, [])
    np.testing.assert_allclose(ours.regrets, regret_curve(game.played, means), rtol=1e-9)


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 20.0])
def test_arms_whose_index_is_not_computed_change_no_pull(
    epsilon: float, ties: Ties, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms, passed_over = 12, Counter[bool]()
    params = adap_klucb.Params(epsilon, ties=ties)
    law = bernoulli.law(bernoulli.Params((0.4,) * 6 + (0.9,) + (0.1,) * 5))
    below: Callable[..., bool] = _adaptive_episodes.index_is_below

    def counted(*arguments: Any) -> bool:
        passed_over[below(*arguments)] += 1
        return below(*arguments)

    runs = []
    for answer in (counted, lambda *_: False):
        monkeypatch.setattr(_adaptive_episodes, "index_is_below", answer)
        runs.append([play(adap_klucb.play, params, law, arms, 6000, seed) for seed in range(4)])
    assert passed_over[True] > 20
    for ours, full in zip(*runs, strict=True):
        assert ours.arms == full.arms
        assert ours.draws == full.draws


@pytest.mark.parametrize("p", [0.0, 1e-9, 0.02, 0.5, 0.97, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("level", [0.0, 1e-14, 1e-6, 0.03, 1.0, 40.0])
def test_the_kl_index_is_the_largest_q(p: float, level: float) -> None:
    ours, literal = bernoulli_kl_upper(p, level), azize2022.largest_within(p, level)
    # Next to p, d(p, q) is (q-p)^2/(2p(1-p)) and rounding moves q by the root of that of d.
    assert ours == pytest.approx(literal, abs=1e-12 if level > 1e-9 else 1e-7)


# Bounds ------------------------------------------------------------------------------------------

T = 10**7
INSTANCES = [(0.8, 0.1, 0.1), (0.5, 0.75, 0.25), (0.3, 0.31), (0.999, 0.5), (0.4, 0.4, 0.1)]
PLANES = [
    ([[1.0, 0.0], [0.0, 1.0], [0.9, 0.5]], [1.0, 0.0]),
    ([[1.0, 0.2], [-0.3, 1.0], [0.5, -0.8], [0.1, 0.1], [0.9, 0.0]], [0.7, 0.2]),
    ([[0.0, 2.0], [1.0, 1.0], [0.0, 0.5]], [0.1, 1.0]),
]
EPSILONS = (1e-4, 0.01, 0.0223, 0.07, 0.3, 2.0, 100.0)

CASES: dict[str, list[tuple[Any, ...]]] = {
    "minimax_lower_bound": [
        (arms, horizon, epsilon)
        for arms, horizon, epsilon in itertools.product((2, 5, 100), (100, T), EPSILONS)
        if horizon >= arms - 1
    ],
    "minimax_transitions": [(2, 100), (5, T), (100, 99)],
    "problem_dependent_lower_bound": list(itertools.product(INSTANCES, (2, T), EPSILONS)),
    "problem_dependent_transitions": [(means,) for means in INSTANCES],
    "no_privacy_lower_bound": list(itertools.product(INSTANCES, (2, T))),
    "linear_minimax_lower_bound": list(itertools.product((2, 7, 50), (100, T), EPSILONS)),
    "linear_minimax_transitions": [(100,), (T,)],
    "linear_lower_bound": [(*plane, T, epsilon) for plane in PLANES for epsilon in EPSILONS],
    "linear_transitions": PLANES,
    "basis_lower_bound": list(
        itertools.product((2, 3, 6), ((0.9, 0.5), (0.2, -0.6)), (T,), EPSILONS)
    ),
    "basis_transitions": list(itertools.product((2, 3, 6), ((0.9, 0.5), (0.2, -0.6)))),
    "adap_ucb_upper_bound": list(itertools.product(INSTANCES, (2, T), EPSILONS, (3.1, 8.0))),
    "adap_ucb_minimax_upper_bound": list(
        itertools.product(INSTANCES, (2, T), EPSILONS, (3.1, 8.0))
    ),
    "adap_klucb_upper_bound": list(itertools.product(INSTANCES, (50, T), EPSILONS, (3.1, 8.0))),
}


def test_every_bound_of_the_paper_has_its_oracle() -> None:
    names = [*bounds(), *transitions()]
    assert {f"azize2022.{name}" for name in CASES} == {
        name for name in names if name.startswith("azize2022.")
    }


@pytest.mark.parametrize("name", CASES)
def test_a_bound_is_the_one_of_the_paper(name: str) -> None:
    ours, literal = function(f"azize2022.{name}"), getattr(azize2022_bounds, name)
    values = set()
    for arguments in CASES[name]:
        expected = literal(*arguments)
        # The convex program is solved to 1e-8.
        rel = 3e-8 if name in ("linear_lower_bound", "basis_lower_bound") else 1e-12
        assert ours(*arguments) == pytest.approx(expected, rel=rel), arguments
        values.add(expected)
    assert len(values - {()}) > 1
