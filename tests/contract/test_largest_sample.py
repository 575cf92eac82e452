"""Law of the arm with the largest sample: the arms above a level against one draw per arm."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from many_runs import final_outcomes
from scipy import stats

from dpbandits.algorithms import _largest_sample, dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new
from dpbandits.algorithms._largest_sample import (
    Method,
    chance_above,
    follow_exact,
    largest_hit,
    line_length,
    numbers,
    sample,
    sample_above,
    stretch_length,
)
from dpbandits.algorithms._listed_arms import OFTEN, segment
from dpbandits.contract.playing import p_value
from dpbandits.core import registry
from dpbandits.core.bandit import new_bandit
from dpbandits.environments import bernoulli, beta
from dpbandits.mechanisms.perturbation import perturb, perturbation, quantile

# Parameters with short starts.
PARAMS: list[tuple[str, dict[str, float]]] = [
    ("dp-ftpl-gauss", {"epsilon": 1.0, "delta": 0.01}),
    ("dp-ftpl-gauss", {"epsilon": 1.0, "delta": 1e-10}),
    ("dp-ftpl-beta", {"epsilon": 1e6, "delta": 0.01}),
    ("dp-ftpl-new", {"epsilon": 1.0, "delta": 0.01}),
    ("dp-ftpl-new", {"epsilon": 0.2, "delta": 0.0}),
    ("dp-ftpl-new", {"epsilon": 0.0, "delta": 0.05}),
]
# Means, horizon, runs: two close arms; equal arms; more arms than fit in one stretch of the line,
# until a second level; and, for longer, a leader with the worst arm first, until levels are rarer.
INSTANCES: list[tuple[tuple[float, ...], int, int]] = [
    ((0.6, 0.5), 1500, 2000),
    ((0.5, 0.5, 0.5, 0.5, 0.5), 1500, 1500),
    (tuple(0.3 + 0.02 * i for i in range(17)), 2500, 1000),
    (tuple(0.45 + 0.05 * i for i in range(5)), 22_000, 150),
]
SHARE = 0.4  # of these runs; all of them are slow
# A correct scheme fails any of the comparisons with probability 10^-4.
LIMIT = 1e-4 / (len(PARAMS) * sum(len(means) + 1 for means, _, _ in INSTANCES))


def outcomes(
    algorithm: str,
    values: dict[str, float],
    means: tuple[float, ...],
    horizon: int,
    method: Method,
    runs: int,
    environment: Any = bernoulli,
) -> np.ndarray:
    """Return the final regret and the pulls of each arm, of shape (runs, 1 + arms)."""
    cls = registry.algorithm(algorithm).Params
    fields = {**values, "horizon": horizon, "method": method}
    params = cls(**{name: value for name, value in fields.items() if name in cls._fields})
    law = environment.law(environment.Params(means))
    return final_outcomes(algorithm, params, law, len(means), horizon, 3 + method, runs)


@pytest.mark.long
@pytest.mark.parametrize(("algorithm", "values"), PARAMS, ids=str)
@pytest.mark.parametrize(("means", "horizon", "runs"), INSTANCES, ids=lambda x: str(x)[:12])
@pytest.mark.parametrize("share", [SHARE, pytest.param(1.0, marks=pytest.mark.slow)])
def test_both_methods_have_the_same_law(
    algorithm: str,
    values: dict[str, float],
    means: tuple[float, ...],
    horizon: int,
    runs: int,
    share: float,
) -> None:
    runs = int(share * runs)
    exact, plain = (outcomes(algorithm, values, means, horizon, method, runs) for method in Method)
    for column in range(exact.shape[1]):
        assert p_value(exact[:, column], plain[:, column]) > LIMIT
    assert len(np.unique(exact[:, -1])) > 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("algorithm", "values"),
    [
        PARAMS[0],  # the others compile for ten seconds each
        pytest.param(*PARAMS[2], marks=pytest.mark.slow),
        pytest.param(*PARAMS[4], marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_both_methods_have_the_same_law_on_rewards_in_between(
    algorithm: str, values: dict[str, float]
) -> None:
    exact, plain = (
        outcomes(algorithm, values, (0.55, 0.5, 0.4), 1500, method, 1000, beta) for method in Method
    )
    for column in range(exact.shape[1]):
        assert p_value(exact[:, column], plain[:, column]) > LIMIT


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
    if law is BETA:
        return rng.beta(a, b)
    noise = np.array([perturb(law.noise, rng) for _ in range(a.size)])
    return a + noise.reshape(a.shape) * b


def exact_choices(law: Any, rounds: int, runs: int) -> Counter[tuple[int, ...]]:
    """Count the same by the arms above a level, without the compiler."""
    rng, counts = np.random.default_rng(13), Counter[tuple[int, ...]]()
    zeros = bernoulli.law(bernoulli.Params((0.0,) * PULLS.size))
    for _ in range(runs):
        # Per round: the scheme of _masks.py, which takes no level of this kind, stands aside.
        bandit = new_bandit(zeros, PULLS.size, rounds, np.array([rounds]), rng, per_round=True)
        follow_exact(law, bandit, rng, SUMS.copy(), PULLS.copy())
        counts[tuple(np.repeat(np.arange(PULLS.size), bandit.pulls).tolist())] += 1
    return counts


# Two rounds, as the second follows an update of what the first pulled. `make slow` has every law
# with every chance to miss the level, and more games, for smaller differences.
@pytest.mark.parametrize(
    ("law", "missed", "rounds", "games"),
    [
        ("gauss", 0.03, 2, 5_000),
        ("beta", 0.3, 2, 5_000),
        ("new", 0.8, 2, 5_000),
        *(
            pytest.param(law, missed, rounds, 20_000, marks=pytest.mark.slow)
            for law in ("gauss", "beta", "new")
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

NEW = dp_ftpl_new.Samples(perturbation(1.0, 0.01), math.log(1e4), 4.0)
PURE = dp_ftpl_new.Samples(perturbation(0.5, 0.0), math.log(1e4), 4.0)
UNIFORM = dp_ftpl_new.Samples(perturbation(0.0, 0.01), math.log(1e4), 4.0)
GAUSS = dp_ftpl_gauss.Params(1.0, 0.01)
BETA = dp_ftpl_beta.Params(1.0, 0.01)


def upper_quantile(law: Any, a: float, b: float, chance: Any) -> Any:
    if law is GAUSS:
        return stats.norm.isf(chance, a, b)
    if law is BETA:
        return stats.beta.isf(chance, a, b)
    return a + np.vectorize(quantile, excluded=[0])(law.noise, 1.0 - chance) * b


LAWS = {"gauss": GAUSS, "beta": BETA, "new": NEW, "pure": PURE, "uniform": UNIFORM}


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


@pytest.mark.parametrize("arms", [1, 5, 16, 17, 40])
def test_points_on_the_line_hit_each_arm_with_its_chance_independently(
    arms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(11)
    chances = rng.random(arms) * OFTEN
    chances[arms // 2] = 0.0
    length = np.array([segment(chance) for chance in chances])
    stretch = np.array([stretch_length(length, i) for i in range((arms + 15) // 16)])
    line, rounds, number = line_length(stretch), 20_000, np.arange(arms)
    assert line == pytest.approx(length.sum())
    hits = np.zeros((rounds, arms))
    point = rng.standard_exponential()

    def draw(law: None, rng: Any, a: int, b: int, level: float) -> float:
        hits[i, a] += 1
        return -abs(a - arms / 3)

    monkeypatch.setattr(_largest_sample, "sample_above", draw)
    for i in range(rounds):
        theta, arm, point = largest_hit(
            None, rng, number, number, 0.0, length, stretch, line, point
        )
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


def test_an_arm_that_is_drawn_in_every_round_has_no_segment() -> None:
    assert segment(OFTEN) == math.inf
    assert segment(0.0) == 0.0
    assert -math.expm1(-segment(0.1)) == pytest.approx(0.1, rel=1e-15)
