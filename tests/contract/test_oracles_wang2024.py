"""The algorithms and bounds of wang2024 against tests/oracles/wang2024*.py."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import wang2024
import wang2024_bounds
import wang2024_privacy
from played import assert_same_run
from scipy import stats
from shared_games import LAWS, game_of, ours_of
from streams import Draws, policy_stream, regret_curve

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new, gdp_elim_new
from dpbandits.algorithms._argmax import Method
from dpbandits.core.bandit import new_bandit
from dpbandits.environments import bernoulli
from dpbandits.fast import _largest_sample
from dpbandits.mechanisms.perturbation import perturbation, quantile, reach, tail
from dpbandits.theory import bounds, function, transitions


def compare(
    module: Any,
    params: Any,
    literal: Any,
    law: str,
    means: tuple[float, ...],
    horizon: int,
    seed: int,
) -> Counter[str]:
    """Compare one whole run; return the branches that it took."""
    ours = ours_of(module, params, law, means, horizon, seed)
    game, draws = game_of(law, means, horizon, seed), Draws(policy_stream(seed))
    literal.play(game, draws)
    # GDP-Elim-New draws for all arms even if the horizon cut the phase off.
    cut = module is gdp_elim_new and literal.branches["cut"]
    assert_same_run(ours, game.played, draws.log, unused=len(means) if cut else 0)
    expected = regret_curve(game.played, means)
    np.testing.assert_allclose(ours.regrets, expected, rtol=1e-9, atol=1e-12)
    taken: Counter[str] = literal.branches
    return taken


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
            taken += compare(gdp_elim_new, params, literal, law, means, horizon, seed)
    phases = {"phase 1", "phase 2", "phase 3"}
    assert set(+taken) >= phases | {"statistics", "privacy", "exploit", "cut"}


class Scripted:
    """Generator of given uniform numbers, or of given shares of pulls with reward 1.

    At the uniform number 1/2, which follows, the perturbation is 0.
    """

    def __init__(self, values: list[float]) -> None:
        self.values = iter(values)

    def random(self) -> float:
        return next(self.values, 0.5)

    def binomial(self, n: int, p: float) -> int:
        return math.floor(next(self.values, 0.0) * n)


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
        numbers = Scripted([*[0.5] * (arms * (phase - 1) + 1), u])
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


@pytest.mark.parametrize("missed", [0.1, 0.7])
@pytest.mark.parametrize("name", POLICIES)
def test_the_largest_of_few_samples_has_the_exact_law(
    name: str, missed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    law, policy = POLICIES[name]
    points = np.linspace(-0.5, 1.5, 10_001)
    below = [1 - policy.survival(total, n, points) for total, n in zip(TOTALS, PULLS, strict=True)]
    level = float(np.interp(missed, np.prod(below, axis=0), points))
    monkeypatch.setattr(_largest_sample, "new_level", lambda *_: level)
    monkeypatch.setattr(_largest_sample, "HIT", 0.0)  # use the level even if it does not pay
    rng, counts, runs = np.random.default_rng(12), np.zeros(len(PULLS), int), 3000
    zeros = bernoulli.law(bernoulli.Params((0.0,) * len(PULLS)))
    for _ in range(runs):
        bandit = new_bandit(zeros, len(PULLS), 1, np.array([1]), rng)
        _largest_sample.follow_totals(law, bandit, rng, np.array(TOTALS), np.array(PULLS, float))
        counts += bandit.pulls
    expected = wang2024.chances(policy, TOTALS, PULLS, points) * runs
    rare = expected < 10
    table = np.array([np.append(side[~rare], side[rare].sum()) for side in (counts, expected)])
    assert np.sum(~rare) > 6
    # 4 comparisons: a correct method fails any of them with probability 10^-4.
    assert stats.chisquare(*table[:, table[1] > 0]).pvalue > 1e-4 / 4


@pytest.mark.parametrize(
    "budget", [(1.0, 0.01), (0.1, 0.0), (0.0, 0.05), (3.0, 0.5), (20.0, 0.0), (0.01, 1.0)], ids=str
)
def test_the_perturbation_is_that_of_lemma_15(budget: tuple[float, float]) -> None:
    ours, literal = perturbation(*budget), wang2024.Lemma15(*budget, pulls=1, x0=0.0)
    for u in (1e-6, 0.01, 0.2, 0.49, 0.5, 0.7, 0.999):
        assert quantile(ours, u) == pytest.approx(literal.quantile(u), rel=1e-9, abs=1e-12)
        assert literal.cdf(quantile(ours, u)) == pytest.approx(u, rel=1e-9)
        assert reach(ours, min(u, 1 - u)) == pytest.approx(
            -literal.quantile(min(u, 1 - u)), rel=1e-9, abs=1e-12
        )
    for x in (0.0, 0.3, 1.0, 7.0, 60.0, 1000.0):
        assert tail(ours, x) == pytest.approx(literal.cdf(-x), rel=1e-9, abs=1e-15)


# Bounds ------------------------------------------------------------------------------------------

T = 10**6
INSTANCES = [tuple(0.3 + 0.05 * i for i in range(9)), (0.2, 0.6, 0.5), (0.5, 0.51)]
BUDGETS = [(1.0, 0.01), (0.1, 0.0), (0.0, 0.01), (1e-7, 1e-3), (4.0, 1e-10), (0.02, 0.9)]
WITH_DELTA = [(1.0, 0.01), (0.0, 0.01), (1.0, math.exp(-10)), (0.1, 0.3), (0.05, 0.02), (9.0, 0.9)]
STATES = [(1, 0), (8, 3), (100, 99), (40, 0)]  # N and R; the neighbour has R + 1
XS = [-0.4, 0.0, 0.1, 0.37, 0.6, 0.98, 1.0, 1.7, 30.0]

CASES: dict[str, list[tuple[Any, ...]]] = {
    "wang2024.global_lower_bound": [
        (horizon, *budget, c0, exponent)
        for horizon, budget, c0, exponent in itertools.product(
            (10**9, 10**12), BUDGETS, (0.5, 3.0), (0.0, 0.5)
        )
        if budget != (1e-7, 1e-3)  # the theorem needs a longer horizon there
    ],
    "wang2024.ftpl_new_upper_bound": [
        (means, horizon, *budget)
        for means, horizon, budget in itertools.product(INSTANCES, (3, T), BUDGETS)
    ],
    "wang2024.gdp_elim_upper_bound": [
        (means, horizon, *budget)
        for means, horizon, budget in itertools.product(INSTANCES, (3, T), BUDGETS)
    ],
    "wang2024.gauss_start_regret": [
        (means, horizon, *budget)
        for means, horizon, budget in itertools.product(INSTANCES, (50, 3000), WITH_DELTA)
    ],
    "wang2024.gauss_start_deltas": [
        *itertools.product((2, 9), (100, T), (0.0, 0.1, 0.9, 2.0)),
        # Just below and above epsilon^2 T/K = 1 + log(T/K), where the second crossing ends.
        *((2, 100, epsilon) for epsilon in (0.3130, 0.3138, 0.3148, 0.3160)),
    ],
    "wang2024.gauss_start_epsilons": list(
        itertools.product((2, 9), (100, T), (1e-10, 0.001, 0.1, 0.5))
    ),
    "wang2024_privacy.gauss_cdf": [(x, *state) for x in XS for state in STATES],
    "wang2024_privacy.gauss_neighbour_cdf": [(x, *state) for x in XS for state in STATES],
    "wang2024_privacy.beta_cdf": list(itertools.product(XS, (8, 100), (0, 8), (True, False))),
    "wang2024_privacy.beta_neighbour_cdf": list(
        itertools.product(XS, (8, 100), (0, 7), (True, False))
    ),
    "wang2024_privacy.new_cdf": [
        (x, *state, 1000, *budget) for x in XS for state in STATES for budget in BUDGETS
    ],
    "wang2024_privacy.new_neighbour_cdf": [
        (x, *state, 1000, *budget) for x in XS for state in STATES for budget in BUDGETS
    ],
    "wang2024_privacy.gauss_smallest_delta": list(itertools.product((1, 8, 700), (0.0, 0.3, 1.0))),
    "wang2024_privacy.beta_smallest_delta": list(
        itertools.product((1, 8, 11), (0.0, 1.0), (True, False))
    ),
    "wang2024_privacy.new_smallest_delta": [
        (7, *budget) for budget in [(1.0, 0.01), (0.0, 0.2), (0.5, 0.5), (1.0, 0.8), (3.0, 0.6)]
    ],
    "wang2024_privacy.gauss_start": WITH_DELTA,
    "wang2024_privacy.beta_start": WITH_DELTA,
    "wang2024_privacy.gauss_smallest_start": [(1.0, 0.01), (1.0, math.exp(-10)), (0.0, 0.06)],
    "wang2024_privacy.beta_smallest_start": [(1.0, 0.03), (0.0, 0.25)],
}
for end in ("low", "high"):
    for name in ("gauss", "beta", "new"):
        CASES[f"wang2024_privacy.{name}_region_{end}"] = [
            (*arguments, *budget) if name != "new" else arguments
            for arguments in CASES[f"wang2024_privacy.{name}_cdf"]
            for budget in (BUDGETS if name != "new" else [()])
        ]
ROUNDED = {  # by the grid of the oracle
    "wang2024_privacy.gauss_smallest_delta",
    "wang2024_privacy.beta_smallest_delta",
    "wang2024_privacy.new_smallest_delta",
}


def test_every_bound_of_the_paper_has_its_oracle() -> None:
    names = [*bounds(), *transitions()]
    assert set(CASES) == {name for name in names if name.startswith("wang2024")}


@pytest.mark.parametrize("name", CASES)
def test_a_bound_is_the_one_of_the_paper(name: str) -> None:
    file, _, member = name.partition(".")
    oracle = {"wang2024": wang2024_bounds, "wang2024_privacy": wang2024_privacy}[file]
    ours, literal = function(name), getattr(oracle, member)
    # e^epsilon - 1 of the oracle has lost digits where epsilon is small.
    rel = 1e-6 if name in ROUNDED else 1e-8
    for arguments in CASES[name]:
        expected = literal(*arguments)
        assert ours(*arguments) == pytest.approx(expected, rel=rel, abs=1e-12), arguments
