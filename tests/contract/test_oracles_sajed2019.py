"""SE, DP-SE, the stopping rules and the bounds of sajed2019 against tests/oracles/."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import sajed2019
from scipy import stats
from shared_games import LAWS, Scripted, compare
from streams import Draws, policy_stream, reward_stream

from dpbandits.algorithms import dp_se, dp_se_gauss, se
from dpbandits.environments import bernoulli
from dpbandits.kernel.bandit import new_bandit
from dpbandits.stopping import dp_exponential_nas, dp_nas, nas
from dpbandits.stopping._samples import SampleStream

# Bandits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_se_is_the_literal_one(law: str) -> None:
    taken: Counter[str] = Counter()
    many = [(0.9, 0.1), (0.2, 0.8, 0.7, 0.1), (0.5, 0.45, 0.9), (0.05, 0.04, 0.97), (0.5, 0.5)]
    for seed, (means, horizon) in enumerate(itertools.product(many, (7, 1500))):
        # T = 1 in beta = 1/T makes the intervals short.
        for t_param in (1, horizon):
            literal = sajed2019.SE(1 / t_param)
            taken += compare(se, se.Params(t_param), literal, law, means, horizon, seed)
    assert set(taken) == {"0 removed", "1 removed", "2 removed", "alone", "cut"}


def test_dp_se_is_the_literal_one() -> None:
    taken: Counter[str] = Counter()
    # Means, rounds, T of beta = 1/T, epsilon. Three epochs need close arms.
    games: list[tuple[tuple[float, ...], int, int, float]] = [
        ((0.9, 0.1), 3000, 3000, 1.0),
        ((0.1, 0.9, 0.15, 0.85), 3000, 2, 1.0),
        ((0.5, 0.55, 0.2), 12_000, 1, 2.0),
        ((0.5, 0.52), 30_000, 1, 0.05),
        ((0.5, 0.5, 0.5), 4000, 2, 0.02),
        ((0.6, 0.2), 5000, 5, 0.004),
        ((0.1, 0.6, 0.75), 6500, 1, 2.0),
    ]
    for seed, (means, horizon, t_param, epsilon) in enumerate(games):
        law = ("bernoulli", "beta")[seed % 2]
        params, literal = dp_se.Params(epsilon, t_param), sajed2019.DPSE(1 / t_param, epsilon)
        taken += compare(
            dp_se, params, literal, law, means, horizon, seed, lambda literal: len(literal.lost)
        )
        taken["cut"] += bool(literal.lost)
    kinds = {"privacy", "statistics", "0 removed", "1 removed", "2 removed", "alone", "cut"}
    assert set(+taken) == kinds | {"epoch 1", "epoch 2", "epoch 3"}


@pytest.mark.parametrize("elimination", dp_se.Elimination)
def test_dp_se_removes_arms_as_its_reading_says(elimination: dp_se.Elimination) -> None:
    literals = {"AT_ONCE": sajed2019.DPSE, "WHILE_ITERATING": sajed2019.DPSEWhileIterating}
    taken: Counter[str] = Counter()
    for seed in range(12):
        means = (0.9, 0.1, 0.2, 0.15, 0.88) if seed % 2 else (0.1, 0.2, 0.05, 0.9)
        literal = literals[elimination.name](1.0, 2.0)
        params = dp_se.Params(2.0, 1, elimination)
        lost = lambda literal: len(literal.lost)  # noqa: E731
        taken += compare(dp_se, params, literal, "bernoulli", means, 9000, seed, lost)
    assert {"2 removed", "epoch 2"} <= set(taken)


def test_dp_se_with_gaussian_noise_is_the_literal_one() -> None:
    for seed, (means, rho) in enumerate(
        itertools.product([(0.9, 0.1), (0.1, 0.6, 0.75), (0.5, 0.55, 0.2)], [2.0, 0.001])
    ):
        literal = sajed2019.DPSEGauss(1.0, rho)
        params = dp_se_gauss.Params(rho, 1)
        lost = lambda literal: len(literal.lost)  # noqa: E731
        compare(dp_se_gauss, params, literal, "bernoulli", means, 9000, seed, lost)


@pytest.mark.parametrize("epsilon", [0.02, 0.5, 30.0])
@pytest.mark.parametrize("arms", [2, 3])
@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_dp_se_removes_arms_beyond_the_limit_of_line_20_alone(
    epoch: int, arms: int, epsilon: float
) -> None:
    # In earlier epochs the last arm is ahead, by its rewards and its noise, which must not count
    # any more; in this one the noise alone puts it behind.
    literal = sajed2019.DPSE(1 / 50, epsilon)
    epochs = [literal.constants(e, arms) for e in range(1, epoch + 1)]
    passes = sum(math.ceil(r_e) for r_e, _ in epochs)
    others = [0.0] * (arms - 1)
    ahead = [value for _, limit in epochs[:-1] for value in (*others, 0.4 * limit)]
    for factor, removed in ((1 - 1e-6, False), (1 + 1e-6, True)):
        noises = Scripted([*ahead, *others, -factor * epochs[-1][1]])
        rewards: Any = Scripted(ahead)
        law = bernoulli.law(bernoulli.Params((0.5,) * arms))
        horizon = arms * (passes + 10)
        bandit = new_bandit(law, arms, horizon, np.array([horizon]), rewards)
        getattr(dp_se.play, "py_func", dp_se.play)(dp_se.Params(epsilon, 50), bandit, noises)
        assert bandit.pulls[-1] == passes + (0 if removed else 10)


# Stopping rules ----------------------------------------------------------------------------------


class OneByOne:
    """Generator of samples that draws a sum of n coins with n uniform numbers."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def binomial(self, n: int, p: float) -> int:
        return sum(self.rng.random() < p for _ in range(n))


def literal_first_lifted(
    rng: Any, sensitivity: float, epsilon: float, below: float, queries: int
) -> tuple[int, float]:
    """Stand in for the draws of DP-NAS that skip queries: one noise A_t per query."""
    for query in range(1, queries + 1):
        noise = -rng.laplace(0.0, 3.0 * sensitivity / epsilon)  # the package adds -A_t to the sum
        if noise > below or below <= 0.0:
            return query, noise
    return queries, -math.inf


Rule = tuple[Any, Any, bool]  # package, oracle, takes epsilon
RULES: dict[str, Rule] = {
    "nas": (nas, sajed2019.NAS, False),
    "dp-nas": (dp_nas, sajed2019.DPNAS, True),
    "dp-exponential-nas": (dp_exponential_nas, sajed2019.DPExponentialNAS, True),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_stopping_rule_is_the_literal_one(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dp_nas, "first_lifted", literal_first_lifted)
    module, oracle, private = RULES[rule]
    halt = getattr(module.play, "py_func", module.play)
    taken, times = Counter[str](), set()
    # alpha, beta, epsilon, R, mean.
    games = [
        (0.8, 0.2, 6.0, 2.0, 1.3),
        (0.8, 0.2, 6.0, 2.0, -1.3),
        (0.95, 0.9, 30.0, 1.0, 1.0),
        (0.5, 0.05, 3.0, 1.0, -0.95),
        (0.9, 0.5, 100.0, 0.5, 0.2),
        (0.9, 0.99, 0.5, 3.0, 2.0),
    ]
    for seed, (alpha, beta_, epsilon, radius, mean) in enumerate(games * 4):
        budget = (epsilon,) if private else ()
        probability = (1.0 + mean / radius) / 2.0
        samples: Any = SampleStream(radius, probability, OneByOne(reward_stream(seed)))  # type: ignore[arg-type]
        ours_draws, draws = Draws(policy_stream(seed)), Draws(policy_stream(seed))
        ours = halt(module.Params(*budget, alpha, beta_), samples, ours_draws)
        coins = reward_stream(seed)
        literal = oracle(*budget, alpha, beta_, radius)
        t, estimate = literal.halt(
            lambda coins=coins, p=probability, r=radius: r if coins.random() < p else -r, draws
        )
        assert ours[0] == t
        assert ours[1] == pytest.approx(estimate, rel=1e-12)
        assert [draw.method for draw in ours_draws.log] == [draw.method for draw in draws.log]
        np.testing.assert_allclose(
            [draw.arguments for draw in ours_draws.log],
            [draw.arguments for draw in draws.log],
            rtol=1e-12,
        )
        taken["positive" if estimate > 0 else "negative"] += 1
        times.add(t)
    assert min(taken.values()) >= 4
    assert len(times) >= (4 if rule == "dp-exponential-nas" else 8)


# In DP-NAS the noises that let no query halt are skipped: the law of compiled runs is compared.
EXACT = dp_nas.Params(2.0, 0.95, 0.95)
RADIUS, PROBABILITY = 2.0, 0.975
STREAMS = 5_000


def p_values_of_dp_nas(params: dp_nas.Params) -> list[float]:
    """Compare samples used and estimates of runs with their exact laws at EXACT."""
    samples = SampleStream(RADIUS, PROBABILITY, reward_stream(1))
    rng = policy_stream(1)
    runs = [dp_nas.play(params, samples, rng) for _ in range(STREAMS)]
    times, estimates = np.array(runs).T
    literal = sajed2019.DPNAS(*EXACT, RADIUS)
    chances = literal.law(PROBABILITY, longest=400, points=200)
    halts = np.cumsum([chance.sum() for chance in chances])
    assert 1 - 1e-8 < halts[-1] < 1 + 1e-9
    # Bins of 2.5 % or more.
    ends = np.unique(np.searchsorted(halts, np.arange(1, 40) / 40))
    counts = np.bincount(np.searchsorted(ends, times), minlength=ends.size + 1)
    expected = STREAMS * np.diff([0.0, *halts[ends], halts[-1]]) / halts[-1]
    # The estimate is the mean of the samples plus Lap(sigma_3)/t.
    grid = np.linspace(1.5, 2.3, 401)
    below = np.zeros(grid.size)
    for t, chance in enumerate(chances):
        k = np.flatnonzero(chance > 1e-12)
        far = (grid[:, None] - RADIUS * (2 * k / max(t, 1) - 1)) * t / literal.sigma_3
        tail = 0.5 * np.exp(-np.abs(far))
        below += np.where(far < 0, tail, 1 - tail) @ chance[k]
    return [
        float(stats.chisquare(counts, expected).pvalue),
        float(stats.kstest(estimates, lambda x: np.interp(x, grid, below)).pvalue),
    ]


def test_dp_nas_has_the_exact_law() -> None:
    # A correct rule fails this with probability 10^-4.
    assert min(p_values_of_dp_nas(EXACT)) > 1e-4 / 2


def test_two_per_cent_less_noise_is_noticed() -> None:
    less = EXACT._replace(epsilon=EXACT.epsilon / 0.98)
    assert min(p_values_of_dp_nas(less)) < 1e-4 / 2
