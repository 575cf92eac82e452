"""The perturbation of Lemma 15 against the distribution function printed in the paper."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from dpbandits.fast._noise import noise_ahead, take
from dpbandits.mechanisms.perturbation import (
    perturb,
    perturbation,
    quantile,
    reach,
    tail,
)

BUDGETS = [(1.0, 0.01), (1.0, math.exp(-10)), (0.1, 0.0), (1.0, 0.0), (0.0, 0.01), (30.0, 0.5)]
BUDGETS += [(1e-5, 0.001), (1.0, 1.0), (0.0, 1.0), (1e-3, 1e-10)]


def printed_cdf(x: float, epsilon: float, delta: float) -> float:
    """Return Lemma 15 at x_0 = 0 and N = 1, its three cases."""
    if delta == 0.0:
        return 0.5 * math.exp(epsilon * x) if x <= 0 else 1 - 0.5 * math.exp(-epsilon * x)
    if epsilon == 0.0:
        return min(max(0.5 + delta * x, 0.0), 1.0)
    e = math.expm1(epsilon)
    end = math.log(e / (2 * delta) + 1) / epsilon
    if abs(x) > end:
        return 0.0 if x < 0 else 1.0
    lower = ((e / (2 * delta) + 1) * math.exp(-epsilon * abs(x)) - 1) / e * delta
    return lower if x <= 0 else 1 - lower


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_quantile_is_the_inverse_of_the_printed_distribution(
    budget: tuple[float, float],
) -> None:
    law = perturbation(*budget)
    for u in (1e-9, 0.01, 0.3, 0.4999, 0.5, 0.77, 0.999, 1 - 1e-9):
        assert printed_cdf(quantile(law, u), *budget) == pytest.approx(u, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_law_is_symmetric(budget: tuple[float, float]) -> None:
    law = perturbation(*budget)
    assert quantile(law, 0.5) == 0.0
    for u in (2.0**-40, 0.125, 0.375):
        assert quantile(law, u) == -quantile(law, 1.0 - u) < 0.0


def exact_quantile(u: float, epsilon: float, delta: float) -> float:
    """Return log[(delta + u E)/(delta + E/2)]/epsilon with four hundred digits."""
    with localcontext() as context:
        context.prec = 400
        e = Decimal(epsilon).exp() - 1
        ratio = (Decimal(delta) + Decimal(u) * e) / (Decimal(delta) + e / 2)
        return float(ratio.ln() / Decimal(epsilon))


@pytest.mark.parametrize("u", [1e-300, 1e-18, 1e-6, 0.3, 0.4999999])
@pytest.mark.parametrize(
    "budget",
    [
        *((10.0**-k, 0.01) for k in range(0, 300, 23)),
        *((0.7, 10.0**-k) for k in range(0, 300, 23)),
        (1e-12, 1e-12),
        (1e-9, 1e-200),
        (50.0, 1e-12),
        (600.0, 0.5),
    ],
    ids=str,
)
def test_no_digit_is_lost_however_small_a_budget_is(budget: tuple[float, float], u: float) -> None:
    assert quantile(perturbation(*budget), u) == pytest.approx(
        exact_quantile(u, *budget), rel=1e-14
    )


@pytest.mark.parametrize("u", [1e-9, 0.1, 0.49, 0.9])
def test_both_limits_are_reached(u: float) -> None:
    for delta in (1.0, 0.5):
        near, there = (quantile(perturbation(epsilon, delta), u) for epsilon in (1e-12, 0.0))
        assert near == pytest.approx(there, rel=1e-12)
        assert there == pytest.approx((u - 0.5) / delta, rel=1e-15)
    for epsilon in (0.1, 1.0, 800.0):
        near, there = (quantile(perturbation(epsilon, delta), u) for delta in (1e-22, 0.0))
        assert near == pytest.approx(there, rel=1e-12)
        expected = math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))
        assert there == pytest.approx(expected / epsilon, rel=1e-14)


def test_a_budget_that_is_hardly_a_number_is_a_limit() -> None:
    assert quantile(perturbation(5e-324, 0.5), 0.25) == -0.5
    assert quantile(perturbation(1e5, 0.5), 0.25) == pytest.approx(-math.log(2) / 1e5, rel=1e-14)


@pytest.mark.parametrize(
    ("budget", "radius"),
    [
        ((1.0, 0.01), 4.464748),
        ((0.1, 0.0), 131.223634),
        ((1.0, 0.0), 13.122363),
        ((0.0, 0.01), 49.9999),
        ((1e-5, 0.001), 498.755639),
    ],
    ids=str,
)
def test_the_radius_of_dp_ftpl_new_at_a_million_rounds(
    budget: tuple[float, float], radius: float
) -> None:
    assert reach(perturbation(*budget), 1e-6) == pytest.approx(radius, rel=1e-6)
    epsilon, delta = budget
    if epsilon > 0:
        e, t = math.expm1(epsilon), 1e6
        printed = math.log((t * e + 2 * t * delta) / (2 * e + 2 * t * delta)) / epsilon
        assert reach(perturbation(*budget), 1e-6) == pytest.approx(printed, rel=1e-9)
    else:
        printed = (1e6 - 2) / (2e6 * delta)
        assert reach(perturbation(*budget), 1e-6) == pytest.approx(printed, rel=1e-15)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_what_is_drawn_has_the_printed_law(budget: tuple[float, float]) -> None:
    law, rng = perturbation(*budget), np.random.default_rng(5)
    drawn = np.array([perturb(law, rng) for _ in range(20_000)])
    cdf = np.vectorize(lambda x: printed_cdf(x, *budget))
    # A correct law fails any of the ten with probability 10^-4.
    assert stats.kstest(drawn, cdf).pvalue > 1e-5


@pytest.mark.parametrize("budget", [b for b in BUDGETS if b[0] > 0.0] + [(0.4, 0.1)], ids=str)
def test_a_truncated_laplace_noise_has_the_printed_law(budget: tuple[float, float]) -> None:
    odds = perturbation(*budget).odds
    noise = noise_ahead(np.random.default_rng(5), 2**14, odds / (odds + 0.5))
    take(noise, 2**14)
    cdf = [printed_cdf(x, *budget) for x in noise.drawn / budget[0]]
    assert stats.kstest(cdf, "uniform").pvalue > 1e-5


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_tail_is_what_is_beyond_a_reach(budget: tuple[float, float]) -> None:
    law = perturbation(*budget)
    for chance in (1e-9, 0.01, 0.3, 0.5):
        assert tail(law, reach(law, chance)) == pytest.approx(chance, rel=1e-6, abs=1e-15)
    assert tail(law, -1.0) == 0.5
    end = math.inf if budget[1] == 0.0 else reach(law, 0.0)
    assert tail(law, 1.001 * end) == 0.0


def test_the_generator_s_zero_has_a_quantile_too() -> None:
    class Zero:
        def random(self) -> float:
            return 0.0

    assert perturb(perturbation(1.0, 0.0), Zero()) == pytest.approx(-53 * math.log(2), rel=1e-14)
    assert perturb(perturbation(0.0, 0.5), Zero()) == pytest.approx(-1.0, rel=1e-14)


@pytest.mark.parametrize("budget", [(1.0, 0.01), (0.1, 0.0), (0.0, 0.01)], ids=str)
def test_a_mean_that_moves_by_1_over_n_is_as_private_as_was_asked(
    budget: tuple[float, float],
) -> None:
    # (10) and (11) hold on a grid, and no smaller delta suffices.
    epsilon, delta = budget
    grid = np.linspace(-60.0, 60.0, 241)
    before, after = (np.array([printed_cdf(x + z, *budget) for x in grid]) for z in (0.0, 1.0))
    worst = -math.inf
    for first, second in ((before, after), (after, before)):
        inside = first[None, :] - first[:, None] - math.exp(epsilon) * (second - second[:, None])
        inside = inside[np.triu_indices(grid.size)]
        outside = first[:, None] + 1 - first[None, :]
        outside = outside - math.exp(epsilon) * (second[:, None] + 1 - second[None, :])
        worst = max(worst, inside.max(), outside[np.triu_indices(grid.size)].max())
    assert worst <= delta + 1e-12
    assert worst >= 0.9 * delta - 1e-12
