"""Leads of Lazy-DP-TS: batches of the leader against single rounds."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from many_runs import check_counts, final_outcomes
from scipy.stats import chi2_contingency

from dpbandits.algorithms import _raised_leads, lazy_dp_ts
from dpbandits.algorithms._leads import segment, total
from dpbandits.algorithms._raised_means import Log, RaisedMeans, numbers_at, observe
from dpbandits.core.bandit import Bandit, new_bandit, pull_many
from dpbandits.environments import bernoulli
from dpbandits.verify.same_law import p_value

C2, LAZY = (0.75, 0.625, 0.5, 0.375, 0.25), lazy_dp_ts.Params
GAMES: dict[str, tuple[Any, tuple[float, ...], int]] = {
    "C2": (LAZY(20.0), C2, 20_000),
    "close": (LAZY(500.0), (0.75, 0.7, 0.7, 0.7, 0.7), 20_000),
    "two arms": (LAZY(5.0, Log.NATURAL), (0.6, 0.5), 20_000),
    "little budget": (LAZY(0.5), (0.8, 0.2), 20_000),
    "rewards of 1": (LAZY(2.0), (1.0, 0.9, 0.5), 20_000),
    "low means": (LAZY(100.0), (0.2, 0.0, 0.05), 10_000),
}
RUNS = 800
INNER = (300, 3000)
# 40 comparisons: a false alarm has probability 0.004 in all. With 800 runs each, a shift of the
# mean by a third of the standard deviation has a p-value near 1e-8.
LIMIT = 1e-4


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def played(params: Any, means: tuple[float, ...], horizon: int, rounds: Any) -> Bandit:
    law = bernoulli.law(bernoulli.Params(means))
    bandit = new_bandit(law, len(means), horizon, np.asarray(rounds, np.int64), rng(0))
    lazy_dp_ts.play(params, bandit, rng(1))
    return bandit


@pytest.mark.parametrize("game", GAMES)
def test_leads_have_the_law_of_single_rounds(game: str) -> None:
    params, means, horizon = GAMES[game]
    coins = bernoulli.law(bernoulli.Params(means))
    fast, slow = (
        final_outcomes("lazy-dp-ts", params, coins, len(means), horizon, seed, RUNS, mode, INNER)
        for seed, mode in ((1, False), (2, True))
    )
    for column in range(fast.shape[1]):
        assert p_value(fast[:, column], slow[:, column]) > LIMIT


@pytest.mark.parametrize("game", GAMES)
def test_a_checkpoint_inside_a_lead_has_the_exact_counts(game: str) -> None:
    params, means, horizon = GAMES[game]
    every = played(params, means, horizon, np.arange(1, horizon + 1))
    none = played(params, means, horizon, [])
    check_counts(every, none, means)


@pytest.mark.parametrize("game", GAMES)
def test_a_lead_does_not_depend_on_the_end_of_the_game(game: str) -> None:
    params, means, horizon = GAMES[game]
    for shorter in (horizon - 1, horizon - 77, horizon // 2):
        rounds = np.arange(1, shorter + 1)
        short = played(params, means, shorter, rounds).curve
        long = played(params, means, horizon, rounds).curve
        np.testing.assert_array_equal(short, long)


def test_no_part_of_the_line_is_met_twice_or_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: every round of a window moves the next point by the length of the line.
    window: list[Any] = []  # the line's segments and the next point, after the first hit
    choose, new_level, checked = _raised_leads.choose, _raised_leads.balanced_level, 0

    def opened(*arguments: Any) -> float:
        window.clear()
        return new_level(*arguments)

    def pulled(bandit: Any, arm: int, n: int) -> Any:
        if window:
            own, length, point = window
            window[2] = max(point - n * (own + total(length)), 0.0)
        return pull_many(bandit, arm, n)

    def chosen(*arguments: Any) -> Any:
        nonlocal checked
        own, length, point = arguments[7], arguments[6], arguments[8]
        if window:
            assert point == pytest.approx(window[2], abs=1e-9)
            checked += 1
        arm, after = choose(*arguments)
        window[:] = own, length, after - own - total(length)
        return arm, after

    for name, body in (("choose", chosen), ("balanced_level", opened), ("pull_many", pulled)):
        monkeypatch.setattr(_raised_leads, name, body)
    params, means, horizon = GAMES["close"]
    law = bernoulli.law(bernoulli.Params(means))
    bandit = new_bandit(law, len(means), horizon, np.array([horizon]), rng(1))
    play: Any = lazy_dp_ts.play
    getattr(play, "py_func", play)(params, bandit, rng(2))
    assert checked > 100


def test_every_kind_of_round_occurs_in_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: which arms were drawn on which side of the level, and the rounds in batches.
    kinds, kinds_of_all = Counter[str](), Counter[str]()
    choose, below, beyond = (
        getattr(_raised_leads, name) for name in ("choose", "sample_below", "sample_beyond")
    )

    def chosen(*arguments: Any) -> Any:
        means, _, log_t, leader, level, chance, length, own, _ = arguments
        assert length[leader] == 0.0
        assert own == segment(chance)
        assert _raised_leads.chance_below(means, leader, log_t, level) <= chance * (1 + 1e-9)
        for arm in {*range(len(length))} - {leader}:
            now = segment(_raised_leads.chance_above(means, arm, log_t, level))
            assert now <= length[arm] * (1 + 1e-9)
        arm, point = choose(*arguments)
        kinds["leader" if arm == leader else "rival"] += 1
        return arm, point

    def pulled(bandit: Any, arm: int, n: int) -> Any:
        kinds["batched"] += n
        return pull_many(bandit, arm, n)

    def counted(name: str, body: Any) -> Any:
        def call(*arguments: Any) -> Any:
            kinds[name] += 1
            return body(*arguments)

        return call

    monkeypatch.setattr(_raised_leads, "choose", chosen)
    monkeypatch.setattr(_raised_leads, "pull_many", pulled)
    monkeypatch.setattr(_raised_leads, "sample_below", counted("below", below))
    monkeypatch.setattr(_raised_leads, "sample_beyond", counted("beyond", beyond))
    for game, (params, means, horizon) in GAMES.items():
        law = bernoulli.law(bernoulli.Params(means))
        bandit = new_bandit(law, len(means), horizon, np.array([horizon]), rng(1))
        play: Any = lazy_dp_ts.play
        getattr(play, "py_func", play)(params, bandit, rng(2))
        # Each game of the comparison above is played mostly in batches.
        assert kinds["batched"] > horizon // 3, (game, kinds)
        kinds_of_all.update(kinds)
        kinds.clear()
    assert min(kinds_of_all[kind] for kind in ("leader", "rival", "below", "beyond")) > 0


@pytest.mark.parametrize(("first", "last"), [(5.0, 5.0), (1.5, 7.0)])
def test_a_round_of_a_lead_chooses_as_samples_of_all_arms_do(first: float, last: float) -> None:
    # Every branch is frequent: the leader is below the level in 4 % of the rounds, the rivals are
    # above it in 4 % and 8 %. `first` and `last` are log t at both ends of the window.
    posteriors = (np.array([64.0, 16.0, 64.0]), np.array([0.33, 0.26, 0.55]), np.full(3, 0.004))
    means, log_t, leader, level = RaisedMeans(*posteriors), 5.0, 2, 0.46
    below = _raised_leads.chance_below(means, leader, first, level)
    length, generator, counts = np.empty(3), rng(1), np.zeros(3)
    rivals = _raised_leads.fill_rivals(means, leader, last, level, length)
    own, point, rounds = segment(below), generator.standard_exponential(), 40_000
    assert rivals == total(length) < np.inf
    for _ in range(rounds):
        arm, point = _raised_leads.choose(
            means, generator, log_t, leader, level, below, length, own, point
        )
        point -= own + rivals
        counts[arm] += 1
    numbers = np.array([numbers_at(means, arm, log_t) for arm in range(3)])
    thetas = generator.beta(numbers[:, 0], numbers[:, 1], (10 * rounds, 3))
    above = np.mean(thetas > level, axis=0)
    assert min(above[0], above[1], 1.0 - above[2]) > 0.02
    plain = np.bincount(thetas.argmax(axis=1), minlength=3)
    assert chi2_contingency(np.array([counts, plain])).pvalue > LIMIT


def test_a_batch_ends_with_the_pull_that_releases() -> None:
    means, fresh = RaisedMeans(*np.ones((3, 2))), lazy_dp_ts.no_rewards(2, 1.0)
    for power in range(1, 8):
        assert _raised_leads.pulls_to_release(fresh, means, 1) == 2**power
        observe(fresh, means, rng(power), 1, 1.0, 2**power - 1)
        assert means.rewards[1] == 2 ** (power - 1)
        observe(fresh, means, rng(power), 1, 0.0, 1)
        assert means.rewards.tolist() == [1.0, 2.0**power]
