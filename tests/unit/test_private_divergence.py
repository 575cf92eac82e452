"""d_epsilon of azize2025: its closed form, its limits, its upper inverse."""

import itertools
import math
from typing import Any

import azize2025_bounds
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpbandits.algorithms.dp_klucb import (
    private_divergence,
    private_divergence_upper,
)
from dpbandits.core.kl import bernoulli_kl, bernoulli_kl_upper
from dpbandits.theory.azize2022 import no_privacy_lower_bound, problem_dependent_lower_bound
from dpbandits.theory.azize2025 import lower_bound, transitions

FIXED = settings(max_examples=200, derandomize=True, database=None, deadline=None)
POINTS = [0.0, 1e-6, 0.05, 0.3, 0.5, 0.77, 0.999, 1.0]
EPSILONS = [1e-3, 0.1, 0.5, 1.0, 3.0, 40.0, 1000.0]
LEVELS = [0.0, 1e-9, 1e-4, 0.02, 0.3, 2.0, 30.0]

inside = st.floats(1e-6, 1 - 1e-6)
budgets = st.floats(-3.0, 1.5).map(lambda e: 10.0**e)
levels = st.floats(-9.0, 1.5).map(lambda e: 10.0**e)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("x", "y"), list(itertools.product(POINTS, POINTS)))
def test_the_closed_form_is_the_infimum(x: float, y: float, epsilon: float) -> None:
    expected = azize2025_bounds.divergence(x, y, epsilon)
    assert private_divergence(x, y, epsilon) == pytest.approx(expected, rel=1e-7, abs=1e-11)


@FIXED
@given(inside, inside, budgets)
def test_the_closed_form_is_the_infimum_everywhere(x: float, y: float, epsilon: float) -> None:
    expected = azize2025_bounds.divergence(x, y, epsilon)
    assert private_divergence(x, y, epsilon) == pytest.approx(expected, rel=1e-7, abs=1e-11)


@FIXED
@given(inside, inside, budgets)
def test_privacy_is_free_exactly_from_the_threshold_on(x: float, y: float, epsilon: float) -> None:
    x, y = min(x, y), max(x, y)
    assume(y - x > 1e-3)
    threshold = math.log(y / x) + math.log((1 - x) / (1 - y))
    assume(abs(epsilon - threshold) > 1e-3)
    free = private_divergence(x, y, epsilon) == bernoulli_kl(x, y)
    assert free == (epsilon > threshold)


@FIXED
@given(inside, inside, inside, budgets, budgets)
def test_the_divergence_grows_with_the_distance_and_with_the_budget(
    x: float, y: float, further: float, a: float, b: float
) -> None:
    near, far = sorted((y, further), key=lambda other: abs(other - x))
    assume((near - x) * (far - x) > 0)
    low, high = private_divergence(x, near, a), private_divergence(x, far, a)
    assert low <= high + 1e-12
    assert private_divergence(x, y, min(a, b)) <= private_divergence(x, y, max(a, b)) + 1e-15


# Upper inverse -----------------------------------------------------------------------------------


@FIXED
@given(st.one_of(inside, st.just(0.0)), levels, budgets)
def test_the_upper_inverse_is_where_the_divergence_is_the_level(
    x: float, level: float, epsilon: float
) -> None:
    y = private_divergence_upper(x, level, epsilon)
    assert x <= y <= 1.0
    if y == 1.0:
        assert private_divergence(x, math.nextafter(1.0, 0.0), epsilon) <= level * (1 + 1e-9)
        return
    # y is exact to 1e-12, and near 1 the divergence is at most as steep as 1/(1-y).
    around = (max(x, y - 2e-12), min(1.0, y + 2e-12))
    low, high = (private_divergence(x, each, epsilon) for each in around)
    assert low <= level * (1 + 1e-9) + 1e-12
    assert level <= high * (1 + 1e-9) + 1e-12


@FIXED
@given(inside, levels, levels, budgets)
def test_the_upper_inverse_grows_with_the_level_and_is_above_that_of_kl(
    x: float, a: float, b: float, epsilon: float
) -> None:
    low, high = sorted(private_divergence_upper(x, level, epsilon) for level in (a, b))
    assert private_divergence_upper(x, min(a, b), epsilon) <= high + 2e-12
    assert low >= bernoulli_kl_upper(x, min(a, b)) - 2e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("x", POINTS)
def test_compiled_and_plain_python_invert_to_the_same_bits(
    x: float, level: float, epsilon: float
) -> None:
    in_python: Any = getattr(private_divergence_upper, "py_func", private_divergence_upper)
    assert private_divergence_upper(x, level, epsilon) == in_python(x, level, epsilon)


# Lower bound -------------------------------------------------------------------------------------

MEANS = (0.75, 0.625, 0.5, 0.375, 0.25)


def test_the_lower_bound_is_that_of_lai_and_robbins_from_the_last_transition_on() -> None:
    last = transitions(MEANS)[-1]
    free = no_privacy_lower_bound(MEANS, 10**6)
    assert lower_bound(MEANS, 10**6, last * 1.0001) == pytest.approx(free, rel=1e-12)
    assert lower_bound(MEANS, 10**6, last * 0.9) > free * 1.0001


def test_the_high_privacy_bound_is_six_times_that_of_azize2022() -> None:
    # Theorem 3 has 6 epsilon Delta where d_epsilon is at most epsilon Delta.
    earlier = problem_dependent_lower_bound(MEANS, 10**6, 1e-6)
    assert lower_bound(MEANS, 10**6, 1e-6) == pytest.approx(6 * earlier, rel=1e-4)
    for epsilon in (0.01, 0.1, 1.0, 10.0):
        assert lower_bound(MEANS, 10**6, epsilon) >= problem_dependent_lower_bound(
            MEANS, 10**6, epsilon
        )
