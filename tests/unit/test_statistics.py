import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.tables import statistics

Statistic = Callable[[np.ndarray], np.ndarray]

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)

# A sum of 40 numbers loses at most 40 * 2^-53 = 4e-15 of the largest; this leaves room for the
# few operations before and after it.
ROUNDING = 1e-13

# Multiples of 1/1024, whose small whole multiples and sums are exact, from 0 to 2048 with ties.
exact_numbers = st.integers(-(2**21), 2**21).map(lambda k: k / 1024)


def few_runs(most: int) -> st.SearchStrategy[np.ndarray]:
    # Cubes of signed bytes: many times faster to generate than a list of numbers.
    numbers = st.binary(min_size=1, max_size=most)
    return numbers.map(lambda b: np.frombuffer(b, np.int8).astype(float) ** 3 / 1024)


samples = few_runs(40)
factors = st.floats(0.01, 100.0)

EACH: dict[str, Statistic] = {
    "mean": statistics.mean,
    "standard_deviation": statistics.standard_deviation,
    "standard_error": statistics.standard_error,
    "median": statistics.CENTRES["median"],
    "median_of_means": statistics.median_of_means,
    "median_of_means of 3 groups": lambda values: statistics.median_of_means(values, 3),
    "gini_mean_difference": statistics.gini_mean_difference,
    "gini_above": lambda values: statistics.one_sided_gini(values, np.array(0.5), 1),
    "gini_below": lambda values: statistics.one_sided_gini(values, np.array(0.5), -1),
}
LOCATIONS = ["mean", "median", "median_of_means", "median_of_means of 3 groups"]
DEVIATIONS = ["standard_deviation", "standard_error", "gini_mean_difference"]


def close(
    actual: np.ndarray, expected: np.ndarray | float, scale: float, message: str = ""
) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=ROUNDING * scale, err_msg=message)


def size(*arrays: np.ndarray) -> float:
    return max(1.0, *(float(np.abs(array).max()) for array in arrays))


def plain_mean(numbers: list[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def plain_median(numbers: list[float]) -> float:
    ordered = sorted(numbers)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def plain_gini(numbers: list[float]) -> float:
    n = len(numbers)
    if n < 2:
        return 0.0
    pairs = (abs(numbers[i] - numbers[j]) for i in range(n) for j in range(n) if i != j)
    return math.fsum(pairs) / (n * (n - 1))


# The definitions -------------------------------------------------------------------------------


@FIXED
@given(samples)
def test_the_standard_deviation_divides_the_squares_by_runs_minus_one(values: np.ndarray) -> None:
    numbers = values.tolist()
    centre = plain_mean(numbers)
    squares = math.fsum((x - centre) ** 2 for x in numbers)
    expected = math.sqrt(squares / (len(numbers) - 1)) if len(numbers) > 1 else 0.0
    close(statistics.standard_deviation(values), expected, size(values))


def test_the_standard_error_is_the_deviation_over_the_root_of_the_runs() -> None:
    values = np.array([1.0, 4.0, 1.0, 4.0])
    # Squares around 2.5: 4 * 2.25 = 9; divided by 3 and then by 4 runs.
    assert statistics.standard_error(values) == pytest.approx(math.sqrt(9 / 3 / 4), rel=1e-15)


@FIXED
@given(samples)
def test_the_median_is_the_middle_one_or_the_mean_of_the_two_middle_ones(
    values: np.ndarray,
) -> None:
    assert statistics.CENTRES["median"](values) == plain_median(values.tolist())


@FIXED
@given(samples)
def test_the_gini_mean_difference_is_the_mean_over_all_pairs(values: np.ndarray) -> None:
    close(statistics.gini_mean_difference(values), plain_gini(values.tolist()), size(values))


def test_the_median_of_means_of_720_runs_takes_24_contiguous_groups_of_30() -> None:
    values = np.random.default_rng(1).exponential(size=720)
    numbers = values.tolist()
    means = [plain_mean(numbers[30 * g : 30 * (g + 1)]) for g in range(24)]
    close(statistics.median_of_means(values), plain_median(means), 1.0)


def test_the_median_of_an_even_number_of_means_is_the_mean_of_the_two_middle_ones() -> None:
    values = np.array([0.0, 2.0, 10.0, 14.0, 3.0, 5.0, 100.0, 300.0])
    # The means are 1, 12, 4, 200.
    assert statistics.median_of_means(values, 4) == 8.0


@pytest.mark.parametrize(("runs", "groups"), [(50, 24), (25, 24), (47, 24), (7, 3)])
def test_if_the_groups_do_not_divide_the_runs_the_first_groups_have_one_run_more(
    runs: int, groups: int
) -> None:
    numbers = np.random.default_rng(2).exponential(size=runs).tolist()
    means, at = [], 0
    for group in range(groups):
        length = runs // groups + (group < runs % groups)
        means.append(plain_mean(numbers[at : at + length]))
        at += length
    close(statistics.median_of_means(np.array(numbers), groups), plain_median(means), 1.0)


@FIXED
@given(few_runs(24))
def test_with_fewer_runs_than_groups_the_median_of_means_is_the_median(values: np.ndarray) -> None:
    assert statistics.median_of_means(values, 24) == plain_median(values.tolist())


# Shapes and few runs ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("runs", [1, 2, 7, 30])
def test_every_column_is_summed_up_by_itself(name: str, runs: int) -> None:
    values = np.random.default_rng(4).random((runs, 3))
    table = EACH[name](values)
    assert table.shape == (3,)
    for column in range(3):
        alone = EACH[name](values[:, column])
        assert np.shape(alone) == ()
        # Along a row numpy adds in a different order from along a column.
        close(table[column], float(alone), 1.0)


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


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param([2.0, 2.0, 2.0], id="none beyond"),
        pytest.param([1.0, 2.0, 3.0], id="one on either side"),
        pytest.param([2.0], id="one run"),
    ],
)
def test_a_side_with_fewer_than_two_values_deviates_by_nothing(numbers: list[float]) -> None:
    values, centre = np.array(numbers), np.array(2.0)
    assert statistics.one_sided_gini(values, centre, 1) == 0.0
    assert statistics.one_sided_gini(values, centre, -1) == 0.0


@FIXED
@given(samples, exact_numbers)
def test_one_sided_ginis_are_the_pairs_of_each_side(values: np.ndarray, at: float) -> None:
    numbers = values.tolist()
    above = plain_gini([x for x in numbers if x > at])
    below = plain_gini([x for x in numbers if x < at])
    close(statistics.one_sided_gini(values, np.array(at), 1), above, size(values))
    close(statistics.one_sided_gini(values, np.array(at), -1), below, size(values))


# Properties ------------------------------------------------------------------------------------


@FIXED
@given(samples, exact_numbers, factors)
def test_a_centre_moves_and_grows_with_the_values(
    values: np.ndarray, shift: float, factor: float
) -> None:
    moved = factor * values + shift
    for name in LOCATIONS:
        expected = factor * float(EACH[name](values)) + shift
        close(EACH[name](moved), expected, size(moved, factor * values, np.array(shift)), name)


@FIXED
@given(samples, exact_numbers, factors)
def test_a_deviation_grows_with_the_values_and_does_not_move(
    values: np.ndarray, shift: float, factor: float
) -> None:
    moved = -factor * values + shift
    for name in DEVIATIONS:
        expected = factor * float(EACH[name](values))
        close(EACH[name](moved), expected, size(moved, factor * values, np.array(shift)), name)


def test_the_order_of_the_runs_counts_in_the_median_of_means() -> None:
    assert statistics.median_of_means(np.array([0.0, 0.0, 0.0, 0.0, 6.0, 6.0]), 3) == 0.0
    assert statistics.median_of_means(np.array([0.0, 6.0, 0.0, 6.0, 0.0, 0.0]), 3) == 3.0


@pytest.mark.parametrize("runs", [3, 7, 20, 100])
def test_the_gini_mean_difference_of_equal_values_is_not_negative(runs: int) -> None:
    # Batched policies end in few distinct values, so one side of the centre is often a single
    # value many times; a negative difference puts the end of its bar on the wrong side.
    values = np.tile(np.random.default_rng(5).random(500), (runs, 1))
    assert statistics.gini_mean_difference(values).min() >= 0.0


# Drawn statistics ------------------------------------------------------------------------------


def test_a_figure_finds_each_spread_under_its_name() -> None:
    values = np.array([0.0, 1.0, 2.0, 4.0, 13.0])
    centre = np.array(3.0)
    deviation = math.sqrt((16 + 9 + 4 + 0 + 81) / 4)
    expected = {
        "none": (3.0, 3.0),
        "std": (3.0 - deviation, 3.0 + deviation),
        "standard-error": (3.0 - deviation / math.sqrt(5), 3.0 + deviation / math.sqrt(5)),
        "quartiles": (1.0, 4.0),
        "nine-tenths": (0.2, 11.2),
        # Below 3 the pairs differ by 1, 2, 1; above by 9.
        "gini": (3.0 - 4 / 3, 3.0 + 9.0),
    }
    assert set(statistics.SPREADS) == set(expected)
    for name, (low, high) in expected.items():
        drawn = statistics.SPREADS[name](values, centre)
        np.testing.assert_allclose(drawn, (low, high), rtol=1e-14)


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


def test_the_gini_mean_difference_of_a_normal_law_is_two_sigma_over_root_pi() -> None:
    n, sigma = 20_000, 3.0
    values = np.random.default_rng(7).normal(5.0, sigma, n)
    # The estimate's own standard deviation is 0.807 sigma / sqrt(n); allow four of them.
    tolerance = 4 * 0.807 * sigma / math.sqrt(n)
    expected = 2 * sigma / math.sqrt(math.pi)
    assert statistics.gini_mean_difference(values) == pytest.approx(expected, abs=tolerance)


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


# The slope -------------------------------------------------------------------------------------


@FIXED
@given(st.floats(-4, 4), st.floats(1e-3, 1e3))
def test_the_slope_of_a_power_law_is_its_exponent(exponent: float, factor: float) -> None:
    x = np.array([2.0, 4.0, 8.0, 16.0, 100.0])
    # The logarithms are below 26 and each is rounded.
    slope, _ = statistics.power_law(x, factor * x**exponent)
    assert slope == pytest.approx(exponent, abs=1e-13)


def test_points_without_a_logarithm_do_not_bend_the_slope() -> None:
    x = np.array([0.0, -1.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    y = np.array([5.0, 5.0, 1.0, 4.0, 0.0, 16.0, -2.0])
    assert statistics.power_law(x, y)[0] == pytest.approx(2.0, abs=1e-13)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        pytest.param([1.0, 2.0], [0.0, 0.0], id="no positive y"),
        pytest.param([0.0, -2.0], [1.0, 1.0], id="no positive x"),
        pytest.param([1.0, 2.0], [1.0, 0.0], id="one point"),
        pytest.param([2.0, 2.0], [1.0, 3.0], id="one x twice"),
        pytest.param([1.0, 2.0], [1.0, math.nan], id="a point without value"),
        pytest.param([], [], id="no point"),
    ],
)
def test_the_slope_is_undefined_without_two_points(x: list[float], y: list[float]) -> None:
    assert all(map(math.isnan, statistics.power_law(np.array(x), np.array(y))))


def test_the_miss_of_a_fit_is_the_largest_factor_between_a_point_and_its_line() -> None:
    x = np.array([0.0, 1.0, 10.0, 100.0])
    assert statistics.power_law(x, 7 * x**1.5)[1] == pytest.approx(1, abs=1e-12)
    # The line nearest to (1, 2), (10, 2000), (100, 2) is flat, at their geometric mean, 20.
    y = np.array([5.0, 2.0, 2000.0, 2.0])
    assert statistics.power_law(x, y)[1] == pytest.approx(100, rel=1e-12)
