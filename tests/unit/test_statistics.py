"""Statistics and whole tables against their definitions (tests/oracles/run_statistics.py)."""

import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import run_statistics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.config import compose
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment
from dpbandits.factory import captions
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import statistics
from dpbandits.tables.series import summarise, to_csv

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)

# A sum of 40 numbers loses at most 40 * 2^-53 = 4e-15 of the largest; this leaves room for the
# few operations before and after it.
ROUNDING = 1e-13

# Multiples of 1/1024, whose small whole multiples and sums are exact, from 0 to 2048 with ties.
exact_numbers = st.integers(-(2**21), 2**21).map(lambda k: k / 1024)
# Cubes of signed bytes: many times faster to generate than a list of numbers.
samples = st.binary(min_size=1, max_size=40).map(
    lambda b: np.frombuffer(b, np.int8).astype(float) ** 3 / 1024
)

EACH: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": statistics.CENTRES["mean"],
    "standard_deviation": statistics.standard_deviation,
    # Around 0, its upper end.
    "standard_error": lambda values: statistics.SPREADS["standard-error"](values, np.array(0.0))[1],
    "median": statistics.CENTRES["median"],
    "median_of_means": statistics.median_of_means,
    "gini_mean_difference": statistics.gini_mean_difference,
    "gini_above": lambda values: statistics.one_sided_gini(values, np.array(0.5), 1),
    "gini_below": lambda values: statistics.one_sided_gini(values, np.array(0.5), -1),
}
DEVIATIONS = ["standard_deviation", "standard_error", "gini_mean_difference"]


def close(
    actual: np.ndarray, expected: np.ndarray | float, scale: float, message: str = ""
) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=ROUNDING * scale, err_msg=message)


def size(*arrays: np.ndarray) -> float:
    return max(1.0, *(float(np.abs(array).max()) for array in arrays))


# The definitions ---------------------------------------------------------------------------------


@FIXED
@given(samples, exact_numbers)
def test_statistics_are_those_of_their_definitions(values: np.ndarray, at: float) -> None:
    numbers = values.tolist()
    for name in ("mean", "standard_deviation", "median", "median_of_means", "gini_mean_difference"):
        close(EACH[name](values), getattr(oracle, name)(numbers), size(values), name)
    for sign in (1, -1):
        side = [x for x in numbers if sign * x > sign * at]
        one_sided = statistics.one_sided_gini(values, np.array(at), sign)
        close(one_sided, oracle.gini_mean_difference(side), size(values))


@pytest.mark.parametrize("runs", [25, 47, 48, 50, 720])
def test_the_median_of_means_takes_24_contiguous_groups_the_first_with_one_run_more(
    runs: int,
) -> None:
    values = np.random.default_rng(1).exponential(size=runs)
    close(statistics.median_of_means(values), oracle.median_of_means(values.tolist()), 1.0)


@pytest.mark.parametrize("name", [*DEVIATIONS, "gini_above", "gini_below"])
def test_a_single_run_deviates_by_nothing(name: str) -> None:
    np.testing.assert_array_equal(EACH[name](np.array([[0.1, 0.7, 1e9]])), np.zeros(3))


# The one-sided Gini mean differences -----------------------------------------------------------


def test_a_one_sided_gini_takes_the_values_strictly_beyond_the_centre_of_their_column() -> None:
    first = [0.0, 1.0, 2.0, 2.0, 5.0, 9.0]
    second = [30.0, 10.0, 20.0, 40.0, 70.0, 50.0]
    values = np.column_stack([first, second])
    centre = np.array([2.0, 40.0])
    # First column: {5, 9} and {0, 1} around 2. Second: {70, 50} and {30, 10, 20} around 40, whose
    # pairs differ by 20, 10 and 10.
    above, below = (statistics.one_sided_gini(values, centre, sign) for sign in (1, -1))
    np.testing.assert_allclose(above, [4.0, 20.0], rtol=1e-15)
    np.testing.assert_allclose(below, [1.0, 40 / 3], rtol=1e-15)


# Properties ------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [3, 7, 20, 100])
def test_the_gini_mean_difference_of_equal_values_is_not_negative(runs: int) -> None:
    # Batched policies end in few distinct values, so one side of the centre is often a single
    # value many times; a negative difference puts the end of its bar on the wrong side.
    values = np.tile(np.random.default_rng(5).random(500), (runs, 1))
    assert statistics.gini_mean_difference(values).min() >= 0.0


# Distances from a centre always enclose it; quartiles enclose only the median.
HOLDING = [("quartiles", "median")] + [
    (spread, centre)
    for spread in ("none", "std", "standard-error", "gini")
    for centre in statistics.CENTRES
]


@FIXED
@given(samples)
def test_these_spreads_contain_their_centre(values: np.ndarray) -> None:
    for spread, centre in HOLDING:
        at = statistics.CENTRES[centre](values)
        low, high = statistics.SPREADS[spread](values, at)
        assert low <= at <= high, f"{spread} around the {centre}"


# Known values ----------------------------------------------------------------------------------


def test_proposition_4_1_bounds_the_distance_of_median_of_means_and_mean() -> None:
    # tossou2017: |MoM - mu| <= sigma sqrt(6 a0/N) with probability 1 - exp(-a0/4.5), here for
    # a0 = 24 groups and a Pareto law of tail exponent 2.5, which has no third moment.
    runs, trials, tail = 720, 2000, 2.5
    values = np.random.default_rng(8).pareto(tail, (runs, trials))
    mean = 1 / (tail - 1)
    sigma = math.sqrt(tail / (tail - 2)) / (tail - 1)
    bound = sigma * math.sqrt(6 * 24 / runs)
    distance = np.abs(statistics.median_of_means(values) - mean)
    assert np.mean(distance > bound) <= math.exp(-24 / 4.5)


# Whole tables ------------------------------------------------------------------------------------

DRAWN = [
    ("mean", "std"),
    ("mean", "standard-error"),
    ("median", "quartiles"),
    ("median", "nine-tenths"),
    ("median-of-means", "gini"),
    ("median-of-means", "none"),
    *((centre, "confidence") for centre in statistics.CENTRES),
]


class MadeUp:
    """Store of made-up runs: values with ties at some x, spread over decades at others."""

    def load(self, source: Any, runs: int, part: slice = slice(None)) -> np.ndarray:
        """Return runs of a cell, float64 of shape (runs, columns of the part)."""
        name = repr(source.description())
        rng = np.random.Generator(np.random.PCG64(list(name.encode())))
        if isinstance(source, StoppingExperiment):
            error = rng.choice([0.3, 0.49, 0.51, 2.0], runs) * rng.choice([-1, 1], runs)
            columns = [rng.integers(1, 10**6, runs), source.stream.mean * (1 + error)]
            return np.column_stack(columns)[:, part]
        values = rng.lognormal(3.0, 2.0, (runs, source.columns))
        values[:, ::3] = rng.choice([1.5, 2.0, 40.25], values[:, ::3].shape)
        return values[:, part]


def expected_columns(spec: FigureSpec, curve: Any) -> list[list[float]]:
    """Return the values of all runs at every x of a curve, from the made-up runs."""
    if curve.x is None:
        return np.transpose(MadeUp().load(curve.sources[0], curve.runs)).tolist()
    columns = []
    for source in curve.sources:
        values = MadeUp().load(source, curve.runs)
        if isinstance(source, RegretExperiment):
            per = math.log(source.horizon) if curve.shows.name == "regret-per-log-t" else 1.0
            columns.append([value / per for value in values[:, -1].tolist()])
        elif curve.shows.name == "samples":
            columns.append(values[:, 0].tolist())
        else:
            mean, alpha = source.stream.mean, source.params.alpha
            columns.append(
                [float(abs(e - mean) >= alpha * abs(mean)) for e in values[:, 1].tolist()]
            )
    return columns


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("figure", "overrides"),
    [
        ("dpucb-2arms", ["figure.horizon=40", "runs=31"]),  # over time
        ("horizons", ["figure.sweep.values=[1000,2000]", "runs=7"]),  # over a parameter, per log T
        ("stopping-rules", ["runs=26"]),  # samples, failures
    ],
)
def test_every_number_of_a_table_is_that_of_its_definition(
    figure: str, overrides: list[str]
) -> None:
    spec, _ = compose.load(figure, overrides)
    curves = {(p.letter, c.label): c for p in spec.panels for c in p.curves if not c.is_exact}
    assert curves
    assert {spread for _, spread in DRAWN} == {*statistics.SPREAD_NAMES}
    store: Any = MadeUp()
    for centre, spread in DRAWN:
        series = summarise(replace(spec, centre=centre, spread=spread), store)
        table: dict[tuple[str, str], list[dict[str, str]]] = {}
        for line in csv.DictReader(io.StringIO(to_csv(series).decode())):
            table.setdefault((line["panel"], line["label"]), []).append(line)
        for place, curve in curves.items():
            columns = expected_columns(spec, curve)
            assert len(table[place]) == len(columns)
            for line, values in zip(table[place], columns, strict=True):
                assert int(line["runs"]) == len(values) == curve.runs
                expected = oracle.row(values, centre, spread)
                size = max(map(abs, values))
                if (centre, spread) == ("mean", "confidence"):  # digits of the printed quantiles
                    size *= 1e6
                for name, number in expected.items():
                    assert float(line[name]) == pytest.approx(number, rel=0, abs=1e-12 * size), name


@pytest.mark.usefixtures("in_checkout")
def test_quantiles_among_infinite_runs_are_those_of_a_number_beyond_all_others() -> None:
    rng = np.random.default_rng(5)
    for runs in (1, 2, 5, 8, 21):
        for infinite in range(runs + 1):
            values = np.where(np.arange(runs) < infinite, math.inf, rng.random(runs))
            values = rng.permutation(values)[:, None]
            large = np.where(np.isinf(values), 1e300, values)
            for q in (0.05, 0.25, 0.5, 0.75, 0.95):
                expected = np.quantile(large, q, axis=0)
                found = statistics.quantile(values, q)
                assert np.where(expected > 1e200, math.inf, expected) == found, (values, q)
    assert math.isnan(statistics.standard_deviation(np.array([1.0, math.inf])))


def test_a_bound_has_one_value_in_all_columns_and_no_runs() -> None:
    spec, _ = compose.load("adap-ksweep", ["runs=2"])
    bounds = {
        (p.letter, c.label)
        for p in spec.panels
        for c in p.curves
        if isinstance(c.sources[0], Formula)
    }
    store: Any = MadeUp()
    table = csv.DictReader(io.StringIO(to_csv(summarise(spec, store)).decode()))
    rows = [row for row in table if (row["panel"], row["label"]) in bounds]
    assert rows
    for row in rows:
        same = {row[name] for name in ("mean", "median", "min", "max", "centre", "low", "high")}
        assert len(same) == 1
        assert (row["runs"], float(row["std"])) == ("0", 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_slope_and_miss_are_those_of_least_squares(seed: int) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.lognormal(0.0, 2.0, 9)
    x[7:] *= 0.0, -1.0
    y = rng.lognormal(0.0, 2.0, 9) * rng.choice([1.0, 1.0, 0.0, -1.0], 9)
    y[:3] = 1.0, 2.0, 0.5
    exponent, miss = oracle.power_law(x.tolist(), y.tolist())
    known = (x > 0) & (y > 0)
    found = statistics.power_law(x[known], y[known])
    assert found == pytest.approx((exponent, miss), rel=1e-10)


# Confidence intervals ----------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_an_interval_of_the_median_is_the_shortest_that_covers_it_as_often_as_asked(
    level: float,
) -> None:
    enough = statistics.fewest("median", level)
    for n in range(2, 60):
        values = np.arange(1.0, n + 1)
        low, high = statistics.interval_of_median(values, level)
        assert np.isnan([low, high]).any() == (n < enough)
        if n >= enough:
            j = int(low)
            outside = 2 * sum(math.comb(n, k) for k in range(j)) / 2**n
            assert high == n + 1 - j
            assert outside <= 1 - level
            assert outside + 2 * math.comb(n, j) / 2**n > 1 - level


@pytest.mark.usefixtures("in_checkout")
def test_a_figure_draws_intervals_of_its_level_and_refuses_too_few_runs() -> None:
    asked = ["figure.spread=confidence", "figure.level=0.9", "runs=6"]
    spec, _ = compose.load("adap-c2", asked)
    drawn = "; bands are 90 % confidence intervals of the mean (Student's t)"
    assert captions.statistics(spec).endswith(drawn)
    spec, _ = compose.load("adap-c2", [*asked, "figure.centre=median"])
    assert captions.statistics(spec).endswith("intervals of the median (order statistics)")
    for words, problem in (
        ("figure.spread=confidence runs=1", "interval of the mean at 0.95 needs 2 runs, .* has 1"),
        ("figure.spread=confidence figure.level=95", r"level must be from 0\.5 to 0\.9999, got 95"),
        ("figure.level=0.9", r"figure\.level=0\.9 changes nothing"),
    ):
        with pytest.raises(UserError, match=problem):
            compose.load("adap-c2", words.split())
