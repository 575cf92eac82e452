"""Composition of declared releases, and zCDP with its conversions to (epsilon, delta)-DP."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import log_ndtr

from dpbandits.mechanisms.perturbation import gaussian
from dpbandits.privacy.accounting import NotComputed, tight_epsilon
from dpbandits.privacy.releases import (
    ApproximateDP,
    Gaussian,
    Laplace,
    SparseVector,
    composed_epsilon,
    composed_rho,
    epsilon_of_rho,
    gaussian_delta,
    gaussian_epsilon,
    rho_of_gaussian,
)

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)


def release(first: int, last: int, epsilon: float, arm: int = 0) -> Laplace:
    return Laplace(arm, first, last, sensitivity=epsilon, scale=1.0)


# At a delta: Theorem III.3 of Dwork, Rothblum and Vadhan 2010, by hand ---------------------------


def test_releases_declared_several_times_cost_what_they_cost_one_by_one() -> None:
    for delta in (0.0, 0.01):
        listed = composed_epsilon([release(1, 5, 0.01)] * 100, delta)
        together = composed_epsilon([release(1, 5, 0.01)._replace(times=100)], delta)
        assert together == pytest.approx(listed, rel=1e-14)


@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_releases_without_an_end_have_no_budget(delta: float) -> None:
    endless = release(3, 5, 0.01)._replace(times=math.inf)
    assert composed_epsilon([release(1, 9, 0.5), endless, release(6, 7, 1.0)], delta) == math.inf


def test_a_budget_too_large_for_the_exponential_is_added_up() -> None:
    assert composed_epsilon([release(1, 5, 2000.0), release(1, 5, 1.0)], delta=0.01) == 2001.0


@pytest.mark.parametrize("delta", [-0.1, 1.5, math.nan])
def test_a_delta_is_a_probability(delta: float) -> None:
    with pytest.raises(ValueError, match="delta"):
        composed_epsilon([], delta)


@pytest.mark.parametrize("unknown", [(0, 1, 1, 1.0, 1.0), None, 0.5], ids=repr)
def test_an_unknown_release_is_refused(unknown: Any) -> None:
    with pytest.raises(TypeError, match="unknown release"):
        composed_epsilon([release(1, 1, 0.5), unknown])


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(Laplace(0, 0, 3, 1.0, 1.0), id="before the first reward"),
        pytest.param(Laplace(0, -2, -1, 1.0, 1.0), id="negative rewards"),
        pytest.param(Laplace(0, 4, 3, 1.0, 1.0), id="no reward"),
        pytest.param(Laplace(0, 1, 3, 1.0, 0.0), id="no noise"),
        pytest.param(Laplace(0, 1, 3, 1.0, -1.0), id="negative scale"),
        pytest.param(Laplace(0, 1, 3, 1.0, math.nan), id="unknown scale"),
        pytest.param(Laplace(0, 1, 3, -1.0, 1.0), id="negative sensitivity"),
        pytest.param(Laplace(0, 1, 3, math.nan, 1.0), id="unknown sensitivity"),
        pytest.param(Laplace(0, 1, 3, 1.0, 1.0, times=0), id="never"),
        pytest.param(Laplace(0, 1, 3, 1.0, 1.0, times=math.nan), id="unknown times"),
        pytest.param(SparseVector(0, 1, 3, 1.0, 0.0, 1.0), id="no noise of the threshold"),
        pytest.param(SparseVector(0, 1, 3, 1.0, 1.0, 0.0), id="no noise of the queries"),
    ],
)
def test_a_release_that_makes_no_sense_is_refused(wrong: Laplace | SparseVector) -> None:
    with pytest.raises(ValueError, match="not a release"):
        composed_epsilon([release(1, 9, 0.5), wrong])


# Eighths of a scale that is a power of two: every sum is exact.
some_releases = st.lists(
    st.builds(
        lambda arm, first, length, eighths, power: Laplace(
            arm, first, first + length, eighths / 8, 2.0**power
        ),
        st.integers(0, 2),
        st.integers(1, 12),
        st.integers(0, 8),
        st.integers(0, 40),
        st.integers(-2, 2),
    ),
    max_size=12,
)


@FIXED
@given(some_releases)
def test_the_composed_budget_is_the_largest_sum_over_a_single_reward(
    releases: list[Laplace],
) -> None:
    sums = [
        sum(r.epsilon for r in releases if r.arm == arm and r.first <= i <= r.last)
        for arm in range(3)
        for i in range(1, 21)
    ]
    assert composed_epsilon(releases) == max(sums)


@FIXED
@given(some_releases, st.sampled_from([1e-6, 0.1, 0.9, 1.0]))
def test_the_composed_budget_at_a_delta_is_the_largest_of_a_single_reward(
    releases: list[Laplace], delta: float
) -> None:
    largest = 0.0
    for arm, reward in itertools.product(range(3), range(1, 21)):
        own = [r.epsilon for r in releases if r.arm == arm and r.first <= reward <= r.last]
        drift = sum(epsilon * (math.exp(epsilon) - 1) for epsilon in own)
        root = math.sqrt(2 * math.log(1 / delta) * sum(epsilon**2 for epsilon in own))
        largest = max(largest, min(sum(own), drift + root))
    found = composed_epsilon(releases, delta)
    assert found == pytest.approx(largest, rel=1e-12)
    assert found <= composed_epsilon(releases)


# Releases that need a delta of their own ---------------------------------------------------------


def approximate(epsilon: float, delta: float, times: float = 1) -> ApproximateDP:
    return ApproximateDP(0, 1, 5, epsilon, delta, times)


def test_the_deltas_of_releases_add_up() -> None:
    two = [approximate(0.5, 0.01), approximate(0.25, 0.02)]
    assert composed_epsilon(two, delta=0.04) == 0.75
    assert composed_epsilon([approximate(0.5, 0.25), approximate(0.25, 0.25)], delta=0.5) == 0.75
    assert composed_epsilon(two, delta=0.029) == math.inf
    assert composed_epsilon(two) == math.inf


def test_what_is_left_of_a_delta_serves_the_composition() -> None:
    small = [approximate(0.01, 0.0001)] * 100
    expected = math.expm1(0.01) + math.sqrt(2 * math.log(1 / 0.02) * 0.01)
    assert composed_epsilon(small, delta=0.03) == pytest.approx(expected, rel=1e-12)
    assert composed_epsilon([approximate(0.01, 0.0001, 100)], delta=0.03) == pytest.approx(
        expected, rel=1e-12
    )


def test_a_part_of_a_budget_that_is_0_costs_nothing_however_often() -> None:
    assert composed_epsilon([approximate(0.0, 0.01)], delta=0.01) == 0.0
    assert composed_epsilon([approximate(0.0, 0.01, math.inf)], delta=0.9) == math.inf
    assert composed_epsilon([approximate(0.1, 0.0, math.inf)], delta=0.9) == math.inf
    assert composed_epsilon([approximate(0.0, 0.0, math.inf)], delta=0.0) == 0.0


def test_with_pure_releases_beside() -> None:
    assert composed_epsilon([release(1, 5, 0.5), approximate(0.25, 0.01)], delta=0.01) == 0.75
    assert composed_epsilon([release(1, 5, 0.5), approximate(0.25, 0.01)]) == math.inf


@pytest.mark.parametrize(
    "budget", [(-0.1, 0.1), (0.1, -0.1), (0.1, 1.1), (math.nan, 0.1), (0.1, math.nan)], ids=str
)
def test_a_budget_that_makes_no_sense_is_refused(budget: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="not a release"):
        composed_epsilon([approximate(*budget)], delta=0.5)


# Gaussian noise and zCDP -------------------------------------------------------------------------

BUDGETS = [(1.0, 1e-6), (0.1, 1e-6), (1e-4, 1e-5), (100.0, 1e-6), (0.5, 0.01), (1.0, 0.5)]


def noisy(rho: float, first: int = 1, last: int = 4, times: float = 1) -> Gaussian:
    """Return a mean of four rewards with the noise of the Gaussian mechanism."""
    return Gaussian(0, first, last, 0.25, 0.25 / math.sqrt(2.0 * rho), times)


class Fixed:
    """Generator whose standard normal number is 1."""

    def normal(self, location: float, scale: float) -> float:
        return location + scale


# The mechanism and the sum of rho ----------------------------------------------------------------


@pytest.mark.parametrize("order", [1.01, 2.0, 7.5])
@pytest.mark.parametrize("rho", [0.02, 0.5, 3.0])
def test_the_gaussian_mechanism_is_rho_zcdp_at_every_order_and_no_less(
    rho: float, order: float
) -> None:
    sensitivity = 0.25
    scale = getattr(gaussian, "py_func", gaussian)(Fixed(), sensitivity, rho)
    p, q = stats.norm(0.0, scale), stats.norm(sensitivity, scale)

    def integrand(x: float) -> float:
        return float(np.exp(order * p.logpdf(x) + (1.0 - order) * q.logpdf(x)))

    middle = (1.0 - order) * sensitivity  # where the integrand peaks
    total, _ = integrate.quad(integrand, middle - 12 * scale, middle + 12 * scale, epsabs=0)
    assert math.log(total) / (order - 1.0) == pytest.approx(rho * order, rel=1e-6)


def test_rho_adds_up_over_releases_that_share_a_reward_and_not_over_others() -> None:
    assert composed_rho([noisy(0.1), noisy(0.2)]) == pytest.approx(0.3, rel=1e-12)
    assert composed_rho([noisy(0.1, 1, 4), noisy(0.2, 5, 8)]) == pytest.approx(0.2, rel=1e-12)
    assert composed_rho([noisy(0.1, times=7)]) == pytest.approx(0.7, rel=1e-12)
    other_arm = noisy(0.2)._replace(arm=1)
    assert composed_rho([noisy(0.1), other_arm]) == pytest.approx(0.2, rel=1e-12)
    assert composed_rho([]) == 0.0


def test_pure_dp_beside_gaussian_noise_counts_as_half_of_its_square() -> None:
    pure = Laplace(0, 1, 4, 1.0, 2.0)
    assert composed_rho([noisy(0.1), pure]) == pytest.approx(0.1 + 0.125, rel=1e-12)
    together = composed_epsilon([noisy(0.1), pure], 1e-6)
    assert together == pytest.approx(epsilon_of_rho(0.225, 1e-6), rel=1e-12)
    with pytest.raises(NotComputed):
        tight_epsilon([noisy(0.1), pure], 1e-6)


def test_the_deltas_of_other_releases_are_charged_to_delta() -> None:
    other = ApproximateDP(0, 1, 4, 0.5, 1e-7)
    assert composed_rho([noisy(0.1), other]) == math.inf
    together = composed_epsilon([noisy(0.1), other], 1e-6)
    assert together == pytest.approx(epsilon_of_rho(0.225, 9e-7), rel=1e-12)
    assert composed_epsilon([noisy(0.1), other], 1e-8) == math.inf


def test_gaussian_noise_has_no_epsilon_at_delta_0() -> None:
    assert composed_epsilon([noisy(0.1)]) == math.inf
    assert tight_epsilon([noisy(0.1)]) == math.inf
    assert not hasattr(noisy(0.1), "epsilon")
    assert composed_epsilon([noisy(0.1)._replace(sensitivity=0.0)]) == 0.0
    assert composed_epsilon([noisy(0.1, times=math.inf)], 1e-6) == math.inf
    with pytest.raises(ValueError, match="not a release"):
        composed_rho([noisy(0.1)._replace(scale=0.0)])


# Conversions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rho", "delta"), BUDGETS)
def test_the_best_order_is_the_best_of_a_fine_grid_and_beats_the_classical_bound(
    rho: float, delta: float
) -> None:
    alpha = 1.0 + np.exp(np.linspace(-20.0, 20.0, 400_001))
    # Canonne, Kamath and Steinke 2020, Proposition 12: delta of an epsilon, solved for epsilon.
    epsilons = alpha * rho + np.log1p(-1.0 / alpha) - np.log(alpha * delta) / (alpha - 1.0)
    found = epsilon_of_rho(rho, delta)
    assert found == pytest.approx(max(0.0, epsilons.min()), rel=1e-7)
    assert found < rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))


@FIXED
@given(st.floats(-9, 4), st.floats(-25, -0.1))
def test_the_exact_epsilon_is_the_least_at_its_delta_and_rho_the_largest(
    log_rho: float, log_delta: float
) -> None:
    rho, delta = math.exp(log_rho), math.exp(log_delta)
    epsilon = gaussian_epsilon(rho, delta)
    assert gaussian_delta(rho, epsilon) <= delta
    if epsilon > 0.0:
        assert gaussian_delta(rho, epsilon * (1 - 1e-6)) >= delta * (1 - 1e-9)
        assert rho_of_gaussian(epsilon, delta) == pytest.approx(rho, rel=1e-6)


@pytest.mark.parametrize("log_rho", range(-40, 9, 4))
@pytest.mark.parametrize("deviations", [0.01, 0.5, 2.0, 5.0, 20.0, 35.0])
@pytest.mark.parametrize("beyond", [0.0, 1.0])  # the mean of the loss, which is rho
def test_tiny_and_huge_budgets_keep_their_digits(
    log_rho: int, deviations: float, beyond: float
) -> None:
    # delta is the integral of e^-s P[loss > epsilon + s] over s > 0: a sum without differences.
    rho = 10.0**log_rho
    mu = math.sqrt(2.0 * rho)
    epsilon, edge = deviations * mu + beyond * rho, mu / 2.0 - deviations - beyond * mu / 2.0
    scale, base = 1.0 / max(1.0, mu, -edge), float(log_ndtr(edge))

    def part(v: float) -> float:
        return math.exp(float(log_ndtr(edge - v * scale)) - mu * v * scale - base)

    total, _ = integrate.quad(part, 0.0, 400.0, epsabs=0, limit=500)
    expected = mu * scale * total * math.exp(base)
    if 1e-300 < expected < 0.999:
        assert gaussian_delta(rho, epsilon) == pytest.approx(expected, rel=1e-8)
        assert rho_of_gaussian(epsilon, expected) == pytest.approx(rho, rel=1e-6)


def test_gaussian_releases_together_lose_what_one_of_their_rho_does() -> None:
    two = tight_epsilon([noisy(0.1), noisy(0.4)], 1e-6)
    assert two == pytest.approx(gaussian_epsilon(0.5, 1e-6), rel=1e-12)
    assert two < composed_epsilon([noisy(0.1), noisy(0.4)], 1e-6)


def test_edges() -> None:
    for convert in (epsilon_of_rho, gaussian_epsilon):
        assert convert(0.0, 1e-6) == 0.0
        assert convert(1.0, 0.0) == math.inf
    assert epsilon_of_rho(1.0, 1.0) == 0.0
    assert epsilon_of_rho(math.inf, 1e-6) == math.inf
    assert gaussian_delta(0.0, 0.5) == 0.0
