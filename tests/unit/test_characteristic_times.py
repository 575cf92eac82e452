"""Characteristic times of best-arm identification: closed forms, shape, limits, refusals."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from dpbandits.algorithms.dp_klucb import private_divergence
from dpbandits.kernel.errors import UserError
from dpbandits.theory import azize2024, jourdan2025
from dpbandits.theory.jourdan2025 import characteristic_time

FIXED = settings(max_examples=15, derandomize=True, database=None, deadline=None)
L = (0.95, 0.9, 0.9, 0.9, 0.5)
INSTANCES = [L, (0.75, 0.7, 0.7, 0.7, 0.7), (1.0, 0.75, 0.5, 0.25, 0.0), (0.6, 0.2)]
budgets = st.floats(-4, 3).map(lambda e: 10.0**e)
means = st.lists(st.integers(0, 100), min_size=2, max_size=6).map(lambda m: [k / 100 for k in m])
with_one_best = means.filter(lambda m: m.count(max(m)) == 1)
PUBLISHED = {  # of an independent search, on L
    0.001: 82_316,
    0.00464159: 17_809,
    0.0215443: 3_913,
    0.1: 931.2,
    0.464159: 399.2,
    10.0: 395.5,
}


@pytest.mark.parametrize("epsilon", PUBLISHED)
def test_t_epsilon_is_that_of_an_independent_search(epsilon: float) -> None:
    assert characteristic_time(L, epsilon) == pytest.approx(PUBLISHED[epsilon], rel=2e-4)


@pytest.mark.parametrize("epsilon", [1e-4, 0.05, 0.7, 3.0, 50.0])
@pytest.mark.parametrize("pair", [(0.9, 0.2), (0.31, 0.3), (0.999, 0.0), (1.0, 0.6)])
def test_of_two_arms_the_cost_is_the_divergence_of_the_mean_as_far_from_both(
    pair: tuple[float, float], epsilon: float
) -> None:
    def further(x: float) -> float:
        return float(
            private_divergence(pair[0], x, epsilon) - private_divergence(pair[1], x, epsilon)
        )

    x = brentq(further, pair[1] + 1e-12, pair[0] - 1e-12, xtol=1e-15)
    expected = 1.0 / private_divergence(pair[0], x, epsilon)
    assert characteristic_time(pair, epsilon) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.2, 1e100])
def test_of_two_arms_at_equal_distance_of_one_half_the_alternative_is_one_half(
    epsilon: float,
) -> None:
    expected = 1.0 / private_divergence(0.8, 0.5, epsilon)
    assert characteristic_time((0.2, 0.8), epsilon) == pytest.approx(expected, rel=1e-9)


@FIXED
@given(with_one_best, budgets, budgets)
def test_the_times_fall_with_the_budget_and_lie_between_their_limits(
    arms: list[float], a: float, b: float
) -> None:
    low, high = characteristic_time(arms, max(a, b)), characteristic_time(arms, min(a, b))
    assert low <= high * (1 + 1e-9)
    kl, tv = azize2024.kl_characteristic_time(arms), azize2024.tv_characteristic_time(arms)
    assert high >= max(kl, tv / min(a, b)) * (1 - 1e-7)  # d_ε is at most kl and ε times the gap
    assert characteristic_time(arms[::-1], a) == characteristic_time(arms, a)


@pytest.mark.parametrize("arms", INSTANCES)
def test_as_epsilon_falls_the_time_is_that_of_the_total_variation_over_epsilon(
    arms: tuple[float, ...],
) -> None:
    for epsilon in (1e-100, 1e-30, 1e-7):
        tv = azize2024.tv_characteristic_time(arms) / epsilon
        assert characteristic_time(arms, epsilon) == pytest.approx(tv, rel=1e-5)


@pytest.mark.parametrize("arms", INSTANCES[:2])
def test_from_the_threshold_on_privacy_is_free(arms: tuple[float, ...]) -> None:
    (free,) = jourdan2025.transitions(arms)
    kl = azize2024.kl_characteristic_time(arms)
    assert characteristic_time(arms, free) == pytest.approx(kl, rel=1e-9)
    assert jourdan2025.transitions((1.0, 0.5)) == jourdan2025.transitions((0.5, 0.0)) == ()


def test_the_lower_bounds_are_the_times_times_the_logarithm_of_the_risk() -> None:
    log = math.log(1 / 0.03)
    assert jourdan2025.lower_bound(L, 0.1, 0.01) == characteristic_time(L, 0.1) * log
    assert azize2024.kl_characteristic_time(L) == pytest.approx(395.5, rel=2e-4)
    assert azize2024.tv_characteristic_time(L) == pytest.approx(4 / 0.05 + 1 / 0.45)
    (equal,) = azize2024.identification_transitions(L)
    at_equal = azize2024.identification_lower_bound(L, equal, 0.01)
    assert at_equal == pytest.approx(azize2024.identification_lower_bound(L, 10.0, 0.01))
    half = azize2024.identification_lower_bound(L, equal / 2, 0.01)
    assert half == pytest.approx(2 * at_equal)


@pytest.mark.parametrize(
    "bound", [lambda m: characteristic_time(m, 1.0), azize2024.tv_characteristic_time]
)
def test_several_best_arms_are_refused(bound: object) -> None:
    assert callable(bound)
    with pytest.raises(UserError, match=r"unique best arm, got 2 of mean 0\.9"):
        bound((0.9, 0.5, 0.9))
