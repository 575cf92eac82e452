"""Law of the arm with the largest sample: the arms above a level against one draw per arm."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from cells import SAMPLERS
from many_runs import final_outcomes
from scipy import stats

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new, dp_ts, lazy_dp_ts, ts
from dpbandits.algorithms._raised_means import Log, RaisedMeans, raised_numbers
from dpbandits.contract.playing import p_value
from dpbandits.core.bandit import new_bandit
from dpbandits.environments import bernoulli, beta
from dpbandits.fast import _largest_sample
from dpbandits.fast import lazy_dp_ts as fast_lazy
from dpbandits.fast._beta import log_gamma, sample_tail, tail_bound
from dpbandits.fast._largest_sample import (
    OFTEN,
    chance_above,
    first,
    follow_totals,
    largest_hit,
    numbers,
    sample,
    sample_above,
)
from dpbandits.fast._raised_means import Raised

C2, GAP = (0.75, 0.625, 0.5, 0.375, 0.25), (0.8, 0.05, 0.05, 0.05, 0.05)
CLOSE, EQUAL = (0.6, 0.5), (0.5, 0.5, 0.5, 0.5, 0.5)
MANY = tuple(0.3 + 0.02 * arm for arm in range(17))
LEADER = tuple(0.45 + 0.05 * arm for arm in range(5))  # the worst arm is the first
# Algorithm, parameters with a short start, means, horizon (for the last ones long enough for levels
# that are rarer), runs.
GAMES: list[tuple[str, Any, tuple[float, ...], int, int]] = [
    ("dp-ftpl-gauss", dp_ftpl_gauss.Params(1.0, 0.01), CLOSE, 1500, 800),
    ("dp-ftpl-gauss", dp_ftpl_gauss.Params(1.0, 0.01), LEADER, 22_000, 150),
    ("dp-ftpl-gauss", dp_ftpl_gauss.Params(1.0, 1e-10), MANY, 2500, 400),
    ("dp-ftpl-beta", dp_ftpl_beta.Params(1e6, 0.01), CLOSE, 1500, 800),
    ("dp-ftpl-beta", dp_ftpl_beta.Params(1e6, 0.01), MANY, 2500, 400),
    ("dp-ftpl-beta", dp_ftpl_beta.Params(1e6, 0.01), LEADER, 22_000, 150),
    ("dp-ftpl-new", dp_ftpl_new.Params(1.0, 0.01, 1500), CLOSE, 1500, 800),
    ("dp-ftpl-new", dp_ftpl_new.Params(0.2, 0.0, 2500), MANY, 2500, 400),
    ("dp-ftpl-new", dp_ftpl_new.Params(1.0, 0.05, 1500), EQUAL, 1500, 600),
    ("dp-ftpl-new", dp_ftpl_new.Params(1.0, 0.01, 22_000), LEADER, 22_000, 150),
    ("ts", ts.Params(), C2, 3000, 800),
    ("ts", ts.Params(), GAP, 3000, 800),
    ("ts", ts.Params(), (0.6, 0.5), 6000, 500),
    ("lazy-dp-ts", lazy_dp_ts.Params(500.0), C2, 4000, 800),
    ("lazy-dp-ts", lazy_dp_ts.Params(1.0), C2, 8000, 500),
    ("lazy-dp-ts", lazy_dp_ts.Params(5.0, Log.NATURAL), (0.5, 0.5), 3000, 800),
    ("lazy-dp-ts", lazy_dp_ts.Params(20.0), GAP, 3000, 800),
    ("lazy-dp-ts", lazy_dp_ts.Params(10.0), MANY, 6000, 400),
    ("dp-ts", dp_ts.Params(500.0), C2, 4000, 800),
    ("dp-ts", dp_ts.Params(20.0, Log.NATURAL), C2, 8000, 400),
    ("dp-ts", dp_ts.Params(5.0), (0.9, 0.3), 6000, 500),
    ("dp-ts", dp_ts.Params(50.0), GAP, 3000, 800),
    ("dp-ts", dp_ts.Params(100.0), MANY, 6000, 400),
]
INNER = (50, 500, 1400)
# A correct scheme fails any of the comparisons with probability 10^-4.
LIMIT = 1e-4 / sum(len(means) + 1 + len(INNER) for _, _, means, _, _ in GAMES)


def outcomes(
    game: tuple[str, Any, tuple[float, ...], int, int], per_round: bool, law: Any = bernoulli
) -> np.ndarray:
    """Return the regret on the way and at the end, and the pulls of each arm, a row per run."""
    algorithm, params, means, horizon, runs = game
    arms = law.law(law.Params(means))
    return final_outcomes(
        algorithm, params, arms, len(means), horizon, 3 + per_round, runs, per_round, INNER
    )


def assert_same_law(game: tuple[str, Any, tuple[float, ...], int, int], law: Any) -> None:
    scheme, plain = (outcomes(game, per_round, law) for per_round in (False, True))
    for column in range(scheme.shape[1]):
        assert p_value(scheme[:, column], plain[:, column]) > LIMIT
    assert len(np.unique(scheme[:, -1])) > 1
    assert (scheme != plain).any()


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES, ids=str)
def test_the_scheme_has_the_law_of_the_definition(
    game: tuple[str, Any, tuple[float, ...], int, int],
) -> None:
    assert {name for name, *_ in GAMES} == {*SAMPLERS}
    assert_same_law(game, bernoulli)


@pytest.mark.long
@pytest.mark.parametrize("game", [GAMES[0], GAMES[6]], ids=str)
def test_it_has_so_on_rewards_in_between(
    game: tuple[str, Any, tuple[float, ...], int, int],
) -> None:
    assert_same_law(game, beta)


# A few rounds ----------------------------------------------------------------------------------

# Arms in states that no algorithm's start produces: narrow, wide, far below; more than a stretch.
PULLS = np.array([100.0, 400.0, 97.0, 200.0, 900.0] * 4)
SUMS = PULLS * np.array([0.5, 0.52, 0.47, 0.53, 0.5] * 4) + np.linspace(-2.0, 2.0, 20)


def plain_choices(law: Any, rounds: int, runs: int) -> Counter[tuple[int, ...]]:
    """Count the arms pulled in a few rounds, with one draw per arm; every reward is 0.

    The draws of theta are NumPy's own, all runs at once.
    """
    rng = np.random.default_rng(12)
    arms = np.arange(PULLS.size)
    a_and_b = np.array(
        [[numbers(law, SUMS[arm], PULLS[arm] + more) for more in range(rounds)] for arm in arms]
    )
    pulled = np.zeros((runs, PULLS.size), np.int64)
    chosen = np.empty((runs, rounds), np.int64)
    for i in range(rounds):
        a, b = np.moveaxis(a_and_b[arms, pulled], -1, 0)
        chosen[:, i] = np.argmax(draws(law, rng, a, b), axis=1)
        pulled[np.arange(runs), chosen[:, i]] += 1
    return Counter(map(tuple, np.sort(chosen, axis=1).tolist()))


def draws(law: Any, rng: np.random.Generator, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a theta for every entry of the parameters, of their shape."""
    if law is GAUSS:
        return rng.normal(a, b)
    return rng.beta(a, b)


def exact_choices(law: Any, rounds: int, runs: int) -> Counter[tuple[int, ...]]:
    """Count the same by the arms above a level, without the compiler."""
    rng, counts = np.random.default_rng(13), Counter[tuple[int, ...]]()
    zeros = bernoulli.law(bernoulli.Params((0.0,) * PULLS.size))
    for _ in range(runs):
        bandit = new_bandit(zeros, PULLS.size, rounds, np.array([rounds]), rng)
        follow_totals(law, bandit, rng, SUMS.copy(), PULLS.copy())
        counts[tuple(np.repeat(np.arange(PULLS.size), bandit.pulls).tolist())] += 1
    return counts


# Two rounds, as the second follows an update of what the first pulled. `make slow` has every law
# with every chance to miss the level, and more games, for smaller differences.
@pytest.mark.parametrize(
    ("law", "missed", "rounds", "games"),
    [
        ("gauss", 0.03, 2, 5_000),
        ("beta", 0.3, 2, 5_000),
        *(
            pytest.param(law, missed, rounds, 20_000, marks=pytest.mark.slow)
            for law in ("gauss", "beta")
            for missed in (0.03, 0.3, 0.8)
            for rounds in (1, 2)
        ),
    ],
)
def test_the_level_moves_no_choice(
    law: str, missed: float, rounds: int, games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(14)
    of_arms = [numbers(LAWS[law], total, n) for total, n in zip(SUMS, PULLS, strict=True)]
    largest = [max(sample(LAWS[law], rng, a, b) for a, b in of_arms) for _ in range(500)]
    level = float(np.quantile(largest, missed))
    monkeypatch.setattr(_largest_sample, "new_level", lambda *_: level)
    monkeypatch.setattr(_largest_sample, "HIT", 0.0)  # otherwise low levels would not be used
    exact, plain = (play(LAWS[law], rounds, games) for play in (exact_choices, plain_choices))
    # 21 comparisons.
    assert chi_squared(exact, plain) > 1e-4 / 21


def chi_squared(first: Counter[tuple[int, ...]], second: Counter[tuple[int, ...]]) -> float:
    """Return the p-value of a chi-squared test, with rare outcomes pooled."""
    counts = np.array([[counts[who] for who in first | second] for counts in (first, second)])
    rare = counts.sum(axis=0) < 20
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


# The pieces ------------------------------------------------------------------------------------

GAUSS = dp_ftpl_gauss.Params(1.0, 0.01)
BETA = dp_ftpl_beta.Params(1.0, 0.01)


def upper_quantile(law: Any, a: float, b: float, chance: Any) -> Any:
    if law is GAUSS:
        return stats.norm.isf(chance, a, b)
    return stats.beta.isf(chance, a, b)


LAWS = {"gauss": GAUSS, "beta": BETA}


@pytest.mark.parametrize("chance", [0.24, 0.05, 0.001])
@pytest.mark.parametrize(("total", "n"), [(60.0, 97.0), (3.0, 120.0), (700.5, 1000.0)])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_what_is_above_a_level_has_the_law_of_samples_that_are(
    law: Any, total: float, n: float, chance: float
) -> None:
    rng, draws = np.random.default_rng(8), 20_000
    a, b = numbers(law, total, n)
    level = upper_quantile(law, a, b, chance)
    bound = chance_above(law, a, b, level)
    assert bound >= chance * (1 - 1e-9)
    drawn = np.array([sample_above(law, rng, a, b, level) for _ in range(draws)])
    above = drawn[drawn > -math.inf]
    assert np.all(above >= level)
    # 45 cases of 2 comparisons.
    limit = 1e-4 / 90
    assert stats.binomtest(above.size, draws, min(chance / bound, 1.0)).pvalue > limit
    if bound == pytest.approx(chance, rel=1e-9):
        assert above.size == draws
    # The excess over the level, compared with plain samples above it.
    u = 1.0 - chance * np.random.default_rng(9).random(draws)
    plain = upper_quantile(law, a, b, 1.0 - u)
    assert stats.ks_2samp(above, plain).pvalue > limit


@pytest.mark.parametrize(("total", "n"), [(0.0, 97.0), (60.0, 97.0), (5e5, 1e6)])
def test_the_bound_of_beta_is_its_density_over_its_slope(total: float, n: float) -> None:
    a, b = numbers(BETA, total, n)
    for chance in (0.2, 1e-3, 1e-9):
        level = upper_quantile(BETA, a, b, chance)
        step = 1e-3 * (level - a / (a + b))
        around = [stats.beta.logpdf(level + d, a, b) for d in (-step, step)]
        slope = (around[0] - around[1]) / (2 * step)
        expected = stats.beta.pdf(level, a, b) / slope
        assert chance_above(BETA, a, b, level) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_a_level_that_is_often_passed_has_a_bound_that_says_so(law: Any) -> None:
    a, b = numbers(law, 60.0, 97.0)
    for chance in (1.01 * OFTEN, 0.5, 0.9):
        assert chance_above(law, a, b, upper_quantile(law, a, b, chance)) >= OFTEN
    rng = np.random.default_rng(10)
    level = upper_quantile(law, a, b, 0.3)
    above = sum(sample(law, rng, a, b) > level for _ in range(20_000))
    assert stats.binomtest(above, 20_000, 0.3).pvalue > 1e-5


@pytest.mark.parametrize("arms", [1, 5, 40])
def test_points_on_the_line_hit_each_arm_with_its_chance_independently(
    arms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(11)
    chances = rng.random(arms) * OFTEN
    chances[arms // 2] = 0.0
    length, line, rounds = -np.log1p(-chances), float(-np.log1p(-chances).sum()), 20_000
    hits = np.zeros((rounds, arms))
    point = rng.standard_exponential()

    def draw(law: Any, rng: Any, a: int, b: float, level: float) -> float:
        hits[i, a] += 1
        return -abs(a - arms / 3)

    monkeypatch.setattr(_largest_sample, "numbers_at", lambda state, arm, now: (arm, 0.0))
    monkeypatch.setattr(_largest_sample, "chance_above", lambda law, a, b, level: chances[a])
    monkeypatch.setattr(_largest_sample, "sample_above", draw)
    for i in range(rounds):
        theta, arm, point = largest_hit(MEANS, rng, length, 0.0, 0.0, point)
        point -= line
        hit_now = np.flatnonzero(hits[i])
        assert theta == max((-abs(a - arms / 3) for a in hit_now), default=-math.inf)
        assert not hit_now.size or theta == -abs(arm - arms / 3)
    assert hits.max() <= 1.0
    for arm, count in enumerate(hits.sum(axis=0)):
        assert stats.binomtest(int(count), rounds, chances[arm]).pvalue > 1e-4 / 90
    if arms > 1:
        # No correlation between pairs of arms, neighbours or not.
        together = np.cov(hits.T)
        deviation = np.sqrt(np.outer(np.diag(together), np.diag(together)) / rounds)
        off = ~np.eye(arms, dtype=bool) & (deviation > 0)
        assert np.all(np.abs(together[off]) < 6 * deviation[off])


# Means that rise with log t ----------------------------------------------------------------------

MEANS = Raised(
    RaisedMeans(np.array([64.0, 16.0]), np.array([0.2, 0.1]), np.array([0.005, 0.01])),
    None,
    lazy_dp_ts.Params(1.0),
)


@pytest.mark.parametrize("epsilon", [5.0, 0.5])
def test_a_game_takes_every_branch(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: arms that are hit, arms drawn below the level, and clipped arms.
    taken: Counter[str] = Counter()
    rng = [np.random.Generator(np.random.PCG64([4, role])) for role in range(2)]
    law = bernoulli.law(bernoulli.Params(C2))
    bandit = new_bandit(law, 5, 15_000, np.array([15_000]), rng[0])

    def counted(name: str) -> None:
        real = getattr(_largest_sample, name)

        def call(*arguments: Any) -> Any:
            taken[name] += 1
            return real(*arguments)

        monkeypatch.setattr(_largest_sample, name, call)

    for name in ("largest_hit", "sample_above", "new_level", "enter", "first"):
        counted(name)
    play: Any = fast_lazy.play
    getattr(play, "py_func", play)(lazy_dp_ts.Params(epsilon), bandit, rng[1])
    assert taken["sample_above"] > 20
    assert taken["new_level"] > 2
    assert (taken["first"] > 20) == (epsilon == 0.5)
    assert taken["largest_hit"] < 5_000, "most rounds sample the leader alone"


@pytest.mark.parametrize("x", [1.0, 1.5, 2.0, 7.3, 13.9, 14.0, 250.5, 1e6])
def test_log_gamma_is_that_of_the_library(x: float) -> None:
    assert log_gamma(x) == pytest.approx(math.lgamma(x), rel=1e-10, abs=1e-10)


SHAPES = [(1.0, 1.0), (8.0, 1.0), (1.0, 8.0), (3.5, 2.0), (40.0, 25.0), (900.0, 1.0), (5e4, 3e4)]


@pytest.mark.parametrize("chance", [0.2, 0.02, 1e-4])
@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_what_is_above_a_level_of_any_beta_law_has_the_law_of_samples_that_are(
    a: float, b: float, chance: float
) -> None:
    level, draws, rng = float(stats.beta.isf(chance, a, b)), 20_000, np.random.default_rng(3)
    bound = tail_bound(None, a, b, level)
    assert bound >= chance * (1 - 1e-9)
    if bound >= 1.0:  # such an arm is sampled in every round
        return
    drawn = np.array([sample_tail(None, rng, a, b, level) for _ in range(draws)])
    above = drawn[drawn > -math.inf]
    limit = 1e-4 / (2 * 3 * len(SHAPES))
    assert np.all(above >= level * (1 - 1e-12))
    assert stats.binomtest(above.size, draws, min(chance / bound, 1.0)).pvalue > limit
    tail = stats.beta.sf(above, a, b) / chance  # uniform
    assert stats.kstest(tail, "uniform").pvalue > limit


@pytest.mark.parametrize(("a", "b"), [(9.0, 1.0), (1.0, 9.0), (4.0, 2.5)])
def test_a_sample_has_the_law_of_beta(a: float, b: float) -> None:
    rng = np.random.default_rng(5)
    drawn = [sample(MEANS.law, rng, a, b) for _ in range(20_000)]
    assert stats.kstest(drawn, "beta", (a, b)).pvalue > 1e-4 / 3


def test_the_chance_of_an_arm_on_the_line_grows_with_t() -> None:
    # So that the chance at the end of a window is the largest one of the window.
    rng, checked = np.random.default_rng(6), 0
    for _ in range(4000):
        n = float(2 ** rng.integers(0, 18))
        arm = np.array([n]), np.array([rng.uniform(-0.2, 1.0)]), np.array([rng.exponential() / n])
        means, log_t = RaisedMeans(*arm), rng.uniform(1.0, 20.0)
        later = log_t * (1.0 + rng.exponential() * 0.05)
        a, b = raised_numbers(means, 0, later)
        level = float(stats.beta.isf(10.0 ** rng.uniform(-6.0, -0.61), a, b))
        if not 0.0 < level < 1.0 or not tail_bound(means, a, b, level) < OFTEN:
            continue
        now = tail_bound(means, *raised_numbers(means, 0, log_t), level)
        assert now <= tail_bound(means, a, b, level) * (1 + 1e-9)
        checked += 1
    assert checked > 2000


@pytest.mark.parametrize("later", [1.0, 1.3, 2.0])
def test_an_arm_on_the_line_is_above_the_level_with_the_chance_of_its_round(later: float) -> None:
    # Two arms with the segments of a later round; the θ of those that are hit exceed the level.
    means, log_t, level, games, rng = MEANS.law, 5.0, 0.34, 20_000, np.random.default_rng(7)
    ends = [raised_numbers(means, arm, later * log_t) for arm in (0, 1)]
    length = -np.log1p([-tail_bound(means, *numbers, level) for numbers in ends])
    point, line, hits = rng.standard_exponential(), float(length.sum()), Counter[int]()
    for _ in range(games):
        theta, arm, point = largest_hit(MEANS, rng, length, log_t, level, point)
        point -= line
        hits[arm if theta > level else -1] += 1
    chances = [float(stats.beta.sf(level, *raised_numbers(means, arm, log_t))) for arm in (0, 1)]
    none = (1.0 - chances[0]) * (1.0 - chances[1])
    assert stats.binomtest(hits[-1], games, none).pvalue > 1e-4 / 6
    # Both are hit in few games, and then the larger θ counts.
    assert abs(hits[0] / games - chances[0]) < chances[0] * chances[1] + 0.01
    assert 0.02 < none < 0.98


def test_the_first_of_some_waiting_times_has_the_chance_of_its_rate() -> None:
    # The largest of θ with laws Beta(a, 1), by the law of -log θ and directly.
    rate, rng, games = np.array([3.0, 0.0, 1.0, 6.0, 0.0]), np.random.default_rng(8), 20_000
    won = Counter(first(rng, rate, 10.0) for _ in range(games))
    direct = np.argmax(rng.beta(rate[[0, 2, 3]], 1.0, (games, 3)), axis=1)
    for place, arm in enumerate((0, 2, 3)):
        assert stats.binomtest(won[arm], games, rate[arm] / 10.0).pvalue > 1e-4 / 6
        assert stats.binomtest(int(np.sum(direct == place)), games, rate[arm] / 10.0).pvalue > 1e-4
    assert {*won} == {0, 2, 3}
