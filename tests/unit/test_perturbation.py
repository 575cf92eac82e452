"""The perturbation of Lemma 15 against the distribution function printed in the paper."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from first_leads import quantile
from scipy import stats
from wang2024 import Lemma15

from dpbandits.mechanisms.perturbation import perturb, perturbation

BUDGETS = [(1.0, 0.01), (1.0, math.exp(-10)), (0.1, 0.0), (1.0, 0.0), (0.0, 0.01), (30.0, 0.5)]
BUDGETS += [(1e-5, 0.001), (1.0, 1.0), (0.0, 1.0), (1e-3, 1e-10)]


def printed_cdf(x: float, epsilon: float, delta: float) -> float:
    """Return Lemma 15 at x_0 = 0 and N = 1."""
    return Lemma15(epsilon, delta, pulls=1, x0=0.0).cdf(x)


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


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_what_is_drawn_has_the_printed_law(budget: tuple[float, float]) -> None:
    law, rng = perturbation(*budget), np.random.default_rng(5)
    for u in (1e-9, 0.01, 0.3, 0.4999, 0.5, 0.77, 0.999, 1 - 1e-9):
        assert printed_cdf(quantile(law, u), *budget) == pytest.approx(u, rel=1e-9, abs=1e-11)
    drawn = np.array([perturb(law, rng) for _ in range(20_000)])
    cdf = np.vectorize(lambda x: printed_cdf(x, *budget))
    # A correct law fails any of the ten with probability 10^-4.
    assert stats.kstest(drawn, cdf).pvalue > 1e-5


def test_the_generator_s_zero_has_a_quantile_too() -> None:
    class Zero:
        def random(self) -> float:
            return 0.0

    assert perturb(perturbation(1.0, 0.0), Zero()) == pytest.approx(-53 * math.log(2), rel=1e-14)
    assert perturb(perturbation(0.0, 0.5), Zero()) == pytest.approx(-1.0, rel=1e-14)
