import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from dpbandits.algorithms import adap_klucb
from dpbandits.algorithms._adaptive_episodes import index, index_is_below
from dpbandits.core.kl import (
    bernoulli_kl,
    bernoulli_kl_upper,
    kl_upper_is_below,
    larger_kl_upper,
    narrower,
    wider,
)

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)

PROMISE = 1e-12  # the accuracy that bernoulli_kl_upper states
BELOW_ONE = math.nextafter(1.0, 0.0)
EPS = 2.0**-52

PS = [0.0, 1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9, 1.0]
LEVELS = [0.0, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 50.0, 700.0]

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


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("p", PS)
def test_the_upper_inverse_is_within_1e_12_of_the_root(p: float, level: float) -> None:
    assert abs(bernoulli_kl_upper(p, level) - exact_upper(p, level)) <= PROMISE


@FIXED
@given(probabilities, levels)
def test_the_upper_inverse_is_within_1e_12_of_the_root_everywhere(p: float, level: float) -> None:
    assert abs(bernoulli_kl_upper(p, level) - exact_upper(p, level)) <= PROMISE


@pytest.mark.parametrize("level", LEVELS)
def test_from_one_there_is_no_way_up(level: float) -> None:
    assert bernoulli_kl_upper(1.0, level) == 1.0


@FIXED
@given(probabilities)
def test_at_level_zero_the_upper_inverse_stays_where_it_is(p: float) -> None:
    assert bernoulli_kl_upper(p, 0.0) == pytest.approx(p, rel=0.0, abs=PROMISE)


@FIXED
@given(st.floats(0.0, 700.0))
def test_from_zero_the_upper_inverse_is_closed(level: float) -> None:
    # d(0, q) = -log(1-q).
    assert bernoulli_kl_upper(0.0, level) == pytest.approx(-math.expm1(-level), rel=2 * EPS)


def test_the_upper_inverse_is_a_probability_not_below_p() -> None:
    # At a level far below p, rounding puts the last step below p about once in a hundred.
    rng = np.random.default_rng(21)
    exponents = rng.uniform(-16, 0, 5000)
    near_zero, near_one = 10.0**exponents, 1.0 - 10.0**exponents
    for p in np.concatenate([near_zero, near_one]).tolist():
        for level in (10.0 ** rng.uniform(-40, -8), 10.0 ** rng.uniform(-8, 300)):
            assert p <= bernoulli_kl_upper(p, level) <= 1.0


@FIXED
@given(probabilities, levels, levels)
def test_the_upper_inverse_increases_with_the_level(p: float, a: float, b: float) -> None:
    # Either value may be off by the promised accuracy.
    low, high = bernoulli_kl_upper(p, min(a, b)), bernoulli_kl_upper(p, max(a, b))
    assert low <= high + 2 * PROMISE


@FIXED
@given(probabilities, probabilities, levels)
def test_the_upper_inverse_increases_with_p(a: float, b: float, level: float) -> None:
    # Either value may be off by the promised accuracy.
    low, high = bernoulli_kl_upper(min(a, b), level), bernoulli_kl_upper(max(a, b), level)
    assert low <= high + 2 * PROMISE


@FIXED
@given(probabilities, st.floats(-16.0, 3.0).map(lambda e: 10.0**e))
def test_the_divergence_of_the_upper_inverse_does_not_exceed_the_level(
    p: float, level: float
) -> None:
    # The root is rounded in the last digits of q, where d is as steep as 1/(1-q), and d itself in
    # the last digits of its terms, which are of the order of 1 and of the level.
    q = max(p, bernoulli_kl_upper(p, level) - 4 * EPS)
    assert float(exact_kl(p, q)) <= level + 4 * EPS * (1.0 + level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("p", PS)
def test_compiled_and_plain_python_give_the_same_bits(p: float, level: float) -> None:
    in_python: Any = getattr(bernoulli_kl_upper, "py_func", bernoulli_kl_upper)
    assert bernoulli_kl_upper(p, level) == in_python(p, level)


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
    assert larger_kl_upper(q, p, level) == max(q, bernoulli_kl_upper(p, level))


@FIXED
@given(probabilities, probabilities)
def test_what_is_wider_or_narrower_differs_by_more_than_the_rounding_of_a_divergence(
    p: float, q: float
) -> None:
    exact = exact_kl(p, q)
    if exact.is_finite():
        assert narrower(bernoulli_kl(p, q)) < exact < wider(bernoulli_kl(p, q))
        assert narrower(float(exact)) < bernoulli_kl(p, q) < wider(float(exact))


@MANY
@given(probabilities, levels, st.integers(0, 8))
def test_no_inverse_counts_as_smaller_than_itself_or_its_next_neighbours(
    p: float, level: float, steps: int
) -> None:
    q = bernoulli_kl_upper(p, level)
    for _ in range(steps // 4):
        q = math.nextafter(q, 0.0)
    assert not kl_upper_is_below(p, level, q)


@MANY
@given(st.floats(0.0, 0.99), st.floats(1e-6, 3.0), st.floats(1e-5, 1.0))
def test_a_clearly_smaller_inverse_is_recognised(p: float, level: float, by: float) -> None:
    q = bernoulli_kl_upper(p, level) + by
    assert kl_upper_is_below(p, level, q) == (q < 1.0)


@pytest.mark.parametrize("q", [1.0, math.inf, -math.inf, math.nan])
def test_nothing_counts_as_smaller_than_1_or_what_is_no_number(q: float) -> None:
    for p, level in ((0.3, 0.1), (0.0, 0.0), (1.0, 0.0), (math.nan, 0.1), (0.3, math.nan)):
        assert not kl_upper_is_below(p, level, q)
    assert not kl_upper_is_below(math.nan, 0.1, 0.5)
    assert not kl_upper_is_below(0.3, math.nan, 0.5)


@FIXED
@given(
    *(st.floats(-1.0, 1.0), st.integers(0, 20), st.floats(0.0, 16.0)),
    st.sampled_from(adap_klucb.PrivacyBonus),
)
def test_an_arm_is_passed_over_below_a_larger_index_and_not_below_its_own(
    mean: float, doubled: int, log_t: float, bonus: adap_klucb.PrivacyBonus
) -> None:
    params = adap_klucb.Params(0.5, privacy_bonus=bonus)
    own = index(params, mean, 2.0**doubled, log_t)
    assert not index_is_below(params, mean, 2.0**doubled, log_t, own)
    if own < 0.98:
        assert index_is_below(params, mean, 2.0**doubled, log_t, own + 0.01)
