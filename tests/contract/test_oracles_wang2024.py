"""The algorithms and bounds of wang2024 against tests/oracles/wang2024*.py."""

import itertools
import math
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
import wang2024
from scipy import stats
from shared_games import LAWS, Scripted, compare

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new, gdp_elim_new
from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms._ftpl import Observation
from dpbandits.environments import bernoulli
from dpbandits.experiments.regret import scheme
from dpbandits.fast import _largest_sample
from dpbandits.fast._largest_sample import Totals
from dpbandits.kernel.bandit import new_bandit

# Algorithms, with one sample per arm and round ---------------------------------------------------

MEANS = [(0.6, 0.5, 0.3), (0.5, 0.5, 0.5, 0.5), (0.05, 0.9)]


@pytest.mark.parametrize("law", LAWS)
def test_dp_ftpl_gauss_is_the_literal_one(law: str) -> None:
    taken: Counter[str] = Counter()
    budgets = [(1.0, 0.01), (0.3, 0.02), (0.0, 0.05), (3.0, 1.0), (0.1, 0.05)]
    for seed, (means, budget) in enumerate(itertools.product(MEANS, budgets)):
        params = dp_ftpl_gauss.Params(*budget, Method.PLAIN)
        for horizon in (5, 300):
            literal = wang2024.Gauss(*budget)
            taken += compare(dp_ftpl_gauss, params, literal, law, means, horizon, seed)
    assert set(taken) == {"first", "second", "cut", "same arm", "other arm"}


@pytest.mark.parametrize("law", LAWS)
def test_a_coin_may_stand_for_a_reward(law: str) -> None:
    for seed, means in enumerate(MEANS):
        algorithms: list[tuple[Any, Any, Any]] = [
            (dp_ftpl_gauss, dp_ftpl_gauss.Params(1.0, 0.05), wang2024.Gauss(1.0, 0.05)),
            (dp_ftpl_beta, dp_ftpl_beta.Params(20.0, 0.02), wang2024.Beta(20.0, 0.02)),
            (dp_ftpl_new, dp_ftpl_new.Params(1.0, 0.01, 400), wang2024.New(1.0, 0.01, 400)),
        ]
        for module, params, literal in algorithms:
            literal.coin = True
            coins = params._replace(method=Method.PLAIN, observation=Observation.COIN)
            compare(module, coins, literal, law, means, 400, seed)


@pytest.mark.parametrize("law", LAWS)
def test_dp_ftpl_beta_is_the_literal_one(law: str) -> None:
    taken: Counter[str] = Counter()
    budgets = [(1.0, 0.01), (20.0, 0.02), (0.5, 0.1), (0.0, 0.1)]
    for seed, (means, budget) in enumerate(itertools.product(MEANS[1:], budgets)):
        params = dp_ftpl_beta.Params(*budget, Method.PLAIN)
        for horizon in (300, 900 if seed % 4 else 1900):
            literal = wang2024.Beta(*budget)
            taken += compare(dp_ftpl_beta, params, literal, law, means, horizon, seed)
    assert set(taken) == {"least", "first", "second", "cut", "same arm", "other arm"}


@pytest.mark.parametrize("law", LAWS)
def test_dp_ftpl_new_is_the_literal_one(law: str) -> None:
    taken: Counter[str] = Counter()
    budgets = [(1.0, 0.01), (0.1, 0.0), (0.0, 0.05), (20.0, 0.0), (0.01, 1.0)]
    for seed, (means, budget) in enumerate(itertools.product(MEANS, budgets)):
        for t_param, horizon in ((200, 200), (10**6, 200), (2, 50)):
            params = dp_ftpl_new.Params(*budget, t_param, Method.PLAIN)
            literal = wang2024.New(*budget, t_param)
            taken += compare(dp_ftpl_new, params, literal, law, means, horizon, seed)
    assert set(taken) == {"same arm", "other arm"}


def noises_of_a_cut_phase(arms: int, literal: Any) -> int:
    """Return the draws of GDP-Elim-New for all arms in a phase that the horizon cut off."""
    return arms * bool(literal.branches["cut"])


@pytest.mark.parametrize("law", LAWS)
def test_gdp_elim_new_is_the_literal_one(law: str) -> None:
    taken: Counter[str] = Counter()
    games: list[tuple[tuple[float, ...], tuple[float, float], int]] = [
        ((0.9, 0.1), (1.0, 0.01), 3000),
        ((0.5, 0.75), (0.0, 0.005), 9000),
        ((0.4, 0.5, 0.1), (2.0, 0.0), 9000),
        ((0.2, 0.5, 0.8), (0.005, 0.01), 4000),
        ((0.5, 0.5), (0.02, 0.001), 9000),
    ]
    for seed, (means, budget, horizon) in enumerate(games):
        for t_param in (1, 2, 25):
            params = gdp_elim_new.Params(*budget, t_param)
            literal = wang2024.GDPElimNew(*budget, t_param)
            taken += compare(
                *(gdp_elim_new, params, literal, law, means, horizon, seed),
                partial(noises_of_a_cut_phase, len(means)),
            )
    phases = {"phase 1", "phase 2", "phase 3"}
    assert set(+taken) >= phases | {"statistics", "privacy", "exploit", "cut"}


@pytest.mark.parametrize("budget", [(1.0, 0.01), (0.01, 0.0), (0.0, 0.05)], ids=str)
@pytest.mark.parametrize("phase", [1, 2, 3])
def test_gdp_elim_new_exploits_arms_ahead_by_delta_k_alone(
    phase: int, budget: tuple[float, float]
) -> None:
    # Means and perturbations are 0 but for the second arm in phase k: its mean is next to Delta(k),
    # and its perturbation does the rest. Rewards of the first arm in earlier phases do not count.
    arms, t_param, gap = 3, 2, 2.0**-phase
    literal = wang2024.GDPElimNew(*budget, t_param)
    passes = [math.ceil(literal.pulls(2.0**-k)) for k in range(1, phase + 1)]
    shares = [*[gap, 0.0, 0.0] * (phase - 1), 0.0, gap]
    mean = math.floor(gap * passes[-1]) / passes[-1]
    epsilon, delta = budget
    theta = wang2024.Lemma15(epsilon, delta / 2, literal.pulls(gap), mean)
    for factor, exploits in ((1 - 1e-6, False), (1 + 1e-6, True)):
        u = theta.cdf(factor * gap)
        assert 0.01 < u < 0.99
        law = bernoulli.law(bernoulli.Params((0.5,) * arms))
        horizon = arms * (sum(passes) + 10)
        coins: Any = Scripted(shares)
        bandit = new_bandit(law, arms, horizon, np.array([horizon]), coins)
        elim = getattr(gdp_elim_new.play, "py_func", gdp_elim_new.play)
        # At the uniform number 1/2, which follows, the perturbation is 0.
        numbers = Scripted([*[0.5] * (arms * (phase - 1) + 1), u], rest=0.5)
        elim(gdp_elim_new.Params(*budget, t_param), bandit, numbers)
        assert bandit.pulls[1] == sum(passes) + (10 * arms if exploits else 10)


# The default method, which draws few samples -----------------------------------------------------

# Arms in states that no start produces: narrow, wide, one far below.
PULLS = [100, 400, 97, 200, 900, 97, 150, 300, 120, 100]
TOTALS = [48.0, 210.0, 46.0, 106.0, 455.0, 40.0, 81.0, 150.0, 66.0, 30.0]
POLICIES: dict[str, tuple[Any, Any]] = {
    "gauss": (dp_ftpl_gauss.Params(1.0, 0.01), wang2024.Gauss(1.0, 0.01)),
    "beta": (dp_ftpl_beta.Params(1.0, 0.01), wang2024.Beta(1.0, 0.01)),
}


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("missed", [0.1, 0.7])
@pytest.mark.parametrize("name", POLICIES)
def test_the_largest_of_few_samples_has_the_exact_law(
    name: str, missed: float, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    law, policy = POLICIES[name]
    assert scheme(f"dp-ftpl-{name}", law)  # its import registers the law
    points = np.linspace(-0.5, 1.5, 10_001)
    below = [1 - policy.survival(total, n, points) for total, n in zip(TOTALS, PULLS, strict=True)]
    level = float(np.interp(missed, np.prod(below, axis=0), points))
    monkeypatch.setattr(_largest_sample, "new_level", lambda *_: level)
    monkeypatch.setattr(_largest_sample, "HIT", 0.0)  # use the level even if it does not pay
    rng, runs, counts = np.random.default_rng(12), 3000, Counter[tuple[int, ...]]()
    zeros = bernoulli.law(bernoulli.Params((0.0,) * len(PULLS)))
    for _ in range(runs):
        bandit = new_bandit(zeros, len(PULLS), rounds, np.array([rounds]), rng)
        totals = Totals(law, np.array(TOTALS), np.array(PULLS, float))
        _largest_sample.follow_exact(totals, bandit, rng)
        counts[tuple(np.repeat(range(len(PULLS)), bandit.pulls))] += 1
    expected: dict[tuple[int, ...], float] = {(): float(runs)}  # by the arms in ascending order
    for _ in range(rounds):
        before, expected = expected, {}
        for arms, chance in before.items():
            pulls = [n + arms.count(arm) for arm, n in enumerate(PULLS)]
            for arm, p in enumerate(wang2024.chances(policy, TOTALS, pulls, points)):
                pulled = tuple(sorted((*arms, arm)))
                expected[pulled] = expected.get(pulled, 0.0) + chance * p
    sides = np.array([[counts[arms], mean] for arms, mean in expected.items()]).T
    rare = sides[1] < 10
    table = np.column_stack([sides[:, ~rare], sides[:, rare].sum(axis=1)])
    assert np.sum(~rare) > 6
    # 8 comparisons: a correct method fails any of them with probability 10^-4.
    assert stats.chisquare(*table[:, table[1] > 0]).pvalue > 1e-4 / 8
