"""Regret bounds of wang2024: by hand, by their proofs, and their domain."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.core.errors import UserError
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


def test_theorem_4_reaches_both_limits() -> None:
    zero = (1e6 - 40) / (5 * 0.01 * 1e6) / 16
    assert wang.global_lower_bound(10**12, 0.0, 0.01, 1.0, 0.5) == pytest.approx(zero, rel=1e-12)
    for tiny in (1e-12, 1e-15, 1e-300):
        near = wang.global_lower_bound(10**12, tiny, 0.01, 1.0, 0.5)
        assert near == pytest.approx(zero, rel=1e-10)
        pure = wang.global_lower_bound(10**12, 1.0, tiny, 1.0, 0.5)
        assert pure == pytest.approx(math.log(25_000) / 16, rel=1e-7)
    assert wang.global_lower_bound(10**12, 1e4, 0.01, 1.0, 0.5) > 0


def test_theorem_4_needs_a_horizon_and_a_budget() -> None:
    # (3/epsilon) log(S/40) with S = 10^3, log 25 = 3.218876: 965.66 and 1072.96.
    assert wang.global_lower_bound(1000, 0.01, 0.0, 1.0, 0.0) > 0
    with pytest.raises(UserError, match=r"^Theorem 4 is for T >= 1072\.96 here, got 1000$"):
        wang.global_lower_bound(1000, 0.009, 0.0, 1.0, 0.0)
    with pytest.raises(UserError, match=r"^Theorem 4 is for epsilon or delta above 0, got 0 and 0"):
        wang.global_lower_bound(1000, 0.0, 0.0, 1.0, 0.0)


# Theorem 16 --------------------------------------------------------------------------------------


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
