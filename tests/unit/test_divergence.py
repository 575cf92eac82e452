"""Divergences: d of two Bernoulli laws, its upper inverse, and the private d_epsilon."""

import math
from decimal import Decimal, localcontext

import azize2025_bounds
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from dpbandits.algorithms.dp_klucb import private_divergence, private_divergence_upper
from dpbandits.kernel.kl import (
    ABSOLUTE,
    RELATIVE,
    bernoulli_kl,
    bernoulli_kl_upper,
    kl_upper_is_below,
)
from dpbandits.theory.azize2022 import no_privacy_lower_bound, problem_dependent_lower_bound
from dpbandits.theory.azize2025 import lower_bound, transitions

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)
FIXED_200 = settings(FIXED, max_examples=200)

PROMISE = 1e-12  # the accuracy that bernoulli_kl_upper states
BELOW_ONE = math.nextafter(1.0, 0.0)
EPS = 2.0**-52

probabilities = st.one_of(
    st.floats(0.0, 1.0),
    st.floats(-300.0, 0.0).map(lambda e: 10.0**e),
    st.floats(-15.0, 0.0).map(lambda e: 1.0 - 10.0**e),
)
levels = st.one_of(st.just(0.0), st.floats(-16.0, 3.0).map(lambda e: 10.0**e))


def exact_kl(p: float, q: float) -> Decimal:
    """Return d(p, q) of exactly these floats, to more than 50 digits, or infinity."""
    with localcontext() as context:
        context.prec = 60
        total = Decimal(0)
        for x, y in ((Decimal(p), Decimal(q)), (1 - Decimal(p), 1 - Decimal(q))):
            if x and not y:
                return Decimal("inf")
            if x:
                total += x * (x / y).ln()
        return total


def exact_upper(p: float, level: float) -> float:
    """Return max {q: d(p, q) <= level}, bracketed with the exact d, to a few last digits."""
    if level == 0.0:
        return p
    if p >= BELOW_ONE or exact_kl(p, BELOW_ONE) <= Decimal(level):
        return 1.0
    return float(
        brentq(
            lambda q: float(exact_kl(p, q) - Decimal(level)),
            p,
            BELOW_ONE,
            xtol=1e-300,
            rtol=4 * EPS,
        )
    )


# The divergence --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        (0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0),
        (0.5, 0.5, 0.0),
        (0.0, 1.0, math.inf),
        (1.0, 0.0, math.inf),
        (0.5, 0.0, math.inf),
        (0.5, 1.0, math.inf),
        (1e-300, 0.0, math.inf),
        (BELOW_ONE, 1.0, math.inf),
        (0.0, 0.75, math.log(4.0)),
        (1.0, 0.25, math.log(4.0)),
        (0.5, 0.25, 0.5 * math.log(4.0 / 3.0)),
    ],
)
def test_the_divergence_has_its_limits_at_zero_and_one(p: float, q: float, expected: float) -> None:
    assert bernoulli_kl(p, q) == pytest.approx(expected, rel=1e-15)


@FIXED
@given(probabilities, st.floats(1e-290, BELOW_ONE))
def test_the_divergence_is_exact_up_to_the_rounding_of_its_two_terms(p: float, q: float) -> None:
    # Each term x log(x/y) rounds x, x/y, the logarithm and the product.
    terms = [p * abs(math.log(p / q)) if p else 0.0, (1 - p) * abs(math.log1p(-q))]
    terms.append((1 - p) * abs(math.log1p(-p)) if p < 1 else 0.0)
    tolerance = 2 * EPS * (1.0 + sum(terms))
    assert abs(bernoulli_kl(p, q) - float(exact_kl(p, q))) <= tolerance


# Its upper inverse -----------------------------------------------------------------------------


@FIXED_200
@given(probabilities, levels)
def test_the_upper_inverse_is_within_1e_12_of_the_root(p: float, level: float) -> None:
    assert abs(bernoulli_kl_upper(p, level) - exact_upper(p, level)) <= PROMISE


def test_the_upper_inverse_is_a_probability_not_below_p() -> None:
    # At a level far below p, rounding puts the last step below p about once in a hundred.
    rng = np.random.default_rng(21)
    exponents = rng.uniform(-16, 0, 5000)
    near_zero, near_one = 10.0**exponents, 1.0 - 10.0**exponents
    for p in np.concatenate([near_zero, near_one]).tolist():
        for level in (10.0 ** rng.uniform(-40, -8), 10.0 ** rng.uniform(-8, 300)):
            assert p <= bernoulli_kl_upper(p, level) <= 1.0


# Comparisons without the inverse ------------------------------------------------------------------

MANY = settings(max_examples=2000, derandomize=True, database=None, deadline=None)


@MANY
@given(probabilities, levels, probabilities, levels)
def test_an_inverse_that_is_recognised_as_smaller_is_smaller(
    p: float, level: float, other: float, its_level: float
) -> None:
    q = bernoulli_kl_upper(other, its_level)
    if kl_upper_is_below(p, level, q):
        assert bernoulli_kl_upper(p, level) < q


@FIXED
@given(probabilities, probabilities)
def test_the_margins_are_more_than_the_rounding_of_a_divergence(p: float, q: float) -> None:
    def between(d: float) -> tuple[float, float]:
        return d * (1.0 - RELATIVE) - ABSOLUTE, d * (1.0 + RELATIVE) + ABSOLUTE

    exact, rounded = exact_kl(p, q), bernoulli_kl(p, q)
    if exact.is_finite():
        low, high = between(rounded)
        assert low < exact < high
        low, high = between(float(exact))
        assert low < rounded < high


@MANY
@given(probabilities, levels, st.integers(0, 8))
def test_no_inverse_counts_as_smaller_than_itself_or_its_next_neighbours(
    p: float, level: float, steps: int
) -> None:
    q = bernoulli_kl_upper(p, level)
    for _ in range(steps // 4):
        q = math.nextafter(q, 0.0)
    assert not kl_upper_is_below(p, level, q)


@pytest.mark.parametrize("q", [1.0, math.inf, -math.inf, math.nan])
def test_nothing_counts_as_smaller_than_1_or_what_is_no_number(q: float) -> None:
    for p, level in ((0.3, 0.1), (0.0, 0.0), (1.0, 0.0), (math.nan, 0.1), (0.3, math.nan)):
        assert not kl_upper_is_below(p, level, q)
    assert not kl_upper_is_below(math.nan, 0.1, 0.5)
    assert not kl_upper_is_below(0.3, math.nan, 0.5)


# d_epsilon of azize2025: closed form, limits, upper inverse ---------------------------------------

inside = st.floats(1e-6, 1 - 1e-6)
with_ends = st.one_of(inside, st.sampled_from([0.0, 1.0]))
budgets = st.floats(-3.0, 3.0).map(lambda e: 10.0**e)
some_levels = st.floats(-9.0, 1.5).map(lambda e: 10.0**e)


@FIXED_200
@given(with_ends, with_ends, budgets)
def test_the_closed_form_is_the_infimum(x: float, y: float, epsilon: float) -> None:
    expected = azize2025_bounds.divergence(x, y, epsilon)
    assert private_divergence(x, y, epsilon) == pytest.approx(expected, rel=1e-7, abs=1e-11)


@FIXED_200
@given(inside, inside, budgets)
def test_privacy_is_free_exactly_from_the_threshold_on(x: float, y: float, epsilon: float) -> None:
    x, y = min(x, y), max(x, y)
    assume(y - x > 1e-3)
    threshold = math.log(y / x) + math.log((1 - x) / (1 - y))
    assume(abs(epsilon - threshold) > 1e-3)
    free = private_divergence(x, y, epsilon) == bernoulli_kl(x, y)
    assert free == (epsilon > threshold)


@FIXED_200
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


@FIXED_200
@given(st.one_of(inside, st.just(0.0)), some_levels, budgets)
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


@FIXED_200
@given(inside, some_levels, some_levels, budgets)
def test_the_upper_inverse_grows_with_the_level_and_is_above_that_of_kl(
    x: float, a: float, b: float, epsilon: float
) -> None:
    low, high = sorted(private_divergence_upper(x, level, epsilon) for level in (a, b))
    assert private_divergence_upper(x, min(a, b), epsilon) <= high + 2e-12
    assert low >= bernoulli_kl_upper(x, min(a, b)) - 2e-12


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
