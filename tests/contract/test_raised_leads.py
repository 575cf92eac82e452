"""Leads of Lazy-DP-TS and DP-TS: batches of the leader against single rounds."""

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from many_runs import check_counts, final_outcomes
from scipy.stats import chi2_contingency

from dpbandits.algorithms import _raised_leads, dp_ts, lazy_dp_ts
from dpbandits.algorithms._beta_tail import tail_bound
from dpbandits.algorithms._leads import LONGEST, segment, total
from dpbandits.algorithms._raised_means import Log, RaisedMeans, numbers_at, raised
from dpbandits.contract.playing import p_value
from dpbandits.core import registry
from dpbandits.core.bandit import Bandit, new_bandit, rounds_played
from dpbandits.environments import bernoulli

C2, CLOSE = (0.75, 0.625, 0.5, 0.375, 0.25), (0.75, 0.7, 0.7, 0.7, 0.7)


class Leading(NamedTuple):
    """Game that is played mostly in leads."""

    algorithm: str
    params: Any
    means: tuple[float, ...]
    horizon: int


LAZY, DP_TS = lazy_dp_ts.Params, dp_ts.Params
GAMES = {
    "lazy, C2": Leading("lazy-dp-ts", LAZY(20.0), C2, 20_000),
    "lazy, close": Leading("lazy-dp-ts", LAZY(500.0), CLOSE, 20_000),
    "lazy, two arms": Leading("lazy-dp-ts", LAZY(5.0, Log.NATURAL), (0.5, 0.6), 20_000),
    "lazy, little budget": Leading("lazy-dp-ts", LAZY(0.5), (0.8, 0.2), 20_000),
    "lazy, rewards of 1": Leading("lazy-dp-ts", LAZY(2.0), (1.0, 0.9, 0.5), 20_000),
    "lazy, low means": Leading("lazy-dp-ts", LAZY(100.0), (0.2, 0.0, 0.05), 10_000),
    "C2": Leading("dp-ts", DP_TS(500.0), C2, 20_000),
    "close": Leading("dp-ts", DP_TS(20_000.0), (0.75, 0.65, 0.65, 0.65, 0.65), 20_000),
    "two arms": Leading("dp-ts", DP_TS(200.0, Log.NATURAL), (0.5, 0.6), 20_000),
    "much noise": Leading("dp-ts", DP_TS(20.0), (0.8, 0.2), 20_000),
    "rewards of 1": Leading("dp-ts", DP_TS(1000.0), (1.0, 0.9, 0.5), 20_000),
    "low means": Leading("dp-ts", DP_TS(1000.0), (0.2, 0.0, 0.05), 10_000),
}
RUNS = 800
INNER = (300, 3000)
# 76 comparisons: a false alarm has probability 0.008 in all. With 800 runs each, a shift of the
# mean by a third of the standard deviation has a p-value near 1e-8.
LIMIT = 1e-4


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def started(game: Leading, horizon: int, rounds: Any, seed: int = 0) -> Bandit:
    law = bernoulli.law(bernoulli.Params(game.means))
    return new_bandit(law, len(game.means), horizon, np.asarray(rounds, np.int64), rng(seed))


def played(game: Leading, horizon: int, rounds: Any) -> Bandit:
    bandit = started(game, horizon, rounds)
    registry.algorithm(game.algorithm).play(game.params, bandit, rng(1))
    return bandit


def play_in_plain_python(game: Leading, bandit: Bandit | None = None) -> None:
    play: Any = registry.algorithm(game.algorithm).play
    bandit = bandit or started(game, game.horizon, [game.horizon], 1)
    getattr(play, "py_func", play)(game.params, bandit, rng(2))


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_leads_have_the_law_of_single_rounds(name: str) -> None:
    algorithm, params, means, horizon = GAMES[name]
    coins = bernoulli.law(bernoulli.Params(means))
    fast, slow = (
        final_outcomes(algorithm, params, coins, len(means), horizon, seed, RUNS, mode, INNER)
        for seed, mode in ((1, False), (2, True))
    )
    for column in range(fast.shape[1]):
        assert p_value(fast[:, column], slow[:, column]) > LIMIT


@pytest.mark.parametrize("name", GAMES)
def test_a_checkpoint_inside_a_lead_has_the_exact_counts(name: str) -> None:
    game = GAMES[name]
    every = played(game, game.horizon, np.arange(1, game.horizon + 1))
    check_counts(every, played(game, game.horizon, []), game.means)


@pytest.mark.parametrize("name", GAMES)
def test_a_lead_does_not_depend_on_the_end_of_the_game(name: str) -> None:
    game = GAMES[name]
    for shorter in (game.horizon - 1, game.horizon - 77, game.horizon // 2):
        rounds = np.arange(1, shorter + 1)
        short, long = (played(game, end, rounds).curve for end in (shorter, game.horizon))
        np.testing.assert_array_equal(short, long)


@pytest.mark.parametrize(
    ("name", "slack"),
    [("lazy, close", 0.1), ("close", 0.1), ("much noise", 0.1), ("two arms", 0.002)],
)
def test_no_part_of_the_line_is_met_twice_or_skipped(
    name: str, slack: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In plain Python: every round of a lead moves the next point by the length of the line, also
    # from one window to the next. The first point of a lead is known from its first hit on. With
    # little slack, the leader's mean often falls below the floor before the next point.
    monkeypatch.setattr(dp_ts, "SLACK", slack)
    bandit = started(GAMES[name], GAMES[name].horizon, [GAMES[name].horizon], 1)
    choose, chance_below = _raised_leads.choose, _raised_leads.chance_below
    pull_leader, fill_rivals = _raised_leads.pull_leader, _raised_leads.fill_rivals
    own, length, point, round_ = 0.0, np.zeros(0), math.nan, 0
    checked, checked_in_next, cut = 0, 0, 0
    is_next = False  # True in the windows after that of the last hit

    def computed(*arguments: Any) -> float:
        nonlocal own
        below = chance_below(*arguments)
        own = segment(below)
        return below

    def opened(*arguments: Any) -> float:
        nonlocal length, point, is_next
        rivals = fill_rivals(*arguments)
        length, is_next = arguments[-1], True
        if rounds_played(bandit) != round_:  # rounds without a lead were played
            point = math.nan
        return rivals

    def pulled(*arguments: Any) -> Any:
        nonlocal point, round_, cut
        t, pulls = rounds_played(bandit), pull_leader(*arguments)
        assert pulls <= arguments[-1]
        cut += pulls < arguments[-1]
        round_ = min(t + pulls, bandit.horizon)
        assert rounds_played(bandit) == round_
        point = max(point - pulls * (own + total(length)), 0.0)
        return pulls

    def chosen(*arguments: Any) -> Any:
        nonlocal point, round_, checked, checked_in_next, is_next
        before = arguments[8]
        if not math.isnan(point):
            assert before == pytest.approx(point, abs=1e-9)
            checked += 1
            checked_in_next += is_next
        arm, after = choose(*arguments)
        point, round_ = after - own - total(length), rounds_played(bandit) + 1
        is_next = False
        return arm, after

    for part, body in (
        ("choose", chosen),
        ("chance_below", computed),
        ("fill_rivals", opened),
        ("pull_leader", pulled),
    ):
        monkeypatch.setattr(_raised_leads, part, body)
    play_in_plain_python(GAMES[name], bandit)
    assert checked > 100
    assert checked_in_next > 0
    assert cut > 20 or slack == 0.1


@pytest.mark.parametrize("algorithm", ["lazy-dp-ts", "dp-ts"])
def test_every_kind_of_round_occurs_in_leads(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In plain Python: which arms were drawn on which side of the level, and the rounds in batches.
    kinds, kinds_of_all = Counter[str](), Counter[str]()
    choose, pull_leader, below, beyond = (
        getattr(_raised_leads, name)
        for name in ("choose", "pull_leader", "sample_below", "sample_beyond")
    )

    def chosen(*arguments: Any) -> Any:
        means, _, log_t, leader, level, chance, length, own, _ = arguments
        assert length[leader] == 0.0
        assert own == segment(chance)
        m = raised(means, leader, log_t)
        assert _raised_leads.chance_below(means, leader, m, level) <= chance * (1 + 1e-9)
        for arm in {*range(len(length))} - {leader}:
            now = segment(_raised_leads.chance_above(means, arm, log_t, level))
            assert now <= length[arm] * (1 + 1e-9)
        arm, point = choose(*arguments)
        kinds["leader" if arm == leader else "rival"] += 1
        return arm, point

    def pulled(*arguments: Any) -> Any:
        _, means, bandit, _, arm, log_t, floor, most = arguments
        assert raised(means, arm, log_t) >= floor
        before, pulls = means.rewards[arm], pull_leader(*arguments)
        kinds["batched"] += pulls
        if rounds_played(bandit) < bandit.horizon:
            # A batch that ends early ends with the first release that may be below the floor.
            is_low = raised(means, arm, log_t) < floor
            kinds["low"] += is_low
            is_released = means.rewards[arm] > before
            assert pulls == most or is_released
            assert not is_low or is_released
        return pulls

    def counted(name: str, body: Any) -> Any:
        def call(*arguments: Any) -> Any:
            kinds[name] += 1
            return body(*arguments)

        return call

    monkeypatch.setattr(_raised_leads, "choose", chosen)
    monkeypatch.setattr(_raised_leads, "pull_leader", pulled)
    monkeypatch.setattr(_raised_leads, "sample_below", counted("below", below))
    monkeypatch.setattr(_raised_leads, "sample_beyond", counted("beyond", beyond))
    for name, game in GAMES.items():
        if game.algorithm != algorithm:
            continue
        play_in_plain_python(game)
        # Each game of the comparison above is played mostly in batches.
        assert kinds["batched"] > game.horizon // 3, (name, kinds)
        kinds_of_all.update(kinds)
        kinds.clear()
    assert min(kinds_of_all[kind] for kind in ("leader", "rival", "below", "beyond", "low")) > 0


def test_a_leader_of_dp_ts_is_pulled_while_its_sum_clears_the_floor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In plain Python: the line is the floor, and the bonus that of the last release or less.
    of_module: Any = dp_ts
    pull_leader, pull_while_leading = _raised_leads.pull_leader, of_module.pull_while_leading
    now: tuple[Any, ...] = ()
    checked = 0

    def of_leader(*arguments: Any) -> Any:
        nonlocal now
        now = arguments
        return pull_leader(*arguments)

    def pulled(*arguments: Any) -> Any:
        nonlocal checked
        _, means, bandit, _, arm, log_t, floor, most = now
        of_arm, n, line, bonus, end = arguments[4:]
        assert (of_arm, n, line) == (arm, means.rewards[arm], floor)
        assert end == rounds_played(bandit) + most
        assert bonus == pytest.approx(means.slope[arm] * n * log_t, rel=1e-12)
        assert log_t <= math.log2(rounds_played(bandit) + 1) * (1 + 1e-12)
        checked += 1
        return pull_while_leading(*arguments)

    monkeypatch.setattr(_raised_leads, "pull_leader", of_leader)
    monkeypatch.setattr(dp_ts, "pull_while_leading", pulled)
    play_in_plain_python(GAMES["much noise"])
    assert checked > 100


def test_the_segment_of_a_leader_holds_for_larger_means_and_more_rewards() -> None:
    generator, checked = rng(9), 0
    for _ in range(4000):
        n, m = float(generator.integers(1, 10 ** generator.integers(1, 6))), generator.random()
        means = RaisedMeans(np.array([n]), np.array([m]), np.zeros(1))
        level = m - generator.exponential() * 0.5 / np.sqrt(n)
        if not 0.0 < level < 1.0 or not (_raised_leads.chance_below(means, 0, m, level) < LONGEST):
            continue
        bound = _raised_leads.chance_below(means, 0, m, level)
        more = n + generator.integers(0, int(n) + 2)
        larger = min(m + generator.exponential() * 0.3 / np.sqrt(n), 1.0)
        later = tail_bound(None, (1.0 - larger) * more + 1.0, larger * more + 1.0, 1.0 - level)
        assert later <= bound * (1 + 1e-9), (n, m, level, more, larger)
        checked += 1
    assert checked > 1000


@pytest.mark.parametrize(("first", "last"), [(5.0, 5.0), (1.5, 7.0)])
def test_a_round_of_a_lead_chooses_as_samples_of_all_arms_do(first: float, last: float) -> None:
    # Every branch is frequent: the leader is below the level in 4 % of the rounds, the rivals are
    # above it in 4 % and 8 %. `first` and `last` are log t at both ends of the window.
    posteriors = (np.array([64.0, 16.0, 64.0]), np.array([0.33, 0.26, 0.55]), np.full(3, 0.004))
    means, log_t, leader, level = RaisedMeans(*posteriors), 5.0, 2, 0.46
    floor = raised(means, leader, first)
    below = _raised_leads.chance_below(means, leader, floor, level)
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


def test_a_batch_of_lazy_dp_ts_ends_with_the_pull_that_releases() -> None:
    means, fresh = RaisedMeans(*np.ones((3, 2))), lazy_dp_ts.no_rewards(2, 1.0)
    bandit = started(GAMES["lazy, two arms"], 1000, [])
    for power in range(1, 8):
        for most, pulls in ((2**power - 1, 2**power - 1), (5, 1)):
            assert means.rewards.tolist() == [1.0, 2.0 ** (power - 1)]
            floor = raised(means, 1, 3.0)
            assert (
                lazy_dp_ts.lazy_pull_leader(fresh, means, bandit, rng(power), 1, 3.0, floor, most)
                == pulls
            )
    assert means.rewards.tolist() == [1.0, 128.0]
    assert bandit.pulls.tolist() == [0, 254]
