"""Regret bounds of wang2024: by hand, by their proofs, and their domain."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.core.errors import UserError
from dpbandits.core.parameters import coerce
from dpbandits.theory import bounds
from dpbandits.theory import wang2024 as wang

FIXED = settings(max_examples=100, derandomize=True, database=None, deadline=None)

NINE = tuple(0.3 + 0.05 * i for i in range(9))  # Instance 1
T = 10**6
LOG_T = math.log(T)

several_means = st.lists(st.integers(1, 99).map(lambda k: k / 100), min_size=2, max_size=8)
budgets = st.floats(-6, 1).map(lambda e: 10.0**e)
deltas = st.floats(-10, -0.01).map(lambda e: 10.0**e)
horizons = st.integers(2, 10**12)


def printed(top: float, bottom: float, epsilon: float) -> float:
    """Return (1/epsilon) log(top/bottom), both of the form A (e^epsilon - 1) + B."""
    return math.log(top / bottom) / epsilon


# Theorem 4 ---------------------------------------------------------------------------------------


def test_theorem_4_by_hand() -> None:
    # S = 10^6, e - 1 = 1.718282: log[(1718281.8 + 50000)/(68.731273 + 50000)] = 3.564367.
    found = wang.global_lower_bound(10**12, 1.0, 0.01, 1.0, 0.5)
    assert found == pytest.approx(3.564367 / 16, rel=1e-6)
    # Without delta only S/(40 c_0) = 12,500 counts.
    assert wang.global_lower_bound(10**12, 0.5, 0.0, 2.0, 0.5) == pytest.approx(
        math.log(12_500) / 8, rel=1e-12
    )


@FIXED
@given(horizons, st.floats(-12, 1).map(lambda e: 10.0**e), deltas, st.floats(0, 0.9))
def test_theorem_4_is_the_printed_formula(
    horizon: int, epsilon: float, delta: float, exponent: float
) -> None:
    with localcontext() as context:
        context.prec = 60
        e = Decimal(epsilon).exp() - 1
        s = Decimal(horizon) ** (1 - Decimal(exponent))
        d = 5 * Decimal(delta) * s
        log = ((e * s + d) / (40 * e + d)).ln() / Decimal(epsilon)
    if horizon < 3 * log:
        with pytest.raises(UserError, match=r"^Theorem 4 is for T >= \S+ here, got "):
            wang.global_lower_bound(horizon, epsilon, delta, 1.0, exponent)
    else:
        found = wang.global_lower_bound(horizon, epsilon, delta, 1.0, exponent)
        assert found == pytest.approx(max(0.0, float(log) / 16), rel=1e-9, abs=1e-9)


def test_theorem_4_reaches_both_limits() -> None:
    zero = (1e6 - 40) / (5 * 0.01 * 1e6) / 16
    assert wang.global_lower_bound(10**12, 0.0, 0.01, 1.0, 0.5) == pytest.approx(zero, rel=1e-12)
    for tiny in (1e-12, 1e-15, 1e-300):
        near = wang.global_lower_bound(10**12, tiny, 0.01, 1.0, 0.5)
        assert near == pytest.approx(zero, rel=1e-10)
        pure = wang.global_lower_bound(10**12, 1.0, tiny, 1.0, 0.5)
        assert pure == pytest.approx(math.log(25_000) / 16, rel=1e-7)
    assert wang.global_lower_bound(10**12, 1e4, 0.01, 1.0, 0.5) > 0


def test_below_zero_theorem_4_says_nothing() -> None:
    assert wang.global_lower_bound(1000, 1.0, 0.0, 1.0, 0.5) == 0.0
    assert wang.global_lower_bound(1600, 1.0, 0.0, 1.0, 0.5) == 0.0
    assert wang.global_lower_bound(1700, 1.0, 0.0, 1.0, 0.5) > 0.0


def test_theorem_4_needs_a_horizon_and_a_budget() -> None:
    # (3/epsilon) log(S/40) with S = 10^3, log 25 = 3.218876: 965.66 and 1072.96.
    assert wang.global_lower_bound(1000, 0.01, 0.0, 1.0, 0.0) > 0
    with pytest.raises(UserError, match=r"^Theorem 4 is for T >= 1072\.96 here, got 1000$"):
        wang.global_lower_bound(1000, 0.009, 0.0, 1.0, 0.0)
    with pytest.raises(UserError, match=r"^Theorem 4 is for epsilon or delta above 0, got 0 and 0"):
        wang.global_lower_bound(1000, 0.0, 0.0, 1.0, 0.0)


@FIXED
@given(budgets, budgets, deltas, deltas)
def test_the_lower_bound_falls_with_both_budgets(a: float, b: float, c: float, d: float) -> None:
    (less, more), (small, large) = sorted((a, b)), sorted((c, d))

    def at(epsilon: float, delta: float) -> float:
        return wang.global_lower_bound(2**53, epsilon, delta, 1.0, 0.5)

    assert at(more, small) <= at(less, small) * (1 + 1e-12)
    assert at(less, large) <= at(less, small) * (1 + 1e-12)


def test_the_exponent_of_a_figure_is_below_1() -> None:
    assert coerce(wang.Exponent, 0) == 0.0
    for wrong in (1, -0.1):
        with pytest.raises(ValueError, match=r"in \[0, 1\)"):
            coerce(wang.Exponent, wrong)


# Theorem 16 --------------------------------------------------------------------------------------


def test_theorem_16_by_hand() -> None:
    # Radius 4.464748: at gaps .4 and .1 sampling dominates, 16 log T/Delta; delta = 0 has 131.2236.
    sampling = 16 * LOG_T * (1 / 0.4 + 1 / 0.1)
    found = wang.ftpl_new_upper_bound((0.2, 0.6, 0.5), T, 1.0, 0.01)
    assert found == pytest.approx(sampling + 12, rel=1e-12)
    mixed = 4 * 1312.236337 + 16 * LOG_T / 0.01 + 12
    found = wang.ftpl_new_upper_bound((0.2, 0.6, 0.59), T, 0.01, 0.0)
    assert found == pytest.approx(mixed, rel=1e-9)


def test_the_best_arms_cost_nothing_beyond_4_an_arm() -> None:
    assert wang.ftpl_new_upper_bound((0.5, 0.5, 0.5), T, 0.1, 0.0) == 12.0
    one = wang.ftpl_new_upper_bound((0.5, 0.4), T, 0.1, 0.0)
    assert wang.ftpl_new_upper_bound((0.5, 0.5, 0.4), T, 0.1, 0.0) == one + 4.0


@FIXED
@given(several_means, horizons, budgets, st.one_of(st.just(0.0), deltas))
def test_the_pulls_of_theorem_16_bring_both_widths_below_the_gap(
    means: list[float], horizon: int, epsilon: float, delta: float
) -> None:
    e = math.expm1(epsilon)
    top, bottom = horizon * (e + 2 * delta), 2 * (e + horizon * delta)
    radius = printed(top, bottom, epsilon)
    total = 4.0 * len(means)
    for gap in [max(means) - mean for mean in means if mean < max(means)]:
        pulls = max(16 * math.log(horizon) / gap**2, 4 * radius / gap)
        assert 2 * (math.sqrt(math.log(horizon) / pulls) + radius / pulls) <= gap * (1 + 1e-9)
        total += gap * pulls
    found = wang.ftpl_new_upper_bound(means, horizon, epsilon, delta)
    assert found == pytest.approx(total, rel=1e-9)


# Theorem 18 --------------------------------------------------------------------------------------


def test_theorem_18_by_hand() -> None:
    # Gaps .4 and .1; log(T^2/2)/epsilon at delta = 0.
    radius = math.log(5e11) / 0.5
    expected = 0.5 * (1024 * LOG_T / 0.01 + 32 * radius / 0.1) + 12
    found = wang.gdp_elim_upper_bound((0.2, 0.6, 0.5), T, 0.5, 0.0)
    assert found == pytest.approx(expected, rel=1e-10)
    # (T^2 - 2)/(T^2 delta) at epsilon = 0.
    expected = 0.5 * (1024 * LOG_T / 0.01 + 32 * 100 / 0.1) + 12
    found = wang.gdp_elim_upper_bound((0.2, 0.6, 0.5), T, 0.0, 0.01)
    assert found == pytest.approx(expected, rel=1e-10)


def phases(means: list[float], horizon: int, epsilon: float, delta: float) -> float:
    """Return Algorithm 4's regret to the phase with 2 Delta(k) <= Delta_min, pulls rounded up."""
    e, t = math.expm1(epsilon), float(horizon) ** 2
    radius = printed(t * (e + delta), 2 * e + t * delta, epsilon)
    gaps = [max(means) - mean for mean in means]
    least = sorted(gaps)[1]
    pulls, size = 0, 1.0
    while 2 * size > least:
        size /= 2
        pulls += math.ceil(max(32 * math.log(horizon) / size**2, 4 * radius / size))
    return pulls * sum(gaps)


@FIXED
@given(several_means, horizons, budgets, st.one_of(st.just(0.0), deltas))
def test_theorem_18_covers_its_phases_rounded_up(
    means: list[float], horizon: int, epsilon: float, delta: float
) -> None:
    if sorted(means)[-2] == max(means):
        with pytest.raises(UserError, match=r"^Theorem 18 is for a unique best arm$"):
            wang.gdp_elim_upper_bound(means, horizon, epsilon, delta)
    else:
        found = wang.gdp_elim_upper_bound(means, horizon, epsilon, delta)
        assert found >= phases(means, horizon, epsilon, delta) + 4 * len(means)


# Both --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [wang.ftpl_new_upper_bound, wang.gdp_elim_upper_bound])
def test_the_upper_bounds_reach_both_limits(bound: Callable[..., float]) -> None:
    means = (0.6, 0.59)
    for tiny in (1e-12, 1e-15, 1e-300):
        assert bound(means, T, tiny, 1e-4) == pytest.approx(bound(means, T, 0.0, 1e-4), rel=1e-7)
        assert bound(means, T, 0.01, tiny) == pytest.approx(bound(means, T, 0.01, 0.0), rel=1e-2)
    assert math.isfinite(bound(means, 2**53, 1e4, 0.5))
    with pytest.raises(UserError, match="is for epsilon or delta above 0, got 0 and 0"):
        bound(means, T, 0.0, 0.0)


@FIXED
@given(several_means, horizons, budgets, budgets, deltas)
def test_the_upper_bounds_fall_with_the_budget(
    means: list[float], horizon: int, a: float, b: float, delta: float
) -> None:
    if sorted(means)[-2] < max(means):
        for bound in (wang.ftpl_new_upper_bound, wang.gdp_elim_upper_bound):
            less = bound(means, horizon, min(a, b), delta)
            assert bound(means, horizon, max(a, b), delta) <= less * (1 + 1e-12)


def test_a_figure_finds_the_bounds_by_their_names() -> None:
    assert {"wang2024.global_lower_bound", "wang2024.ftpl_new_upper_bound"} < set(bounds())
