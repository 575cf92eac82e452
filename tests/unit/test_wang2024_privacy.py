"""Distributions of wang2024, the region and the smallest delta of Lemma 8, and N_G*, N_B*."""

import itertools
import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpbandits.config.compose import load
from dpbandits.core.errors import UserError
from dpbandits.theory import _perturbations as perturbed
from dpbandits.theory import bounds, function
from dpbandits.theory._perturbations import Tails
from dpbandits.theory.wang2024_privacy import (
    beta_cdf,
    beta_neighbour_cdf,
    beta_region_high,
    beta_region_low,
    beta_smallest_delta,
    beta_smallest_start,
    beta_start,
    gauss_cdf,
    gauss_neighbour_cdf,
    gauss_region_high,
    gauss_region_low,
    gauss_smallest_delta,
    gauss_smallest_start,
    gauss_start,
    new_cdf,
    new_neighbour_cdf,
    new_region_high,
    new_region_low,
    new_smallest_delta,
)

FIXED = settings(max_examples=100, derandomize=True, database=None, deadline=None)
E10 = math.exp(-10)
BOTH_ZERO = "is for epsilon or delta above 0, got 0 and 0"

budgets = st.one_of(st.just(0.0), st.floats(-12, 1.3).map(lambda e: 10.0**e))
deltas = st.floats(-10, -0.01).map(lambda e: 10.0**e)
unit = st.floats(0, 1)


def violation(original: Tails, other: Tails, epsilon: float) -> float:
    """Return the delta that the four inequalities of Lemma 8 need at one x."""
    (f, s), (g, r), e = original, other, math.exp(epsilon)
    return max(f - e * g, s - e * r, g - e * f, r - e * s)


# F and F' ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("pulls", "successes"), [(1, 0), (8, 3), (10**6, 999_999)])
def test_gauss_is_a_normal_of_variance_2_over_n(pulls: int, successes: int) -> None:
    law = stats.norm(successes / pulls, math.sqrt(2 / pulls))
    above = stats.norm((successes + 1) / pulls, math.sqrt(2 / pulls))
    for x in law.ppf([1e-12, 0.01, 0.3, 0.5, 0.9, 1 - 1e-9]):
        assert gauss_cdf(x, pulls, successes) == pytest.approx(law.cdf(x), rel=1e-9)
        neighbour = gauss_neighbour_cdf(x, pulls, successes)
        assert neighbour == pytest.approx(above.cdf(x), rel=1e-9)
        assert perturbed.gauss(x, pulls, successes).above == pytest.approx(law.sf(x), rel=1e-9)


@pytest.mark.parametrize(
    ("pulls", "k"), [(1, 1), (7, 1), (8, 2), (9, 2), (32, 5), (827, 104), (10**7, 1_250_001)]
)
def test_k_is_one_more_than_an_eighth_of_the_pulls(pulls: int, k: int) -> None:
    for successes in (0, pulls // 3, pulls):
        law = stats.beta(successes + 1 + k, pulls - successes + 1 + k)
        plain = stats.beta(successes + 1, pulls - successes + 1)
        for p in (1e-9, 0.2, 0.5, 0.99):
            assert beta_cdf(law.ppf(p), pulls, successes, True) == pytest.approx(p, rel=1e-8)
            assert beta_cdf(plain.ppf(p), pulls, successes, False) == pytest.approx(p, rel=1e-8)


@pytest.mark.parametrize(("pulls", "successes"), [(1, 0), (10, 0), (24, 7), (31, 30)])
def test_neighbours_of_beta_differ_by_a_term_of_the_binomial(pulls: int, successes: int) -> None:
    # F - F' = (a+b)!/(a! b!) x^a (1-x)^b, in exact fractions.
    k = pulls // 8 + 1
    a, b, x = successes + 1 + k, pulls - successes + k, Fraction(1, 5)
    expected = math.comb(a + b, a) * x**a * (1 - x) ** b
    found = beta_cdf(0.2, pulls, successes, True) - beta_neighbour_cdf(0.2, pulls, successes, True)
    assert found == pytest.approx(float(expected), rel=1e-10, abs=1e-16)


def test_beta_lives_on_0_to_1() -> None:
    for x, expected in ((-1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (2.0, 1.0)):
        assert beta_cdf(x, 9, 4, True) == expected
        assert beta_neighbour_cdf(x, 9, 4, False) == expected


def printed_new(u: float, epsilon: float, delta: float) -> float:
    """Return Lemma 15 as printed, N (x - x_0) = u, to fifty digits."""
    with localcontext() as context:
        context.prec = 50
        at, e, d = Decimal(u), Decimal(epsilon), Decimal(delta)
        scale = (e.exp() - 1) / (2 * d) + 1
        if abs(at) > scale.ln() / e:
            return 0.0 if at < 0 else 1.0
        tail = (scale * (-e * abs(at)).exp() - 1) / (e.exp() - 1) * d
        return float(tail if at <= 0 else 1 - tail)


@FIXED
@given(st.floats(-6, 1.3).map(lambda e: 10.0**e), deltas, st.floats(-1.2, 1.2))
def test_new_is_lemma_15_as_printed(epsilon: float, delta: float, share: float) -> None:
    u = share * math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon
    expected = printed_new(u, epsilon, delta)
    assert perturbed.new(u, epsilon, delta).below == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("u", [-60.0, -50.0, -3.0, -0.5, 0.0, 0.5, 3.0, 50.0, 60.0])
def test_new_reaches_both_limits(u: float) -> None:
    uniform = min(1.0, max(0.0, 0.5 + 0.01 * u))
    laplace = 0.5 * math.exp(0.3 * u) if u <= 0 else 1 - 0.5 * math.exp(-0.3 * u)
    assert perturbed.new(u, 0.0, 0.01).below == pytest.approx(uniform, rel=1e-14, abs=1e-15)
    assert perturbed.new(u, 0.3, 0.0).below == pytest.approx(laplace, rel=1e-14)
    for tiny in (1e-12, 1e-15, 1e-300):
        assert perturbed.new(u, tiny, 0.01).below == pytest.approx(uniform, rel=1e-9, abs=1e-9)
        assert perturbed.new(u, 0.3, tiny).below == pytest.approx(laplace, rel=1e-4, abs=4e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.1, 0.0), (0.0, 0.01)])
def test_new_stands_where_algorithm_3_puts_it(epsilon: float, delta: float) -> None:
    # The radii 4.464748, 131.223634 and 49.9999 at T = 10^6; F(x_0) = 1/2; shifts are 1/N.
    radius = {1.0: 4.464748, 0.1: 131.223634, 0.0: 49.9999}[epsilon]
    game: dict[str, Any] = {"horizon": 10**6, "epsilon": epsilon, "delta": delta}
    x_0 = 3 / 7 + math.sqrt(math.log(10**6) / 7) + radius / 7
    assert new_cdf(x_0, 7, 3, **game) == pytest.approx(0.5, abs=1e-6)
    for x in (x_0 - 0.3, x_0, x_0 + 0.4):
        shifted = new_cdf(x - 1 / 7, 7, 3, **game)
        assert new_neighbour_cdf(x, 7, 3, **game) == pytest.approx(shifted, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.1, 0.0), (0.0, 0.01), (1e-9, 0.1)])
@pytest.mark.parametrize("horizon", [2, 10**6, 2**53])
def test_the_radius_leaves_one_in_t_on_either_side(
    epsilon: float, delta: float, horizon: int
) -> None:
    # Fact 4; the proof of Theorem 18 uses the same with T^2 and delta/2.
    for t in (float(horizon), float(horizon) ** 2):
        radius = perturbed.radius(t, epsilon, delta)
        assert perturbed.new(-radius, epsilon, delta).below == pytest.approx(1 / t, abs=1e-15)
        assert perturbed.new(radius, epsilon, delta).above == pytest.approx(1 / t, abs=1e-15)


def test_the_radius_reaches_both_limits() -> None:
    assert perturbed.radius(1e6, 1e-5, 0.001) == pytest.approx(498.755639, rel=1e-8)
    for tiny in (1e-12, 1e-15, 1e-200):
        assert perturbed.radius(1e6, tiny, 0.01) == pytest.approx(49.9999, rel=1e-9)
        assert perturbed.radius(1e6, 1.0, tiny) == pytest.approx(13.122363, rel=1e-6)
    assert perturbed.radius(1e6, 1e4, 0.01) == pytest.approx(math.log(5e5) / 1e4, rel=1e-12)


# The region of Lemma 8 ---------------------------------------------------------------------------


@FIXED
@given(unit, st.floats(-12, 0.5).map(lambda e: 10.0**e), st.one_of(st.just(0.0), deltas))
def test_the_region_ends_where_one_of_the_four_inequalities_does(
    f: float, epsilon: float, delta: float
) -> None:
    original = Tails(f, 1 - f)
    low = perturbed.lowest(original, epsilon, delta)
    high = perturbed.highest(original, epsilon, delta)
    assert 0 <= low <= f + 1e-15
    assert f - 1e-15 <= high <= 1
    for edge, beyond in ((low, low - 1e-7), (high, high + 1e-7)):
        assert violation(original, Tails(edge, 1 - edge), epsilon) <= delta + 1e-14
        if 0 <= beyond <= 1:
            assert violation(original, Tails(beyond, 1 - beyond), epsilon) > delta


@FIXED
@given(st.floats(-3, 4), st.integers(1, 1000), st.data(), budgets, deltas)
def test_every_algorithm_draws_that_region(
    x: float, pulls: int, data: st.DataObject, epsilon: float, delta: float
) -> None:
    r = data.draw(st.integers(0, pulls))
    gauss = perturbed.gauss(x, pulls, r)
    assert gauss_region_low(x, pulls, r, epsilon, delta) == perturbed.lowest(gauss, epsilon, delta)
    high = perturbed.highest(gauss, epsilon, delta)
    assert gauss_region_high(x, pulls, r, epsilon, delta) == high
    beta = perturbed.beta(x, pulls, r, True)
    low = perturbed.lowest(beta, epsilon, delta)
    assert beta_region_low(x, pulls, r, True, epsilon, delta) == low
    high = perturbed.highest(beta, epsilon, delta)
    assert beta_region_high(x, pulls, r, True, epsilon, delta) == high
    game: dict[str, Any] = {"horizon": 10**6, "epsilon": epsilon, "delta": delta}
    f = new_cdf(x, pulls, r, **game)
    assert new_region_low(x, pulls, r, **game) <= f <= new_region_high(x, pulls, r, **game)


def test_a_large_epsilon_overflows_nowhere() -> None:
    # At epsilon = 50 the tail of 10^-22 counts, though F is 1 to the last digit.
    assert perturbed.lowest(Tails(1.0, 1e-22), 50.0, 0.0) == pytest.approx(0.4815294)
    for epsilon in (709.0, 711.0, 1e4, 1e300):
        assert 0 <= gauss_region_low(0.4, 5, 2, epsilon, 0.01) < 1e-300
        assert gauss_region_high(0.4, 5, 2, epsilon, 0.01) == 1.0
        assert 0 <= new_region_low(0.4, 5, 2, 100, epsilon, 0.0) < 1e-300
        assert gauss_smallest_delta(1, epsilon) == 0.0
        assert beta_smallest_delta(1, epsilon, False) < 1e-290


def inside(name: str, xs: np.ndarray, *game: Any) -> bool:
    """Return whether F' lies in the region at every x, at (1, 0.01)."""
    of = {
        part: function(f"wang2024_privacy.{name}_{part}")
        for part in ("neighbour_cdf", "region_low", "region_high")
    }
    return all(
        of["region_low"](x, *game, 1.0, 0.01)
        <= of["neighbour_cdf"](x, *game)
        <= of["region_high"](x, *game, 1.0, 0.01)
        for x in xs
    )


def test_fig_1_is_inside_from_2_pulls_on_where_n_g_is_8() -> None:
    for pulls, expected in ((1, False), (2, True), (7, True), (8, True), (100, True)):
        xs = np.linspace(-5, 6, 2001) / math.sqrt(pulls)
        found = {inside("gauss", xs + r / pulls, pulls, r) for r in range(pulls)}
        assert found == {expected}


def test_fig_2_is_inside_from_32_pulls_on_where_n_b_is_827() -> None:
    xs = np.linspace(0, 1, 4001)
    found = [all(inside("beta", xs, n, r, True) for r in (0, n - 1)) for n in (10, 31, 32, 827)]
    assert found == [False, False, True, True]


@pytest.mark.parametrize("pulls", [10, 10**4, 10**7])
def test_fig_2_without_k_is_outside_for_any_number_of_pulls(pulls: int) -> None:
    xs = np.linspace(0, 8, 801) / pulls
    assert not inside("beta", xs, pulls, 0, False)


@pytest.mark.parametrize("pulls", [1, 10, 10**6])
def test_fig_3_is_on_the_boundary_but_for_a_shift_beside_x_0(pulls: int) -> None:
    game: dict[str, Any] = {
        "pulls": pulls,
        "successes": 0,
        "horizon": 10**6,
        "epsilon": 0.1,
        "delta": 0.0,
    }
    x_0 = (math.sqrt(pulls * math.log(10**6)) + perturbed.radius(1e6, 0.1, 0.0)) / pulls
    gaps = []
    for u in np.linspace(-40, 40, 1601):
        x = x_0 + u / pulls
        gap = new_neighbour_cdf(x, **game) - new_region_low(x, **game)
        gaps.append(gap)
        if not 0 < u < 1:
            assert gap == pytest.approx(0, abs=1e-9)
    assert min(gaps) > -1e-9
    assert max(gaps) == pytest.approx(0.001132, abs=1e-6)


# The smallest delta ------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("pulls", [1, 2, 8, 100, 10**6])
def test_the_smallest_delta_of_gauss_is_that_of_a_shifted_normal(
    pulls: int, epsilon: float
) -> None:
    s = 1 / math.sqrt(2 * pulls)
    above, below = stats.norm.cdf([s / 2 - epsilon / s, -s / 2 - epsilon / s])
    found = gauss_smallest_delta(pulls, epsilon)
    expected = above - math.exp(epsilon) * below
    assert found == pytest.approx(expected, rel=1e-8 if expected > 1e-6 else 1e-2, abs=1e-16)
    if epsilon == 0:
        assert found == pytest.approx(math.erf(0.25 / math.sqrt(pulls)), rel=1e-11)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("pulls", [1, 2, 9])
def test_on_a_fine_grid_gauss_needs_no_more_and_no_less(pulls: int, epsilon: float) -> None:
    xs = np.linspace(-8, 8, 16_001)
    needed = max(
        violation(perturbed.gauss(x, pulls, 0), perturbed.gauss(x, pulls, 1), epsilon) for x in xs
    )
    assert needed == pytest.approx(gauss_smallest_delta(pulls, epsilon), rel=1e-4)


def by_all_histories(pulls: int, epsilon: float, k: int) -> float:
    """Return the largest delta that any R needs at its worst x, as fractions up to e^epsilon."""
    n, e, worst = pulls + 1 + 2 * k, Fraction(math.exp(epsilon)), Fraction(0)
    for a in range(k + 1, pulls + k + 1):
        b = n - a
        for x in (Fraction(a) / (a + b * e), Fraction(a) * e / (a * e + b)):
            at = x.limit_denominator(10**5)
            terms = [math.comb(n, i) * at**i * (1 - at) ** (n - i) for i in range(n + 1)]
            f, g = sum(terms[a:]), sum(terms[a + 1 :])
            worst = max(worst, f - e * g, (1 - g) - e * (1 - f))
    return float(worst)


@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("pulls", [1, 2, 7, 8, 17])
def test_the_worst_history_of_beta_is_one_without_successes(pulls: int, epsilon: float) -> None:
    for with_k, k in ((True, pulls // 8 + 1), (False, 0)):
        expected = by_all_histories(pulls, epsilon, k)
        assert beta_smallest_delta(pulls, epsilon, with_k) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("pulls", [100, 827, 2000])
def test_the_worst_history_stays_that_for_many_pulls(pulls: int, epsilon: float) -> None:
    k = pulls // 8 + 1
    a = np.arange(k + 1, pulls + k + 1)
    b, e = pulls + 1 + 2 * k - a, math.exp(epsilon)
    x = a / (a + b * e)
    needed = stats.beta.cdf(x, a, b + 1) - e * stats.beta.cdf(x, a + 1, b)
    assert needed.argmax() == 0
    found = beta_smallest_delta(pulls, epsilon, True)
    assert found == pytest.approx(needed.max(), rel=1e-7, abs=1e-15)


def test_without_k_the_smallest_delta_of_beta_falls_to_that_of_two_gammas() -> None:
    # N theta tends to Gamma(1) and Gamma(2), whose worst x is e^-epsilon.
    for epsilon, expected in ((0.0, math.exp(-1)), (1.0, 0.1633146)):
        y = math.exp(-epsilon)
        limit = 1 - math.exp(-y) - math.exp(epsilon) * (1 - math.exp(-y) * (1 + y))
        assert limit == pytest.approx(expected, rel=1e-6)
        found = [beta_smallest_delta(10**j, epsilon, False) for j in range(10)]
        assert found == sorted(found, reverse=True)
        assert found[-1] == pytest.approx(limit, rel=1e-6)


@FIXED
@given(budgets, deltas)
def test_new_needs_the_delta_that_it_is_made_for(epsilon: float, delta: float) -> None:
    us = {0.0, 1.0, 0.5, -0.5}
    if epsilon:
        width = math.log1p(math.expm1(epsilon) / (2 * delta)) / epsilon
        us |= {width, -width, 1 - width, 1 + width, 0.5 - width}
    needed = max(
        violation(perturbed.new(u, epsilon, delta), perturbed.new(u - 1, epsilon, delta), epsilon)
        for u in us
    )
    found = new_smallest_delta(3, epsilon, delta)
    assert needed == pytest.approx(found, rel=1e-9, abs=1e-15 * math.exp(epsilon))
    assert found == delta or (delta > 0.5 and found <= delta)
    if epsilon > 0.1 and delta > 0.51:
        assert found < delta


def test_new_needs_it_on_a_fine_grid() -> None:
    for epsilon, delta in ((1.0, 0.01), (0.1, 0.0), (0.0, 0.2), (1.0, 0.8), (3.0, 0.6)):
        us = np.linspace(-30, 31, 12_201)
        needed = max(
            violation(
                perturbed.new(u, epsilon, delta), perturbed.new(u - 1, epsilon, delta), epsilon
            )
            for u in us
        )
        found = new_smallest_delta(1, epsilon, delta)
        assert needed <= found + 1e-12
        assert needed == pytest.approx(found, rel=1e-2, abs=1e-12)


@FIXED
@given(st.integers(1, 10**6), st.integers(1, 10**6), budgets, budgets)
def test_more_pulls_and_more_epsilon_need_less_delta(
    m: int, n: int, less: float, more: float
) -> None:
    (m, n), (less, more) = sorted((m, n)), sorted((less, more))
    for f in (gauss_smallest_delta, lambda n, e: beta_smallest_delta(n, e, True)):
        assert f(n, less) <= f(m, less) * (1 + 1e-9) + 1e-15
        assert f(n, more) <= f(n, less) * (1 + 1e-9) + 1e-15


def test_beta_needs_less_with_every_pull_although_k_moves_in_steps() -> None:
    for epsilon in (0.0, 0.01, 1.0, 4.0):
        found = [beta_smallest_delta(n, epsilon, True) for n in range(1, 400)]
        assert all(a >= b - 1e-15 for a, b in itertools.pairwise(found))


# N_G* and N_B* -----------------------------------------------------------------------------------


def test_the_start_phases_of_the_figures() -> None:
    expected = {(1.0, 0.01): 7.679, (1.0, E10): 18.469, (0.0, 0.01): 795.77, (0.0, 0.001): 79577.5}
    for (epsilon, delta), start in expected.items():
        assert gauss_start(epsilon, delta) == pytest.approx(start, rel=1e-4)
    assert beta_start(1.0, 0.01) == pytest.approx(826.91, abs=0.005)
    assert beta_start(1.0, E10) == pytest.approx(1892.56, abs=0.005)
    assert beta_start(0.0, 0.01) == pytest.approx(40 * math.e / (9 * math.pi * 1e-4))
    assert beta_start(10.0, 0.5) == pytest.approx(1000 * math.e / (9 * math.pi))


def test_the_first_term_rules_where_epsilon_is_small() -> None:
    for start in (gauss_start, beta_start):
        for tiny in (1e-12, 1e-200, 5e-324):
            assert start(tiny, 0.01) == start(0.0, 0.01)
            assert math.isfinite(start(1.0, 1e-300))
    # log(e/(4 pi delta^2)) is negative above .465; at least one pull is required.
    assert gauss_start(1e-9, 0.5) == gauss_start(3.0, 1.0) == 1.0


@pytest.mark.parametrize(
    ("epsilon", "delta", "gauss", "beta"),
    [(1.0, 0.01, 2, 32), (1.0, E10, 6, 120), (0.0, 0.01, 796, 14136), (20.0, 0.5, 1, 1)],
)
def test_the_fewest_pulls_that_are_enough(
    epsilon: float, delta: float, gauss: int, beta: int
) -> None:
    assert gauss_smallest_start(epsilon, delta) == gauss
    assert beta_smallest_start(epsilon, delta) == beta
    assert gauss_smallest_delta(gauss, epsilon) <= delta
    assert beta_smallest_delta(beta, epsilon, True) <= delta
    if gauss > 1:
        assert gauss_smallest_delta(gauss - 1, epsilon) > delta
        assert beta_smallest_delta(beta - 1, epsilon, True) > delta


@FIXED
@given(budgets, st.floats(-5, -0.01).map(lambda e: 10.0**e))
def test_the_start_phases_are_long_enough(epsilon: float, delta: float) -> None:
    gauss, beta = math.ceil(gauss_start(epsilon, delta)), math.ceil(beta_start(epsilon, delta))
    assert gauss_smallest_delta(gauss, epsilon) <= delta
    assert beta_smallest_delta(beta, epsilon, True) <= 0.607 * delta  # e^(-1/2), Stirling
    assert gauss_smallest_start(epsilon, delta) <= gauss
    assert beta_smallest_start(epsilon, delta) <= beta


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
        return perturbed.new(u, epsilon, made_for).below

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
    assert tightest == pytest.approx(new_smallest_delta(1, epsilon, made_for), rel=0.1, abs=1e-12)


# Bad input ---------------------------------------------------------------------------------------


def test_without_any_budget_there_is_no_new() -> None:
    for f in (new_cdf, new_neighbour_cdf, new_region_low, new_region_high):
        with pytest.raises(UserError, match=f"^Lemma 15 {BOTH_ZERO}"):
            f(0.5, 10, 3, 100, 0.0, 0.0)
    with pytest.raises(UserError, match=f"^Lemma 15 {BOTH_ZERO}"):
        new_smallest_delta(10, 0.0, 0.0)


def test_there_are_no_more_successes_than_pulls_and_the_neighbour_has_one_more() -> None:
    cdfs: tuple[Callable[[int], float], ...] = (
        lambda r: gauss_cdf(0.5, 4, r),
        lambda r: gauss_region_low(0.5, 4, r, 1.0, 0.1),
        lambda r: gauss_region_high(0.5, 4, r, 1.0, 0.1),
        lambda r: beta_cdf(0.5, 4, r, True),
        lambda r: beta_region_low(0.5, 4, r, True, 1.0, 0.1),
        lambda r: beta_region_high(0.5, 4, r, True, 1.0, 0.1),
        lambda r: new_cdf(0.5, 4, r, 100, 1.0, 0.1),
        lambda r: new_region_low(0.5, 4, r, 100, 1.0, 0.1),
    )
    for wrong in cdfs:
        assert 0 <= wrong(4) <= 1
        with pytest.raises(UserError, match="of 4 pulls at most 4 give 1, got 5"):
            wrong(5)
    neighbours: tuple[Callable[[int], float], ...] = (
        lambda r: gauss_neighbour_cdf(0.5, 4, r),
        lambda r: beta_neighbour_cdf(0.5, 4, r, True),
        lambda r: new_neighbour_cdf(0.5, 4, r, 100, 1.0, 0.1),
    )
    for neighbour in neighbours:
        assert 0 <= neighbour(3) <= 1
        with pytest.raises(UserError, match="one more 1: at most 3, got 4"):
            neighbour(4)


def test_a_figure_finds_the_distributions_by_their_names() -> None:
    for name in ("gauss", "beta", "new"):
        for part in ("cdf", "neighbour_cdf", "region_low", "region_high", "smallest_delta"):
            assert f"wang2024_privacy.{name}_{part}" in bounds()
    assert not any("tails" in name.lower() for name in bounds())


@pytest.mark.usefixtures("in_checkout")
def test_a_figure_may_draw_a_distribution_over_x() -> None:
    given: dict[str, Any] = {"pulls": 10, "successes": 0, "with_k": "true", "x": 0}
    given |= {"epsilon": 1, "delta": 0.01}
    lines = [f"+figure.curves.c1.{key}={value}" for key, value in given.items()]
    lines += [
        "figure.curves.c1.bound=wang2024_privacy.beta_region_low",
        "+figure.panels.z.curves=[c1]",
    ]
    swept = "+figure.panels.z.sweep={key:x,values:{first:0,last:1,number:5}}"
    (panel,) = (p for p in load("lower-bounds", [*lines, swept])[0].panels if p.letter == "z")
    (curve,) = panel.curves
    assert curve.x == (0.0, 0.25, 0.5, 0.75, 1.0)


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"pulls": 0}, "pulls must be a whole number from 1"),
        ({"pulls": 2.5}, "pulls must be a whole number from 1"),
        ({"with_k": 1}, "with_k must be true or false"),
    ],
)
def test_the_arguments_of_a_figure_are_checked(wrong: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"pulls": 10, "with_k": "true"}
    lines = [f"+figure.curves.c1.{key}={value}" for key, value in (given | wrong).items()]
    bound = "figure.curves.c1.bound=wang2024_privacy.beta_smallest_delta"
    with pytest.raises(UserError, match=words):
        load("lower-bounds", [bound, *lines])
