"""The bandit against a plain list of pulls; the helpers are plain Python here, compiled below."""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpbandits.environments import bernoulli, beta
from dpbandits.environments.adversaries import GainTable, Kind, Params, SwitchFeedback, table
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import Game, RegretExperiment
from dpbandits.kernel.bandit import (
    NO_PULL,
    NO_REWARD,
    Bandit,
    draw,
    draw_sum,
    has_closed_sum,
    new_bandit,
    playing,
    pull,
    pull_each,
    pull_many,
)
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.run.user_algorithms import NoParameters, register

MEANS = (1.0, 0.0, 0.5, 0.25)
CERTAIN = (1.0, 0.0, 1.0, 0.0)  # known rewards, with regret that varies


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def bandit_of(
    means: tuple[float, ...] = MEANS,
    horizon: int = 100,
    checkpoints: Any = None,
    per_round: bool = False,
    seed: int = 0,
) -> Bandit:
    law = bernoulli.law(bernoulli.Params(means))
    rounds = np.arange(1, horizon + 1) if checkpoints is None else np.asarray(checkpoints)
    return new_bandit(law, len(means), horizon, rounds, generator(seed), per_round)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("pull"), st.integers(0, 3)),
        st.tuples(st.just("many"), st.integers(0, 3), st.integers(0, 40)),
        st.tuples(
            st.just("each"),
            st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True),
            st.integers(0, 12),
        ),
    ),
    max_size=25,
)


@given(steps=steps, checkpoints=st.sets(st.integers(1, 100), min_size=1), per_round=st.booleans())
def test_the_ledger_is_that_of_the_same_pulls_one_by_one(
    steps: list[Any], checkpoints: set[int], per_round: bool
) -> None:
    rounds = sorted(checkpoints)
    bandit = bandit_of(CERTAIN, 100, rounds, per_round)
    arms: list[int] = []
    for kind, *arguments in steps:
        if not playing(bandit):
            break
        left = 100 - len(arms)
        if kind == "pull":
            (arm,) = arguments
            assert pull(bandit, arm) == CERTAIN[arm]
            arms.append(arm)
        elif kind == "many":
            arm, n = arguments
            assert pull_many(bandit, arm, n) == min(n, left) * CERTAIN[arm]
            arms += [arm] * min(n, left)
        else:
            active, passes = arguments
            order = (active * passes)[:left]
            sums = pull_each(bandit, np.array(active), passes)
            assert sums.tolist() == [order.count(arm) * CERTAIN[arm] for arm in active]
            arms += order
        assert bandit.clock[0] == len(arms)
        assert bandit.pulls.tolist() == [arms.count(arm) for arm in range(4)]
    reached = [t for t in rounds if t <= len(arms)]
    gaps = [1.0 - CERTAIN[arm] for arm in arms]  # the definition: sum_t (mu* - mu_{a_t})
    assert bandit.curve[: len(reached)].tolist() == [sum(gaps[:t]) for t in reached]
    assert np.isnan(bandit.curve[len(reached) :]).all()


def test_batches_stop_at_the_horizon() -> None:
    bandit = bandit_of(horizon=10)
    assert pull_many(bandit, 0, 10**18) == 10.0
    assert not playing(bandit)
    bandit = bandit_of(horizon=10)
    pull_each(bandit, np.array([0, 1, 2]), 2**62)
    assert bandit.pulls.tolist() == [4, 3, 3, 0]


def test_a_pull_beyond_the_horizon_writes_nothing_outside_the_curve() -> None:
    bandit = bandit_of(horizon=3)
    for _ in range(10):
        pull(bandit, 1)
    assert bandit.curve.tolist() == [1.0, 2.0, 3.0]
    assert bandit.clock[0] == 10
    assert bandit.clock[2] == NO_PULL


@pytest.mark.parametrize(
    "ask",
    [
        lambda bandit: pull(bandit, 4),
        lambda bandit: pull(bandit, -1),
        lambda bandit: pull_many(bandit, 4, 2),
        lambda bandit: pull_many(bandit, 0, -1),
        lambda bandit: pull_each(bandit, np.array([0, 4]), 2),
        lambda bandit: pull_each(bandit, np.array([-1, 0]), 2),
        lambda bandit: pull_each(bandit, np.array([0, 1]), -1),
    ],
)
@pytest.mark.parametrize("per_round", [False, True])
def test_an_arm_that_does_not_exist_ends_the_game_without_a_trace(
    ask: Any, per_round: bool
) -> None:
    def play(params: Any, bandit: Bandit, rng: Any) -> None:
        pull(bandit, 0)
        while playing(bandit):
            ask(bandit)
            played.append(bandit)

    played: list[Bandit] = []
    name = register(play)
    game = RegretExperiment(
        name, NoParameters(), "bernoulli", bernoulli.Params(MEANS), 9, Grid.END, 1
    )
    with pytest.raises(RuntimeError, match="play pulled an arm or rounds that do not exist"):
        Game(game).play(0, per_round)
    assert played[-1].pulls.tolist() == [1, 0, 0, 0]


def test_an_index_outside_an_array_is_an_error_in_the_code_of_a_user() -> None:
    @inlined
    def put(values: Any, place: Any) -> None:
        values[int(place)] = 1.0

    @kernel
    def direct(values: Any, place: Any) -> None:
        values[int(place)] = 1.0

    @kernel
    def through_a_helper(values: Any, place: Any) -> None:
        put(values, place)

    for function in (direct, through_a_helper):
        for place in (3.0, math.nan):
            with pytest.raises(IndexError):
                function(np.zeros(3), place)


class Claimed(NamedTuple):
    """Rewards that may be none."""

    gaps: np.ndarray
    reward: float


Claimed.__module__ = "__main__"  # as in a notebook
draw.register(Claimed)(lambda law, rng, arm, t: law.reward)
has_closed_sum.register(Claimed)(lambda law: True)
draw_sum.register(Claimed)(lambda law, rng, arm, n: n * law.reward)


@pytest.mark.parametrize("reward", [-1e-9, 1.001, math.nan, math.inf])
@pytest.mark.parametrize("per_round", [False, True])
def test_a_reward_outside_the_unit_interval_marks_the_game(reward: float, per_round: bool) -> None:
    asks: tuple[Any, ...] = (
        lambda bandit: pull(bandit, 0),
        lambda bandit: pull_many(bandit, 0, 2),
        lambda bandit: pull_each(bandit, np.array([0, 1]), 2),
    )
    for ask in asks:
        law = Claimed(np.zeros(2), reward)
        bandit = new_bandit(law, 2, 9, np.array([9]), generator(0), per_round)
        ask(bandit)
        assert bandit.clock[2] == NO_REWARD


@numba.njit
def sums_of_batches(bandit: Any, arm: int, n: int, batches: int) -> Any:
    sums = np.empty(batches)
    for i in range(batches):
        sums[i] = pull_many(bandit, arm, n)
    return sums


@numba.njit
def sums_of_passes(bandit: Any, arms: Any, passes: int, batches: int) -> Any:
    sums = np.empty((batches, arms.size))
    for i in range(batches):
        sums[i] = pull_each(bandit, arms, passes)
    return sums


@pytest.mark.parametrize("n", [1, 7, 200])
def test_a_batch_has_the_binomial_law(n: int) -> None:
    batches = 20_000
    for per_round in (False, True):
        bandit = bandit_of(horizon=n * batches, checkpoints=[n * batches], per_round=per_round)
        sums = sums_of_batches(bandit, 3, n, batches)
        expected = stats.binom(n, MEANS[3])
        # 5 standard errors of the mean and of the variance: less than one failure in 10^6.
        assert abs(sums.mean() - expected.mean()) < 5 * expected.std() / batches**0.5
        kurtosis = expected.stats(moments="k") + 3
        spread = expected.var() * ((kurtosis - 1) / batches) ** 0.5
        assert abs(sums.var() - expected.var()) < 5 * spread


def test_passes_give_every_arm_its_own_rewards() -> None:
    batches, passes = 4000, 30
    arms = np.array([2, 0, 3])
    for per_round in (False, True):
        bandit = bandit_of(
            horizon=batches * passes * 3, checkpoints=[batches * passes * 3], per_round=per_round
        )
        sums = sums_of_passes(bandit, arms, passes, batches)
        for column, arm in enumerate(arms):
            error = (passes * MEANS[arm] * (1 - MEANS[arm]) / batches) ** 0.5
            assert abs(sums[:, column].mean() - passes * MEANS[arm]) <= 5 * error
        correlation = np.corrcoef(sums[:, 0], sums[:, 2])[0, 1]
        assert abs(correlation) < 5 / batches**0.5


def test_beta_rewards_have_their_law() -> None:
    params = beta.Params((0.7, 0.2), concentration=3.0)
    law, rng = beta.law(params), generator(1)
    for arm, mean in enumerate(params.means):
        rewards = np.array([draw(law, rng, arm, 0) for _ in range(20_000)])
        assert rewards.min() >= 0
        assert rewards.max() <= 1
        variance = mean * (1 - mean) / (1 + params.concentration)
        assert abs(rewards.mean() - mean) < 5 * (variance / 20_000) ** 0.5
        assert stats.kstest(rewards, stats.beta(3 * mean, 3 * (1 - mean)).cdf).pvalue > 1e-4


# Tables of gains; tests/contract/test_oracles_tossou2017.py compares whole games on them ----------


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.SWITCHING])
def test_a_longer_table_begins_as_a_shorter_one(kind: Kind) -> None:
    long, short = (table(Params(kind), rounds, generator(3)).gains for rounds in (3000, 700))
    np.testing.assert_array_equal(long[:700], short)


def test_a_longer_walk_has_the_same_draws_on_another_scale() -> None:
    steps = []
    for horizon in (128, 4096):
        gains = table(Params(Kind.SWITCHING), horizon, generator(3)).gains[:128]
        # From an arm that is not below the walk; its first 128 values are far from 0 and 1.
        steps.append((0.5 - gains.min(axis=1)) * 9.0 * math.log2(horizon))
    np.testing.assert_allclose(steps[0], steps[1], atol=1e-9)


def test_a_batch_on_a_table_pays_for_its_first_round_and_ends_with_it() -> None:
    gains = np.array([[0.9, 0.2], [0.5, 0.6], [0.1, 0.8], [1.0, 0.0], [0.3, 0.7]])
    best = np.append(0.0, gains.cumsum(axis=0).max(axis=1))
    law = GainTable(gains, best, SwitchFeedback.OBSERVED, np.zeros(1), np.array([-1, 0]))
    bandit = new_bandit(law, 2, 5, np.array([5]), generator(3))
    assert pull_many(bandit, 0, 2) == pytest.approx(0.9 + 0.5)
    assert pull_many(bandit, 1, 2) == pytest.approx(0.0 + 0.0)
    assert pull_each(bandit, np.array([1, 0]), 7).tolist() == [0.7, 0.0]
    assert law.earned[0] == pytest.approx(2.1)
    for _ in range(9):  # no pull reads outside the table
        assert 0.0 <= pull(bandit, 1) <= 1.0
