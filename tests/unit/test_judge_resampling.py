"""Resamples of runs: their errors, their shared streams, and the chance of the paper's own runs."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from composed import load
from scipy import stats
from toy_paper import Toy, cell, line, near, paper, said

from dpbandits.judge import claims_table
from dpbandits.judge.language import quantity
from dpbandits.judge.resampled import RESAMPLES, Line, weighted

RNG = np.random.default_rng(11)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    return Toy(monkeypatch)


def resampled(toy: Toy, runs: np.ndarray, name: str, size: int | None = None) -> np.ndarray:
    """Return a statistic on all resamples of these runs."""
    return quantity(Line.of(toy.resampler(size), name, toy.add("it", runs))).values


def test_the_error_of_a_mean_is_that_of_its_formula(toy: Toy) -> None:
    for draw in (RNG.standard_normal, RNG.standard_exponential):
        runs = draw((400, 3))
        means, of_25 = (resampled(toy, runs, "mean", size) for size in (None, 25))
        np.testing.assert_allclose(means[0], runs.mean(0), 1e-12)
        # 1,000 resamples know a standard deviation to 2.2 %.
        np.testing.assert_allclose(means[1:].std(0), runs.std(0) / 20, rtol=0.09)
        np.testing.assert_allclose(of_25[1:].std(0), runs.std(0) / 5, rtol=0.09)


@pytest.mark.parametrize("runs", [1, 2, 5, 6])
def test_statistics_with_weights_are_those_of_the_repeated_runs(runs: int) -> None:
    values = RNG.integers(0, 4, size=(runs, 3)).astype(float)
    counts = np.vstack([np.ones(runs, int), RNG.multinomial(runs, np.full(runs, 1 / runs), 50)])
    functions: dict[str, Any] = {"mean": np.mean, "median": np.median, "max": np.max, "min": np.min}
    functions["deviation"] = np.std
    for name, function in functions.items():
        found = weighted(name, values, counts.astype(float), runs)
        expected = [function(np.repeat(values, own, axis=0), axis=0) for own in counts]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_undecided_runs_leave_no_mean_and_a_median_up_to_half_of_them(toy: Toy) -> None:
    for undecided in range(6):
        runs = np.where(np.arange(5) < undecided, math.inf, [1.0, 2, 3, 4, 5])[:, None]
        counts = np.ones((1, 5))
        mean, median = (weighted(name, runs, counts, 5).item() for name in ("mean", "median"))
        assert mean == 3 if undecided == 0 else math.isnan(mean)
        assert median == (math.inf if undecided > 2 else np.median(runs))


@pytest.mark.parametrize(("wrong", "runs"), [(0, 1000), (3, 1000), (5, 5)])
def test_the_upper_bound_of_a_share_is_that_of_clopper_and_pearson(
    toy: Toy, wrong: int, runs: int
) -> None:
    happened = (np.arange(runs) < wrong).astype(float)[:, None]
    found = resampled(toy, happened, "upper_99")
    test = stats.binomtest(wrong, runs, alternative="less")
    expected = test.proportion_ci(0.99).high if wrong < runs else 1.0
    np.testing.assert_allclose(found, expected, 1e-9)
    assert len(found) == 1 + RESAMPLES


def test_the_spread_is_the_mean_over_all_groups_of_as_many_runs_as_the_paper_has() -> None:
    values = np.array([3.0, 1.0, 1.0, 8.0, 4.0])
    for counts in ([1, 1, 1, 1, 1], [2, 0, 0, 1, 2]):
        drawn, weights = np.repeat(values, counts), np.array([counts], float)
        groups = [np.ptp(group) for group in itertools.product(drawn, repeat=3)]
        assert weighted("spread", values[:, None], weights, 3)[0, 0] == pytest.approx(
            np.mean(groups)
        )
        # A resample of the paper's size is one group.
        assert weighted("spread", values[:, None], weights, 5)[0, 0] == np.ptp(drawn)


@pytest.mark.parametrize("size", [None, 20])
def test_curves_share_resamples_if_they_share_streams_and_never_at_the_papers_size(
    toy: Toy, size: int | None
) -> None:
    spec, _ = load("exp3-oblivious", [])
    own, (on_table, other_on_table) = cell("own"), spec.experiments()[:2]  # two share a table
    cells = [own, replace(own, horizon=4), on_table, other_on_table, cell("other")]
    toy.runs = dict.fromkeys(cells, near(1.0, 50)[:, None])  # type: ignore[arg-type]
    resampler, first = toy.resampler(size), np.array([0])
    means = [resampler.statistic(line("it", [c]), "mean", first)[1:, 0] for c in cells]
    shared = {
        (i, j) for i, j in itertools.combinations(range(5), 2) if (means[i] == means[j]).all()
    }
    assert shared == ({(0, 1), (2, 3)} if size is None else set())
    for i, j in {*itertools.combinations(range(5), 2)} - shared:
        assert abs(np.corrcoef(means[i], means[j])[0, 1]) < 0.15


# Chances -----------------------------------------------------------------------------------------


def errors(expected: float, found: float) -> float:
    """Return how far a share of the resamples is from a chance, in standard errors."""
    return abs(found - expected) / math.sqrt(expected * (1 - expected) / RESAMPLES)


def ones_and_threes(runs: int, threes: int) -> np.ndarray:
    """Return runs whose mean is above 2 if most are 3."""
    return np.where(np.arange(runs) < threes, 3.0, 1.0)


@pytest.mark.parametrize(("runs", "threes"), [(5, 40), (5, 25), (9, 52), (20, 45)])
def test_the_chance_is_the_binomial_one_that_the_papers_runs_show_the_sentence(
    toy: Toy, runs: int, threes: int
) -> None:
    toy.add("a", ones_and_threes(100, threes))
    law = stats.binom(runs, threes / 100)
    low, high = (toy.one(text, runs=runs).drawn.chance for text in ("a <= 2", "a >= 2"))
    assert errors(law.cdf(runs // 2), low) < 3.5
    assert errors(law.sf((runs - 1) // 2), high) < 3.5
    assert toy.one("a <= 2", "a <= 4", runs=runs).drawn.chance == low  # the second always holds
    assert math.isnan(toy.one("a <= 2").drawn.chance)  # the paper states no number


def test_the_chance_of_several_sentences_is_that_of_the_same_papers_runs(toy: Toy) -> None:
    toy.add("a", ones_and_threes(1000, 450))
    toy.add("b", ones_and_threes(1000, 450))
    sentences = {"it": said("a <= 2.05"), "same": said("a <= 2.05"), "other": said("b <= 2.05")}
    claims, single = toy.judge(paper(sentences, runs=9)), stats.binom.cdf(4, 9, 0.45)
    one, two, three = (
        claims_table.largest_sets((claims[name] for name in names), only_text=True)[0].chance
        for names in (["it"], ["it", "same"], ["it", "same", "other"])
    )
    assert one == two  # the same curve: not the product
    assert errors(single, one) < 3.5
    assert errors(single**2, three) < 3.5
