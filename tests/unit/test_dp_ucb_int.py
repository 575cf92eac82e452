"""DP-UCB-INT: its constants, its release counts, its choices and its budget."""

import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pytest
from scipy.special import zeta

from dpbandits.algorithms import dp_ucb_int
from dpbandits.algorithms.dp_ucb_int import Noise, Params, Schedule
from dpbandits.core import parameters
from dpbandits.core.bandit import Bandit, new_bandit, playing, pull, rounds_played
from dpbandits.core.errors import UserError
from dpbandits.core.power_sums import power_sum
from dpbandits.environments import bernoulli, beta
from dpbandits.experiments.budgets import budget
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import sidecar
from dpbandits.privacy.releases import composed_epsilon

E10 = math.exp(-10)
TARGETS = [(1.0, 0.01), (1.0, E10), (0.1, 0.01), (0.1, E10)]


def counts(params: Params) -> Iterator[int]:
    """Yield W_1, W_2, ... as the algorithm computes them."""
    epsilon, n, interval = dp_ucb_int.input_epsilon(params), 0, 1
    while True:
        interval = dp_ucb_int.next_interval(params, epsilon, n, interval)
        n += interval
        yield n


def literal_counts(params: Params, epsilon: float) -> Iterator[int]:
    """Yield W_1, W_2, ... by Lemma B.1, term by term."""
    if params.schedule is Schedule.CONSTANT:
        yield from itertools.count(math.ceil(1 / epsilon), math.ceil(1 / epsilon))
    s = {Schedule.SERIES: params.v, Schedule.SERIES_X: params.v / 2}[params.schedule]
    total = 0.0
    for y in itertools.count(1):
        total += y**-s
        if total >= 1 / (epsilon * y**s):
            yield y
            total = 0.0


def literal_epsilon(params: Params) -> float:
    """Return Corollary 3.2 as printed."""
    eight, log = 8 * zeta(params.v), math.log(1 / params.delta)
    return float((math.sqrt((log + 4 * params.epsilon) / eight) - math.sqrt(log / eight)) ** 2)


# Constants ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("v", [1.000001, 1.01, 1.1, 1.25, 1.5])
def test_the_power_sum_to_infinity_is_the_zeta_function(v: float) -> None:
    assert power_sum(1.0, math.inf, v) == pytest.approx(zeta(v), rel=4e-15)


@pytest.mark.parametrize("s", [0.505, 0.55, 0.75, 1.000001, 1.1, 1.5])
def test_the_power_sum_is_the_sum_of_powers(s: float) -> None:
    for first in (1, 2, 31, 32, 33, 34, 1000, 10**9, 2**52):
        for terms in (0, 1, 2, 31, 32, 33, 253, 20_000):
            last = first + terms - 1
            expected = math.fsum(float(i) ** -s for i in range(first, last + 1))
            found = power_sum(float(first), float(last), s)
            assert found == pytest.approx(expected, rel=1e-13)


def test_the_power_sum_has_the_same_bits_compiled() -> None:
    compiled: Any = numba.njit(power_sum)
    rng = np.random.default_rng(3)
    for s, digits in zip(rng.uniform(0.5, 1.5, 2000), rng.uniform(0, 12, 2000), strict=True):
        first = float(int(10**digits))
        for last in (first + 200.0, first * 1.5, math.inf):
            assert compiled(first, last, s) == power_sum(first, last, s)


@pytest.mark.parametrize(
    ("target", "epsilon", "interval", "series", "series_x"),
    [
        ((1.0, 0.01), "0.00732374", 137, 29, 69),
        ((1.0, E10), "0.00396432", 253, 46, 124),
        ((0.1, 0.01), "9.83516e-05", 10168, 928, 4654),
        ((0.1, E10), "4.63173e-05", 21591, 1751, 9834),
    ],
)
def test_the_constants_at_v_1_1(
    target: tuple[float, float], epsilon: str, interval: int, series: int, series_x: int
) -> None:
    params = Params(*target)
    assert f"{dp_ucb_int.input_epsilon(params):.6g}" == epsilon
    first = [next(counts(params._replace(schedule=schedule))) for schedule in Schedule]
    assert first == [series, series_x, interval]


@pytest.mark.parametrize("v", [1.01, 1.1, 1.5])
@pytest.mark.parametrize("delta", [1e-12, E10, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 20.0])
def test_the_input_epsilon_is_that_of_corollary_3_2(epsilon: float, delta: float, v: float) -> None:
    params = Params(epsilon, delta, v)
    found = dp_ucb_int.input_epsilon(params)
    assert found == pytest.approx(literal_epsilon(params), rel=1e-9)
    # It inverts Corollary 3.1.
    spent = 2 * found * zeta(v)
    assert spent + math.sqrt(spent * math.log(1 / delta)) == pytest.approx(epsilon, rel=1e-12)


def test_the_defaults_are_those_of_the_paper() -> None:
    assert Params(1.0) == (1.0, E10, 1.1, Schedule.SERIES, Noise.PER_RELEASE)


@pytest.mark.parametrize("wrong", [{"v": 1.0}, {"v": 1.51}, {"delta": 0.0}, {"delta": 1.1}])
def test_what_the_corollary_does_not_cover_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UserError, match=r"must be in \("):
        parameters.build(Params, {"epsilon": 1.0, **wrong}, "dp-ucb-int", lambda name: "test")


# The release counts ------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("v", [1.05, 1.1, 1.5])
@pytest.mark.parametrize("target", [*TARGETS, (0.5, 1.0), (3.0, E10), (30.0, E10), (500.0, 0.1)])
def test_the_release_counts_are_those_of_lemma_b_1(
    target: tuple[float, float], v: float, schedule: Schedule
) -> None:
    params = Params(*target, v, schedule)
    literal = literal_counts(params, literal_epsilon(params))
    expected = list(itertools.takewhile(lambda n: n <= 200_000, itertools.islice(literal, 3000)))
    assert expected
    assert list(itertools.islice(counts(params), len(expected))) == expected


@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_intervals_grow_up_to_one_over_epsilon(epsilon: float, schedule: Schedule) -> None:
    params = Params(epsilon, schedule=schedule)
    longest = math.ceil(1 / dp_ucb_int.input_epsilon(params))
    first = list(itertools.islice(counts(params), 3000))
    intervals = np.diff([0, *first])
    assert np.all(np.diff(intervals) >= 0)
    assert intervals[0] >= 1
    assert intervals[-1] <= longest
    # At large counts the limit is practically reached.
    far = dp_ucb_int.next_interval(params, 1 / (longest - 0.5), 10**15, 1)
    assert far == longest


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1e300])
def test_a_budget_beyond_reason_is_played(epsilon: float) -> None:
    bandit = a_bandit((0.5, 0.4), 300)
    dp_ucb_int.play(Params(epsilon), bandit, generator())
    assert bandit.pulls.sum() == 300
    if epsilon < 1.0:
        assert bandit.pulls.tolist() == [150, 150]


# The choices -------------------------------------------------------------------------------------


def a_bandit(
    means: tuple[float, ...], horizon: int, run: int = 0, law: Any = bernoulli, single: bool = True
) -> Bandit:
    """Return a bandit that records every round; `single` draws rewards in order of the pulls."""
    rng = np.random.Generator(np.random.PCG64([1, run]))
    rounds = np.arange(1, horizon + 1)
    return new_bandit(law.law(law.Params(means)), len(means), horizon, rounds, rng, single)


def generator(run: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([2, run]))


def literal_dp_ucb_int(params: Params, bandit: Bandit, rng: Any) -> int:
    """Play Algorithm 3 round by round as listed; return how often an arm was left halfway."""
    arms = range(len(bandit.pulls))
    every = literal_counts(params, literal_epsilon(params))
    released = set(itertools.takewhile(lambda n: n <= bandit.horizon, every))
    first = min(released, default=bandit.horizon)
    rewards: list[list[float]] = [[] for _ in arms]
    mean: dict[tuple[int, int], float] = {}
    noise: dict[tuple[int, int], float] = {}
    x = [0.0 for _ in arms]
    halfway, before = 0, -1
    while playing(bandit):
        t = int(rounds_played(bandit)) + 1
        if t <= len(x) * first:
            chosen = (t - 1) % len(x)
        else:
            for a in arms:
                n = len(rewards[a])
                if n not in released:
                    continue
                fresh = (a, n) not in noise
                if fresh:
                    mean[a, n] = sum(rewards[a]) / n
                if fresh or params.noise is Noise.EVERY_ROUND:
                    noise[a, n] = rng.laplace(0.0, n ** (params.v / 2 - 1))
                if fresh or params.noise is not Noise.FROZEN:
                    x[a] = mean[a, n] + noise[a, n] + math.sqrt(2 * math.log(t) / n)
            chosen = x.index(max(x))
            halfway += chosen != before and before >= 0 and len(rewards[before]) not in released
            before = chosen
        rewards[chosen].append(pull(bandit, chosen))
    return halfway


# Distinct gaps, so that the regret of every round identifies the arm that was pulled.
INSTANCES = [(0.6, 0.5, 0.3), (0.5, 0.51, 0.53, 0.57, 0.4), (0.05, 0.9), (0.5, 0.49)]


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("law", [bernoulli, beta], ids=["bernoulli", "beta"])
def test_every_round_is_that_of_the_listing(law: Any, schedule: Schedule, noise: Noise) -> None:
    for run, (means, (epsilon, delta, v)) in enumerate(
        itertools.product(INSTANCES, [(1.0, 0.01, 1.1), (2.0, E10, 1.3), (9.0, 0.1, 1.5)])
    ):
        params = Params(epsilon, delta, v, schedule, noise)
        ours, literal = (a_bandit(means, 3000, run, law) for _ in range(2))
        dp_ucb_int.play(params, ours, generator(run))
        literal_dp_ucb_int(params, literal, generator(run))
        np.testing.assert_array_equal(ours.curve, literal.curve)
        assert ours.pulls.tolist() == literal.pulls.tolist()


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize("schedule", Schedule)
def test_an_arm_that_is_overtaken_is_left_in_that_round(schedule: Schedule, noise: Noise) -> None:
    params = Params(4.0, 0.01, 1.3, schedule, noise)
    halfway = 0
    for run in range(8):
        means = tuple(0.5 + 0.001 * 2**k for k in range(7))
        ours, literal = (a_bandit(means, 4000, run) for _ in range(2))
        dp_ucb_int.play(params, ours, generator(run))
        halfway += literal_dp_ucb_int(params, literal, generator(run))
        np.testing.assert_array_equal(ours.curve, literal.curve)
    # Overtaken between two releases, by an arm that waits at one while its bonus grows.
    assert halfway == 0 if noise is Noise.FROZEN else halfway >= 5


@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("horizon", [1, 2, 3, 28, 29, 30, 57, 58, 59, 86, 87, 88, 89, 120])
def test_a_horizon_around_the_end_of_the_round_robin(horizon: int, schedule: Schedule) -> None:
    # `series` releases first after 29 pulls, with three arms after 87 rounds.
    params = Params(1.0, 0.01, schedule=schedule)
    ours, literal = (a_bandit((0.6, 0.5, 0.3), horizon) for _ in range(2))
    dp_ucb_int.play(params, ours, generator())
    literal_dp_ucb_int(params, literal, generator())
    np.testing.assert_array_equal(ours.curve, literal.curve)


def test_the_readings_differ() -> None:
    seen = set()
    for schedule, noise in itertools.product(Schedule, Noise):
        bandit = a_bandit((0.5, 0.49), 20_000)
        dp_ucb_int.play(Params(1.0, 0.01, 1.1, schedule, noise), bandit, generator())
        seen.add(bandit.pulls[0])
    assert len(seen) == len(Schedule) * len(Noise)


# The budget --------------------------------------------------------------------------------------


# Composed epsilon of the releases at delta over the paper's T = 10^5: series, series-x, constant.
SPENT = {
    (1.0, 0.01): (0.758200, 0.580272, 0.496092),
    (1.0, E10): (0.795108, 0.582342, 0.492404),
    (0.1, 0.01): (0.062283, 0.036703, 0.025905),
    (0.1, E10): (0.035431, 0.016966, 0.009212),
}


@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("target", SPENT, ids=str)
def test_what_is_spent_over_the_horizon_of_the_paper(
    target: tuple[float, float], schedule: Schedule
) -> None:
    for noise in (Noise.PER_RELEASE, Noise.FROZEN):
        params = Params(*target, schedule=schedule, noise=noise)
        spent = composed_epsilon(dp_ucb_int.releases(params, 2, 10**5), params.delta)
        assert spent == pytest.approx(SPENT[target][schedule], abs=6e-7)
        assert spent <= params.epsilon
        # The same, computed from the counts.
        literal = literal_counts(params, literal_epsilon(params))
        most = 10**5 - next(counts(params))  # the other arm has its own first release
        made = itertools.takewhile(most.__ge__, literal)
        each = np.array([n ** (-params.v / 2) for n in made])
        root = math.sqrt(2 * math.log(1 / params.delta) * np.sum(each**2))
        assert spent == pytest.approx(min(each.sum(), each @ np.expm1(each) + root), rel=1e-12)


@pytest.mark.parametrize(
    "horizon", [10**6, 3 * 10**6, pytest.param(3 * 10**7, marks=pytest.mark.slow)]
)
def test_groups_of_releases_are_declared_a_little_worse_than_they_are(
    horizon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for params in (Params(1.0, 0.01, schedule=schedule) for schedule in Schedule):
        grouped = composed_epsilon(dp_ucb_int.releases(params, 1, horizon), params.delta)
        with monkeypatch.context() as patch:
            patch.setattr(dp_ucb_int, "LISTED", horizon)
            listed = composed_epsilon(dp_ucb_int.releases(params, 1, horizon), params.delta)
        assert listed < grouped < 1.002 * listed


@pytest.mark.parametrize("schedule", Schedule)
def test_fresh_noise_in_every_round_has_no_budget(schedule: Schedule) -> None:
    params = Params(1.0, schedule=schedule, noise=Noise.EVERY_ROUND)
    assert composed_epsilon(dp_ucb_int.releases(params, 2, 10**5), params.delta) == math.inf
    cell = RegretExperiment(
        "dp-ucb-int", params, "bernoulli", bernoulli.Params((0.9, 0.6)), 10**5, Grid.END, 1
    )
    assert budget(cell) == math.inf
    written = json.dumps(sidecar.of_source(cell), allow_nan=False)
    assert json.loads(written)["composed_epsilon"] == "infinite"


def test_the_budget_of_a_cell_is_taken_at_its_delta() -> None:
    params = Params(1.0, 0.01)
    cell = RegretExperiment(
        "dp-ucb-int", params, "bernoulli", bernoulli.Params((0.9, 0.6)), 10**5, Grid.END, 1
    )
    assert budget(cell) == pytest.approx(0.758200, abs=6e-7)
