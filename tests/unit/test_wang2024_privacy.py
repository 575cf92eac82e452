"""wang2024: distributions, the region and the smallest delta of Lemma 8, N_G*, N_B*, regret."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss
from dpbandits.kernel.errors import UserError
from dpbandits.theory import wang2024
from dpbandits.theory import wang2024_privacy as wang
from dpbandits.theory.wang2024_privacy import Lemma15, Tails

FIXED = settings(max_examples=100, derandomize=True, database=None, deadline=None)
E10 = math.exp(-10)

budgets = st.one_of(st.just(0.0), st.floats(-12, 1.3).map(lambda e: 10.0**e))
deltas = st.floats(-10, -0.01).map(lambda e: 10.0**e)
unit = st.floats(0, 1)


def violation(original: Tails, other: Tails, epsilon: float) -> float:
    """Return the delta that the four inequalities of Lemma 8 need at one x."""
    (f, s), (g, r), e = original, other, math.exp(epsilon)
    return max(f - e * g, s - e * r, g - e * f, r - e * s)


# F and F' ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("u", [-60.0, -50.0, -3.0, -0.5, 0.0, 0.5, 3.0, 50.0, 60.0])
def test_new_reaches_both_limits(u: float) -> None:
    uniform = min(1.0, max(0.0, 0.5 + 0.01 * u))
    laplace = 0.5 * math.exp(0.3 * u) if u <= 0 else 1 - 0.5 * math.exp(-0.3 * u)
    assert Lemma15(0.0, 0.01).tails(u).below == pytest.approx(uniform, rel=1e-14, abs=1e-15)
    assert Lemma15(0.3, 0.0).tails(u).below == pytest.approx(laplace, rel=1e-14)
    for tiny in (1e-12, 1e-15, 1e-300):
        assert Lemma15(tiny, 0.01).tails(u).below == pytest.approx(uniform, rel=1e-9, abs=1e-9)
        assert Lemma15(0.3, tiny).tails(u).below == pytest.approx(laplace, rel=1e-4, abs=4e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.1, 0.0), (0.0, 0.01), (1e-9, 0.1)])
@pytest.mark.parametrize("horizon", [2, 10**6, 2**53])
def test_the_radius_leaves_one_in_t_on_either_side(
    epsilon: float, delta: float, horizon: int
) -> None:
    # Fact 4; the proof of Theorem 18 uses the same with T^2 and delta/2.
    law = Lemma15(epsilon, delta)
    for t in (float(horizon), float(horizon) ** 2):
        radius = law.radius(t)
        assert law.tails(-radius).below == pytest.approx(1 / t, abs=1e-15)
        assert law.tails(radius).above == pytest.approx(1 / t, abs=1e-15)


# The region of Lemma 8 ---------------------------------------------------------------------------


@FIXED
@given(unit, st.floats(-12, 0.5).map(lambda e: 10.0**e), st.one_of(st.just(0.0), deltas))
def test_the_region_ends_where_one_of_the_four_inequalities_does(
    f: float, epsilon: float, delta: float
) -> None:
    original = Tails(f, 1 - f)
    low = original.lowest(epsilon, delta)
    high = original.highest(epsilon, delta)
    assert 0 <= low <= f + 1e-15
    assert f - 1e-15 <= high <= 1
    for edge, beyond in ((low, low - 1e-7), (high, high + 1e-7)):
        assert violation(original, Tails(edge, 1 - edge), epsilon) <= delta + 1e-14
        if 0 <= beyond <= 1:
            assert violation(original, Tails(beyond, 1 - beyond), epsilon) > delta


def test_a_large_epsilon_overflows_nowhere() -> None:
    # At epsilon = 50 the tail of 10^-22 counts, though F is 1 to the last digit.
    assert Tails(1.0, 1e-22).lowest(50.0, 0.0) == pytest.approx(0.4815294)
    for epsilon in (709.0, 711.0, 1e4, 1e300):
        assert 0 <= wang.gauss_region_low(0.4, 5, 2, epsilon, 0.01) < 1e-300
        assert wang.gauss_region_high(0.4, 5, 2, epsilon, 0.01) == 1.0
        assert 0 <= wang.new_region_low(0.4, 5, 2, 100, epsilon, 0.0) < 1e-300
        assert wang.gauss_smallest_delta(1, epsilon) == 0.0
        assert wang.beta_smallest_delta(1, epsilon, False) < 1e-290


# The smallest delta ------------------------------------------------------------------------------


def with_k(pulls: int, epsilon: float) -> float:
    return wang.beta_smallest_delta(pulls, epsilon, True)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("pulls", [100, 827, 2000])
def test_the_worst_history_stays_that_for_many_pulls(pulls: int, epsilon: float) -> None:
    k = pulls // 8 + 1
    a = np.arange(k + 1, pulls + k + 1)
    b, e = pulls + 1 + 2 * k - a, math.exp(epsilon)
    x = a / (a + b * e)
    needed = stats.beta.cdf(x, a, b + 1) - e * stats.beta.cdf(x, a + 1, b)
    assert needed.argmax() == 0
    found = wang.beta_smallest_delta(pulls, epsilon, True)
    assert found == pytest.approx(needed.max(), rel=1e-7, abs=1e-15)


def test_without_k_the_smallest_delta_of_beta_falls_to_that_of_two_gammas() -> None:
    # N theta tends to Gamma(1) and Gamma(2), whose worst x is e^-epsilon.
    for epsilon, expected in ((0.0, math.exp(-1)), (1.0, 0.1633146)):
        y = math.exp(-epsilon)
        limit = 1 - math.exp(-y) - math.exp(epsilon) * (1 - math.exp(-y) * (1 + y))
        assert limit == pytest.approx(expected, rel=1e-6)
        found = [wang.beta_smallest_delta(10**j, epsilon, False) for j in range(10)]
        assert found == sorted(found, reverse=True)
        assert found[-1] == pytest.approx(limit, rel=1e-6)


@FIXED
@given(budgets, deltas)
def test_new_needs_the_delta_that_it_is_made_for(epsilon: float, delta: float) -> None:
    us = {0.0, 1.0, 0.5, -0.5}
    if epsilon:
        width = math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon
        us |= {width, -width, 1 - width, 1 + width, 0.5 - width}
    law = Lemma15(epsilon, delta)
    needed = max(violation(law.tails(u), law.tails(u - 1), epsilon) for u in us)
    found = wang.new_smallest_delta(3, epsilon, delta)
    assert needed == pytest.approx(found, rel=1e-9, abs=1e-15 * math.exp(epsilon))
    assert found == delta or (delta > 0.5 and found <= delta)
    if epsilon > 0.1 and delta > 0.51:
        assert found < delta


@FIXED
@given(st.integers(1, 10**6), st.integers(1, 10**6), budgets, budgets)
def test_more_pulls_and_more_epsilon_need_less_delta(
    m: int, n: int, less: float, more: float
) -> None:
    (m, n), (less, more) = sorted((m, n)), sorted((less, more))
    for f in (wang.gauss_smallest_delta, with_k):
        assert f(n, less) <= f(m, less) * (1 + 1e-9) + 1e-15
        assert f(n, more) <= f(n, less) * (1 + 1e-9) + 1e-15


# N_G* and N_B* -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "gauss", "beta"),
    [(1.0, 0.01, 2, 32), (1.0, E10, 6, 120), (0.0, 0.01, 796, 14136), (20.0, 0.5, 1, 1)],
)
def test_the_fewest_pulls_that_are_enough(
    epsilon: float, delta: float, gauss: int, beta: int
) -> None:
    assert wang.gauss_smallest_start(epsilon, delta) == gauss
    assert wang.beta_smallest_start(epsilon, delta) == beta
    for number, smallest in ((gauss, wang.gauss_smallest_delta), (beta, with_k)):
        assert smallest(number, epsilon) <= delta
        assert number == 1 or smallest(number - 1, epsilon) > delta


@FIXED
@given(budgets, st.floats(-5, -0.01).map(lambda e: 10.0**e))
def test_the_start_phases_of_the_algorithms_are_long_enough(epsilon: float, delta: float) -> None:
    gauss = max(1, math.ceil(dp_ftpl_gauss.start(dp_ftpl_gauss.Params(epsilon, delta))))
    beta = math.ceil(dp_ftpl_beta.start(dp_ftpl_beta.Params(epsilon, delta)))
    assert wang.gauss_smallest_delta(gauss, epsilon) <= delta
    assert wang.beta_smallest_delta(beta, epsilon, True) <= 0.607 * delta  # e^(-1/2), Stirling
    assert wang.gauss_smallest_start(epsilon, delta) <= gauss
    assert wang.beta_smallest_start(epsilon, delta) <= beta


# Lemmas 15 and 9 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1.0, 0.01), (0.1, 0.0), (0.0, 0.1), (3.0, 0.3), (0.01, 0.9), (1e-12, 0.1)],
)
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_lemma_15_holds_for_every_interval_and_shift(
    epsilon: float, delta: float, share: float
) -> None:
    # With half of delta this is the condition of Lemma 9 for GDP-Elim-New.
    made_for = share * delta
    points = [-1e9, *np.linspace(-12, 12, 97), 1e9]
    e = math.exp(epsilon)

    def f(u: float) -> float:
        return Lemma15(epsilon, made_for).tails(u).below

    original = np.array([f(u) for u in points])
    mass = original[None, :] - original[:, None]  # of (x, y), row x
    ordered = np.triu(np.ones(mass.shape, dtype=bool))
    tightest = 0.0
    for z in np.linspace(-1, 1, 9):
        shifted = np.array([f(u + z) for u in points])
        other = shifted[None, :] - shifted[:, None]
        for one, two in ((mass, other), (1 - mass, 1 - other)):
            needed = (one - e * two)[ordered].max()
            assert needed <= made_for + 1e-12
            tightest = max(tightest, needed)
    assert tightest == pytest.approx(
        wang.new_smallest_delta(1, epsilon, made_for), rel=0.1, abs=1e-12
    )


def test_without_any_budget_there_is_no_new() -> None:
    functions = [wang.new_cdf, wang.new_neighbour_cdf, wang.new_region_low, wang.new_region_high]
    for function in functions:
        with pytest.raises(UserError, match=r"^Lemma 15 is for epsilon or delta above 0"):
            function(0.5, 10, 3, 100, 0.0, 0.0)
    with pytest.raises(UserError, match=r"^Lemma 15 is for epsilon or delta above 0"):
        wang.new_smallest_delta(10, 0.0, 0.0)


@pytest.mark.parametrize(
    ("name", "rest", "budget"),
    [("gauss", (), (1.0, 0.1)), ("beta", (True,), (1.0, 0.1)), ("new", (100, 1.0, 0.1), ())],
)
def test_there_are_no_more_successes_than_pulls_and_the_neighbour_has_one_more(
    name: str, rest: tuple[Any, ...], budget: tuple[float, ...]
) -> None:
    for part, most, more in (
        ("cdf", 4, ()),
        ("region_low", 4, budget),
        ("region_high", 4, budget),
        ("neighbour_cdf", 3, ()),
    ):
        function = getattr(wang, f"{name}_{part}")
        assert 0 <= function(0.5, 4, most, *rest, *more) <= 1
        with pytest.raises(UserError, match="of 4 pulls at most 4 give 1, got 5"):
            function(0.5, 4, most + 1, *rest, *more)


# Regret bounds -----------------------------------------------------------------------------------

T = 10**6
LOG_T = math.log(T)

several_means = st.lists(st.integers(1, 99).map(lambda k: k / 100), min_size=2, max_size=8)
some_budgets = st.floats(-6, 1).map(lambda e: 10.0**e)
horizons = st.integers(2, 10**12)


def printed(top: float, bottom: float, epsilon: float) -> float:
    """Return (1/epsilon) log(top/bottom), both of the form A (e^epsilon - 1) + B."""
    return math.log(top / bottom) / epsilon


# Theorem 4 ---------------------------------------------------------------------------------------


def test_theorem_4_reaches_both_limits() -> None:
    zero = (1e6 - 40) / (5 * 0.01 * 1e6) / 16
    assert wang2024.global_lower_bound(10**12, 0.0, 0.01, 1.0, 0.5) == pytest.approx(
        zero, rel=1e-12
    )
    for tiny in (1e-12, 1e-15, 1e-300):
        near = wang2024.global_lower_bound(10**12, tiny, 0.01, 1.0, 0.5)
        assert near == pytest.approx(zero, rel=1e-10)
        pure = wang2024.global_lower_bound(10**12, 1.0, tiny, 1.0, 0.5)
        assert pure == pytest.approx(math.log(25_000) / 16, rel=1e-7)
    assert wang2024.global_lower_bound(10**12, 1e4, 0.01, 1.0, 0.5) > 0


def test_theorem_4_needs_a_horizon_and_a_budget() -> None:
    # (3/epsilon) log(S/40) with S = 10^3, log 25 = 3.218876: 965.66 and 1072.96.
    assert wang2024.global_lower_bound(1000, 0.01, 0.0, 1.0, 0.0) > 0
    with pytest.raises(UserError, match=r"^Theorem 4 is for T >= 1072\.96 here, got 1000$"):
        wang2024.global_lower_bound(1000, 0.009, 0.0, 1.0, 0.0)
    with pytest.raises(UserError, match=r"^Theorem 4 is for epsilon or delta above 0, got 0 and 0"):
        wang2024.global_lower_bound(1000, 0.0, 0.0, 1.0, 0.0)


# Theorem 16 --------------------------------------------------------------------------------------


@FIXED
@given(several_means, horizons, some_budgets, st.one_of(st.just(0.0), deltas))
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
    found = wang2024.ftpl_new_upper_bound(means, horizon, epsilon, delta)
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
@given(several_means, horizons, some_budgets, st.one_of(st.just(0.0), deltas))
def test_theorem_18_covers_its_phases_rounded_up(
    means: list[float], horizon: int, epsilon: float, delta: float
) -> None:
    if sorted(means)[-2] == max(means):
        with pytest.raises(UserError, match=r"^Theorem 18 is for a unique best arm$"):
            wang2024.gdp_elim_upper_bound(means, horizon, epsilon, delta)
    else:
        found = wang2024.gdp_elim_upper_bound(means, horizon, epsilon, delta)
        assert found >= phases(means, horizon, epsilon, delta) + 4 * len(means)


# Both --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [wang2024.ftpl_new_upper_bound, wang2024.gdp_elim_upper_bound])
def test_the_upper_bounds_reach_both_limits(bound: Callable[..., float]) -> None:
    means = (0.6, 0.59)
    for tiny in (1e-12, 1e-15, 1e-300):
        assert bound(means, T, tiny, 1e-4) == pytest.approx(bound(means, T, 0.0, 1e-4), rel=1e-7)
        assert bound(means, T, 0.01, tiny) == pytest.approx(bound(means, T, 0.01, 0.0), rel=1e-2)
    assert math.isfinite(bound(means, 2**53, 1e4, 0.5))
    with pytest.raises(UserError, match="is for epsilon or delta above 0, got 0 and 0"):
        bound(means, T, 0.0, 0.0)
