"""Leads of the DP-FTPL algorithms: batches of the leader against single rounds."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from many_runs import check_counts, final_outcomes
from scipy.stats import chi2_contingency

from dpbandits.algorithms import _leads, dp_ftpl_gauss, dp_ftpl_new
from dpbandits.contract.playing import p_value
from dpbandits.core import registry
from dpbandits.core.bandit import Bandit, new_bandit, pull_many
from dpbandits.environments import bernoulli

NINE = (*(0.1 + 0.05 * arm for arm in range(8)), 0.9)
NEW = dp_ftpl_new.Params
GAMES: dict[str, tuple[str, Any, tuple[float, ...], int]] = {
    "New, nine arms": ("dp-ftpl-new", NEW(1.0, 0.0, 20_000), NINE, 20_000),
    "New, two arms": ("dp-ftpl-new", NEW(1.0, 0.01, 20_000), (0.6, 0.9), 20_000),
    "New, much noise": ("dp-ftpl-new", NEW(0.2, 0.001, 20_000), (0.9, 0.3), 20_000),
    "New, epsilon 0": ("dp-ftpl-new", NEW(0.0, 0.02, 20_000), (0.8, 0.3, 0.2), 20_000),
    "Gauss": ("dp-ftpl-gauss", dp_ftpl_gauss.Params(1.0, 0.01), (0.9, 0.3, 0.2), 8000),
}
RUNS = 1000
INNER = (100, 1000, 5000)
# 40 comparisons: a false alarm has probability 0.004 in all. With 1,000 runs each, a shift of the
# mean by a quarter of the standard deviation has a p-value near 1e-5.
LIMIT = 1e-4


def played(
    algorithm: str, params: Any, means: tuple[float, ...], horizon: int, rounds: Any, run: int = 0
) -> Bandit:
    law = bernoulli.law(bernoulli.Params(means))
    bandit = new_bandit(law, len(means), horizon, np.asarray(rounds, np.int64), rng(2 * run))
    registry.algorithm(algorithm).play(params, bandit, rng(2 * run + 1))
    return bandit


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_leads_have_the_law_of_single_rounds(game: str) -> None:
    algorithm, params, means, horizon = GAMES[game]
    coins = bernoulli.law(bernoulli.Params(means))
    fast, slow = (
        final_outcomes(algorithm, params, coins, len(means), horizon, seed, RUNS, per_round, INNER)
        for seed, per_round in ((1, False), (2, True))
    )
    for column in range(fast.shape[1]):
        assert p_value(fast[:, column], slow[:, column]) > LIMIT


@pytest.mark.parametrize("game", GAMES)
def test_a_checkpoint_inside_a_lead_has_the_exact_counts(game: str) -> None:
    algorithm, params, means, horizon = GAMES[game]
    every = played(algorithm, params, means, horizon, np.arange(1, horizon + 1))
    none = played(algorithm, params, means, horizon, [])
    check_counts(every, none, means)


@pytest.mark.parametrize("game", GAMES)
def test_a_lead_does_not_depend_on_the_end_of_the_game(game: str) -> None:
    algorithm, params, means, horizon = GAMES[game]
    for shorter in (horizon - 1, horizon - 77, horizon // 2):
        rounds = np.arange(1, shorter + 1)
        short = played(algorithm, params, means, shorter, rounds).curve
        long = played(algorithm, params, means, horizon, rounds).curve
        np.testing.assert_array_equal(short, long)


def test_every_kind_of_round_occurs_in_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: which arms were drawn above or below the level, and the rounds in batches.
    kinds, total = Counter[str](), Counter[str]()
    choose, many, side = _leads.choose, pull_many, _leads.sample_side

    def chosen(*arguments: Any) -> Any:
        law, _, a, b, leader, level, below, length, _ = arguments
        for arm in range(len(a)):
            above = _leads.chance_above(law, a[arm], b[arm], level)
            assert arm == leader or length[arm] == _leads.segment(above)
        assert length[leader] == _leads.segment(below)
        assert _leads.chance_above(law, -a[leader], b[leader], -level) <= below * (1 + 1e-9)
        arm, point = choose(*arguments)
        kinds["leader" if arm == arguments[4] else "rival"] += 1
        return arm, point

    def pulled(bandit: Any, arm: int, n: int) -> Any:
        kinds["batched"] += n
        return many(bandit, arm, n)

    def drawn(*arguments: Any) -> Any:
        kinds["above" if arguments[-1] else "below"] += 1
        return side(*arguments)

    for name, body in (("choose", chosen), ("pull_many", pulled), ("sample_side", drawn)):
        monkeypatch.setattr(_leads, name, body)
    for game, (algorithm, params, means, horizon) in GAMES.items():
        law = bernoulli.law(bernoulli.Params(means))
        bandit = new_bandit(law, len(means), horizon, np.array([horizon]), rng(1))
        play = registry.algorithm(algorithm).play
        getattr(play, "py_func", play)(params, bandit, rng(2))
        # Each game of the comparison above is played mostly in batches.
        assert kinds["batched"] > horizon // 4, game
        total.update(kinds)
        kinds.clear()
    assert min(total[kind] for kind in ("leader", "rival", "above", "below")) > 0


@pytest.mark.parametrize("loose", [1.0, 3.0])
def test_a_round_of_a_lead_chooses_as_samples_of_all_arms_do(loose: float) -> None:
    # Every branch is frequent: the leader is below the level in 5 % of the rounds, a rival above
    # it in 4 % and 10 %. `loose` is the factor by which the leader's bound exceeds its chance.
    law, generator, rounds = dp_ftpl_gauss.Params(1.0, 0.01), rng(1), 40_000
    b = np.full(3, 1.0)
    a, level, leader = np.array([0.2, 3.6, 0.7]), 2.0, 1
    below = loose * _leads.chance_above(law, -a[leader], b[leader], -level)
    chances = [_leads.chance_above(law, a[arm], b[arm], level) for arm in range(3)]
    chances[leader] = below
    length = np.array([-np.log1p(-chance) for chance in chances])
    line = _leads.total(length)
    point, counts = generator.standard_exponential(), np.zeros(3)
    for _ in range(rounds):
        arm, point = _leads.choose(law, generator, a, b, leader, level, below, length, point)
        point -= line
        counts[arm] += 1
    plain = np.bincount(generator.normal(a, b, (10 * rounds, 3)).argmax(1), minlength=3)
    table = np.array([counts, plain])
    assert chi2_contingency(table).pvalue > LIMIT
