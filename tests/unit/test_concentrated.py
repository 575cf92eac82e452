"""zCDP: Rényi divergences by integration, and its conversions to (epsilon, delta)-DP."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpbandits.mechanisms.perturbation import gaussian
from dpbandits.privacy.accounting import tight_epsilon
from dpbandits.privacy.concentrated import (
    classical_epsilon,
    epsilon_of_rho,
    gaussian_delta,
    gaussian_epsilon,
    rho_of_gaussian,
)
from dpbandits.privacy.releases import (
    ApproximateDP,
    Gaussian,
    Laplace,
    composed_epsilon,
    composed_rho,
)

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)
BUDGETS = [(1.0, 1e-6), (0.1, 1e-6), (1e-4, 1e-5), (100.0, 1e-6), (0.5, 0.01), (1.0, 0.5)]


def release(rho: float, first: int = 1, last: int = 4, times: float = 1) -> Gaussian:
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
    assert composed_rho([release(0.1), release(0.2)]) == pytest.approx(0.3, rel=1e-12)
    assert composed_rho([release(0.1, 1, 4), release(0.2, 5, 8)]) == pytest.approx(0.2, rel=1e-12)
    assert composed_rho([release(0.1, times=7)]) == pytest.approx(0.7, rel=1e-12)
    other_arm = release(0.2)._replace(arm=1)
    assert composed_rho([release(0.1), other_arm]) == pytest.approx(0.2, rel=1e-12)
    assert composed_rho([]) == 0.0


def test_pure_dp_beside_gaussian_noise_counts_as_half_of_its_square() -> None:
    pure = Laplace(0, 1, 4, 1.0, 2.0)
    assert composed_rho([release(0.1), pure]) == pytest.approx(0.1 + 0.125, rel=1e-12)
    together = composed_epsilon([release(0.1), pure], 1e-6)
    assert together == pytest.approx(epsilon_of_rho(0.225, 1e-6), rel=1e-12)
    assert tight_epsilon([release(0.1), pure], 1e-6) == together


def test_the_deltas_of_other_releases_are_charged_to_delta() -> None:
    other = ApproximateDP(0, 1, 4, 0.5, 1e-7)
    assert composed_rho([release(0.1), other]) == math.inf
    together = composed_epsilon([release(0.1), other], 1e-6)
    assert together == pytest.approx(epsilon_of_rho(0.225, 9e-7), rel=1e-12)
    assert composed_epsilon([release(0.1), other], 1e-8) == math.inf


def test_gaussian_noise_has_no_epsilon_at_delta_0() -> None:
    assert composed_epsilon([release(0.1)]) == math.inf
    assert tight_epsilon([release(0.1)]) == math.inf
    assert not hasattr(release(0.1), "epsilon")
    assert composed_epsilon([release(0.1)._replace(sensitivity=0.0)]) == 0.0
    assert composed_epsilon([release(0.1, times=math.inf)], 1e-6) == math.inf
    with pytest.raises(ValueError, match="not a release"):
        composed_rho([release(0.1)._replace(scale=0.0)])


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
    assert found < classical_epsilon(rho, delta)
    printed = rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))
    assert classical_epsilon(rho, delta) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(("rho", "delta"), BUDGETS)
def test_the_exact_curve_is_the_integral_of_the_excess_density(rho: float, delta: float) -> None:
    epsilon, mu = gaussian_epsilon(rho, delta), math.sqrt(2.0 * rho)
    p, q = stats.norm(mu, 1.0), stats.norm(0.0, 1.0)

    def excess(x: float) -> float:
        return max(0.0, float(p.pdf(x) - math.exp(epsilon) * q.pdf(x)))

    start = epsilon / mu + mu / 2.0  # the densities' ratio is e^epsilon there
    total, _ = integrate.quad(excess, start, start + 15.0, epsabs=0, limit=200)
    assert total == pytest.approx(delta, rel=1e-5)
    assert epsilon <= epsilon_of_rho(rho, delta)


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


def test_gaussian_releases_together_lose_what_one_of_their_rho_does() -> None:
    two = tight_epsilon([release(0.1), release(0.4)], 1e-6)
    assert two == pytest.approx(gaussian_epsilon(0.5, 1e-6), rel=1e-12)
    assert two < composed_epsilon([release(0.1), release(0.4)], 1e-6)


def test_dp_accounting_finds_the_same_epsilon() -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for rho, delta in BUDGETS[:2]:
        theirs = pld.from_gaussian_mechanism(
            1.0 / math.sqrt(2.0 * rho), value_discretization_interval=1e-4
        ).get_epsilon_for_delta(delta)
        assert gaussian_epsilon(rho, delta) == pytest.approx(theirs, rel=1e-3)


def test_edges() -> None:
    for convert in (classical_epsilon, epsilon_of_rho, gaussian_epsilon):
        assert convert(0.0, 1e-6) == 0.0
        assert convert(1.0, 0.0) == math.inf
    small = [classical_epsilon(rho, 1e-6) for rho in (0.0, 0.01, 0.05, 0.1)]
    assert small == sorted({*small})
    assert epsilon_of_rho(1.0, 1.0) == 0.0
    assert epsilon_of_rho(math.inf, 1e-6) == math.inf
    assert gaussian_delta(0.0, 0.5) == 0.0
