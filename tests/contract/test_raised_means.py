"""Law of TS, Lazy-DP-TS and DP-TS (hu2022): the arms above a level against one draw per arm."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from many_runs import final_outcomes
from scipy import stats

from dpbandits.algorithms import _raised_means, dp_ts, lazy_dp_ts, ts
from dpbandits.algorithms._beta_tail import log_gamma, sample_tail, tail_bound
from dpbandits.algorithms._largest_sample import Method
from dpbandits.algorithms._listed_arms import OFTEN, enter, segment
from dpbandits.algorithms._raised_means import (
    Log,
    RaisedMeans,
    first,
    largest_hit,
    numbers_at,
    raised_sample,
)
from dpbandits.contract.playing import p_value
from dpbandits.core.bandit import new_bandit
from dpbandits.environments import bernoulli

C2, GAP = (0.75, 0.625, 0.5, 0.375, 0.25), (0.8, 0.05, 0.05, 0.05, 0.05)
MANY = tuple(0.3 + 0.02 * arm for arm in range(12))
# Algorithm, parameters but for the method, means, horizon, runs.
GAMES: list[tuple[Any, Any, tuple[float, ...], int, int]] = [
    (ts, ts.Params(), C2, 3000, 800),
    (ts, ts.Params(), GAP, 3000, 800),
    (ts, ts.Params(), (0.6, 0.5), 6000, 500),
    (lazy_dp_ts, lazy_dp_ts.Params(500.0), C2, 4000, 800),
    (lazy_dp_ts, lazy_dp_ts.Params(1.0), C2, 8000, 500),
    (lazy_dp_ts, lazy_dp_ts.Params(5.0, Log.NATURAL), (0.5, 0.5), 3000, 800),
    (lazy_dp_ts, lazy_dp_ts.Params(20.0), GAP, 3000, 800),
    (lazy_dp_ts, lazy_dp_ts.Params(10.0), MANY, 6000, 400),
    (dp_ts, dp_ts.Params(500.0), C2, 4000, 800),
    (dp_ts, dp_ts.Params(20.0, Log.NATURAL), C2, 8000, 400),
    (dp_ts, dp_ts.Params(5.0), (0.9, 0.3), 6000, 500),
    (dp_ts, dp_ts.Params(50.0), GAP, 3000, 800),
    (dp_ts, dp_ts.Params(100.0), MANY, 6000, 400),
]
INNER = (50, 500, 2000)
# A correct scheme fails any of the comparisons with probability 10^-4.
LIMIT = 1e-4 / sum(len(means) + 1 + len(INNER) for _, _, means, _, _ in GAMES)


def outcomes(
    module: Any, params: Any, means: tuple[float, ...], horizon: int, runs: int, method: Method
) -> np.ndarray:
    """Return the regret on the way and at the end, and the pulls of each arm."""
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    law, own = bernoulli.law(bernoulli.Params(means)), params._replace(method=method)
    return final_outcomes(name, own, law, len(means), horizon, 5 + method, runs, inner=INNER)


@pytest.mark.long
@pytest.mark.parametrize(("module", "params", "means", "horizon", "runs"), GAMES)
@pytest.mark.parametrize("share", [1.0, pytest.param(5.0, marks=pytest.mark.slow)])
def test_both_methods_have_the_same_law(
    module: Any, params: Any, means: tuple[float, ...], horizon: int, runs: int, share: float
) -> None:
    both = [outcomes(module, params, means, horizon, int(share * runs), each) for each in Method]
    values = [p_value(first, second) for first, second in zip(*(o.T for o in both), strict=True)]
    assert min(values) > LIMIT, values
    assert len(np.unique(both[0][:, -1])) > 1


@pytest.mark.parametrize("epsilon", [5.0, 0.5])
def test_a_game_takes_every_branch(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: arms that are hit, arms drawn below the level, and arms that leave the line.
    taken: Counter[str] = Counter()
    rng = [np.random.Generator(np.random.PCG64([4, role])) for role in range(2)]
    law = bernoulli.law(bernoulli.Params(C2))
    bandit = new_bandit(law, 5, 15_000, np.array([15_000]), rng[0])
    bandit = bandit._replace(per_round=True)  # without leads

    def counted(name: str, when: Any = lambda result: True) -> None:
        real = getattr(_raised_means, name)

        def call(*arguments: Any) -> Any:
            result = real(*arguments)
            taken[name] += bool(when(result))
            return result

        monkeypatch.setattr(_raised_means, name, call)

    sample_below = _raised_means.sample_below

    def below(means: RaisedMeans, rng: Any, arm: int, log_t: float, level: float) -> float:
        # Only arms on the line are drawn, which are not clipped, and with the log t of the round.
        assert numbers_at(means, arm, log_t)[1] > 1.0
        assert log_t == pytest.approx(math.log2(bandit.clock[0] + 1), rel=1e-12)
        taken["sample_below"] += 1
        taken["below, beside clipped arms"] += max(means.mean + means.slope * log_t) >= 1.0
        return float(sample_below(means, rng, arm, log_t, level))

    monkeypatch.setattr(_raised_means, "sample_below", below)
    counted("largest_hit")
    counted("sample_tail")
    counted("segment", lambda length: length == math.inf)
    play: Any = lazy_dp_ts.play
    getattr(play, "py_func", play)(lazy_dp_ts.Params(epsilon), bandit, rng[1])
    assert min(taken["sample_tail"], taken["sample_below"]) > 20
    assert taken["segment"] > 0
    assert (taken["below, beside clipped arms"] > 20) == (epsilon == 0.5)
    assert taken["largest_hit"] < 5_000, "most rounds sample the leader alone"


# The pieces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1.0, 1.5, 2.0, 7.3, 13.9, 14.0, 250.5, 1e6])
def test_log_gamma_is_that_of_the_library(x: float) -> None:
    assert log_gamma(x) == pytest.approx(math.lgamma(x), rel=1e-10, abs=1e-10)


LAWS = [(1.0, 1.0), (8.0, 1.0), (1.0, 8.0), (3.5, 2.0), (40.0, 25.0), (900.0, 1.0), (5e4, 3e4)]


@pytest.mark.parametrize("chance", [0.2, 0.02, 1e-4])
@pytest.mark.parametrize(("a", "b"), LAWS)
def test_what_is_above_a_level_has_the_law_of_samples_that_are(
    a: float, b: float, chance: float
) -> None:
    level, draws, rng = float(stats.beta.isf(chance, a, b)), 20_000, np.random.default_rng(3)
    bound = tail_bound(None, a, b, level)
    assert bound >= chance * (1 - 1e-9)
    if bound >= 1.0:  # such an arm is sampled in every round
        return
    drawn = np.array([sample_tail(None, rng, a, b, level) for _ in range(draws)])
    above = drawn[drawn > -math.inf]
    limit = 1e-4 / (2 * 3 * len(LAWS))
    assert np.all(above >= level * (1 - 1e-12))
    assert stats.binomtest(above.size, draws, min(chance / bound, 1.0)).pvalue > limit
    tail = stats.beta.sf(above, a, b) / chance  # uniform
    assert stats.kstest(tail, "uniform").pvalue > limit


@pytest.mark.parametrize(("a", "b"), [(9.0, 1.0), (1.0, 9.0), (4.0, 2.5)])
def test_a_sample_has_the_law_of_beta(a: float, b: float) -> None:
    rng = np.random.default_rng(5)
    drawn = [raised_sample(None, rng, a, b) for _ in range(20_000)]
    assert stats.kstest(drawn, "beta", (a, b)).pvalue > 1e-4 / 3


def test_the_chance_of_an_arm_on_the_line_grows_with_t() -> None:
    # So that the chance at the end of a window is the largest one of the window.
    rng, checked = np.random.default_rng(6), 0
    for _ in range(4000):
        n = float(2 ** rng.integers(0, 18))
        arm = np.array([n]), np.array([rng.uniform(-0.2, 1.0)]), np.array([rng.exponential() / n])
        means, log_t = RaisedMeans(*arm), rng.uniform(1.0, 20.0)
        later = log_t * (1.0 + rng.exponential() * 0.05)
        a, b = numbers_at(means, 0, later)
        level = float(stats.beta.isf(10.0 ** rng.uniform(-6.0, -0.61), a, b))
        if not 0.0 < level < 1.0 or not tail_bound(means, a, b, level) < OFTEN:
            continue
        now = tail_bound(means, *numbers_at(means, 0, log_t), level)
        assert now <= tail_bound(means, a, b, level) * (1 + 1e-9)
        checked += 1
    assert checked > 2000


@pytest.mark.parametrize("later", [1.0, 1.3, 2.0])
def test_an_arm_on_the_line_is_above_the_level_with_the_chance_of_its_round(later: float) -> None:
    # Two arms with the segments of a later round; the θ of those that are hit exceed the level.
    means = RaisedMeans(np.array([64.0, 16.0]), np.array([0.2, 0.1]), np.array([0.005, 0.01]))
    log_t, level, games, rng = 5.0, 0.34, 20_000, np.random.default_rng(7)
    of_later = [numbers_at(means, arm, later * log_t) for arm in (0, 1)]
    length = np.array([segment(tail_bound(means, *numbers, level)) for numbers in of_later])
    point, line, hits = rng.standard_exponential(), float(length.sum()), Counter[int]()
    for _ in range(games):
        theta, arm, point = largest_hit(means, rng, log_t, level, length, line, point)
        point -= line
        hits[arm if theta > level else -1] += 1
    chances = [float(stats.beta.sf(level, *numbers_at(means, arm, log_t))) for arm in (0, 1)]
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


def test_arms_are_listed_while_they_have_no_segment() -> None:
    often, listed, length = np.zeros(4, bool), np.zeros(4, np.int64), np.full(4, 0.1)
    many = 0
    for arm, own, expected in (
        (2, math.inf, {2}),
        (0, math.inf, {0, 2}),
        (1, 0.05, {0, 2}),
        (3, math.inf, {0, 2, 3}),
        (2, math.inf, {0, 2, 3}),
        (2, 0.2, {0, 3}),
        (3, 0.01, {0}),
        (0, 0.0, set[int]()),
    ):
        many = enter(often, listed, length, many, arm, own)
        assert {*listed[:many].tolist()} == {*np.flatnonzero(often).tolist()} == expected
        assert many == len(expected)
        assert length[arm] == (0.0 if own == math.inf else own)
