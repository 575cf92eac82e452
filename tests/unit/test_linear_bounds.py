"""Theorem 5 of azize2022, the convex program, against known or independently computed values."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from dpbandits.core.errors import UserError
from dpbandits.theory._structural_gap import structural_gap
from dpbandits.theory.azize2022 import (
    basis_lower_bound,
    basis_transitions,
    linear_lower_bound,
    linear_transitions,
)

HORIZON = 10_000_000
LOG_T = math.log(HORIZON)
BASIS = np.eye(4).tolist()
THETA = (0.9, 0.5, 0.3, 0.1)
EXTRA = (0.9, 0.5)  # of the figure lower-bounds
LARGE = 1e7  # alpha(a*) over the sum of all others; the infimum has it infinite
NO_PRIVACY = 1e9  # an epsilon so large that the private limits have no effect


def gap(actions: Any, theta: Any, epsilon: float = NO_PRIVACY) -> float:
    """Return the bound in units of log T."""
    return linear_lower_bound(actions, theta, HORIZON, epsilon) / LOG_T


def close(value: float) -> Any:
    return pytest.approx(value, rel=3e-8)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.05, 0.06, 0.1, 1.0, NO_PRIVACY])
def test_orthonormal_actions_cost_one_over_the_smaller_limit_each(epsilon: float) -> None:
    # Here H is diagonal, and rho_a = 2 (Example 3).
    gaps = [THETA[0] - value for value in THETA[1:]]
    expected = sum(g / min(0.5 * g * g, 6.0 * epsilon * g) for g in gaps)
    assert gap(BASIS, THETA, epsilon) == close(expected)


def test_orthonormal_actions_change_regime_at_a_twelfth_of_their_gap() -> None:
    assert linear_transitions(BASIS, THETA) == pytest.approx((0.4 / 12, 0.6 / 12, 0.8 / 12))


@pytest.mark.parametrize("dimension", [2, 5, 10])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.0221, 0.0223, 0.05, 0.06, 0.1, 10.0])
def test_the_instances_of_lower_bounds_by_hand(dimension: int, epsilon: float) -> None:
    # Orthogonally to e_1 the extra action is 0.5 e_2 at a tenth of the gap of e_2, so it is pulled
    # instead of e_2, at a cost of 0.4 per unit of H_22. Every other action of the basis is pulled
    # for itself.
    norm = 0.9**2 + 0.5**2
    rho_2, rho_extra = 2 + 0.4 / norm, 0.1 + 0.5 + (0.5**2 - 0.9 * 0.1) / norm
    rho_other = 2 + 0.9 / norm

    def limit(distance: float, rho: float) -> float:
        return min(0.5 * distance**2, 3 * epsilon * rho * distance)

    h_22 = max(1 / limit(1, rho_2), 0.25 / limit(0.1, rho_extra))
    expected = 0.4 * h_22 + (dimension - 2) / limit(1, rho_other)
    value = basis_lower_bound(dimension, EXTRA, HORIZON, epsilon) / LOG_T
    assert value == close(expected)


def test_without_privacy_the_instances_of_lower_bounds_cost_20_26_and_36() -> None:
    for dimension, expected in ((2, 20.0), (5, 26.0), (10, 36.0)):
        value = basis_lower_bound(dimension, EXTRA, HORIZON, NO_PRIVACY) / LOG_T
        assert value == close(expected)


def test_the_instances_of_lower_bounds_change_regime_at_0_0222_and_0_0585() -> None:
    norm = 0.9**2 + 0.5**2
    first, second = 0.1 / (6 * (0.6 + 0.16 / norm)), 1 / (6 * (2 + 0.9 / norm))
    assert first == pytest.approx(0.022194, abs=5e-7)
    assert second == pytest.approx(0.058499, abs=5e-7)
    # The constraint of e_2 never binds beside that of the extra action.
    assert basis_transitions(2, EXTRA) == pytest.approx((first,))
    assert basis_transitions(5, EXTRA) == pytest.approx((first, second))


def several(seed: int, actions: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(actions, dimensions)), rng.normal(size=dimensions)


def by_newton(actions: np.ndarray, theta: np.ndarray, epsilon: float) -> float:
    """Solve the program as printed, with a large alpha(a*), along the path of its log barrier.

    The unknowns are spent_b = alpha(b) Delta_b. The returned value is that of a feasible point.
    """
    values = actions @ theta
    best = int(np.argmax(values))
    rest = [a for a in range(len(actions)) if a != best]
    arms, gaps = actions[rest], (values[best] - values)[rest]
    limits = np.empty(len(rest))
    for i in range(len(rest)):
        rho = sum(abs(b @ (arms[i] - actions[best])) / (b @ b) for b in actions)
        limits[i] = min(gaps[i] ** 2 / 2, 3 * epsilon * rho * gaps[i])
    free = LARGE * np.outer(actions[best], actions[best])
    # Contribution to H of one unit spent on an arm.
    units = np.array([np.outer(b, b) + free for b in arms]) / gaps[:, None, None]

    def norms(spent: np.ndarray) -> np.ndarray:
        # |a|^2_{H^-1} over its limit, at most 1.
        inverse = np.linalg.inv(np.tensordot(spent, units, 1))
        return np.einsum("ad,de,ae->a", arms, inverse, arms) / limits

    def value(spent: np.ndarray, weight: float) -> float:
        if spent.min() <= 0 or norms(spent).max() >= 1:
            return math.inf
        barrier = np.log(1 - norms(spent)).sum() + np.log(spent).sum()
        return float(weight * spent.sum() - barrier)

    def derivatives(spent: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        inverse = np.linalg.inv(np.tensordot(spent, units, 1))
        turned = units @ (inverse @ arms.T)  # by arm of the unit, coordinate, arm of the norm
        first = -np.einsum("da,bda->ab", inverse @ arms.T, turned) / limits[:, None]
        second = 2 * np.einsum("bda,de,cea->abc", turned, inverse, turned) / limits[:, None, None]
        left = 1 / (1 - norms(spent))
        slope = weight - 1 / spent + left @ first
        bend = np.diag(1 / spent**2) + (first.T * left**2) @ first + np.tensordot(left, second, 1)
        return slope, bend

    spent = np.ones(len(rest))
    scale = norms(spent).max()  # at this scale, equal shares for all arms are just feasible
    units *= scale
    spent *= 2.0
    for weight in 10.0 ** np.arange(8):  # at the last one the barrier costs 8/10^7
        spent = minimize(
            value,
            spent,
            args=(weight,),
            jac=lambda *at: derivatives(*at)[0],
            hess=lambda *at: derivatives(*at)[1],
            method="trust-exact",
            options={"gtol": 1e-6 * weight, "maxiter": 1000, "initial_trust_radius": 0.1},
        ).x
    return float(scale * spent.sum() * norms(spent).max())


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 40))]
)
@pytest.mark.parametrize("epsilon", [0.02, 0.2, NO_PRIVACY])
def test_another_solver_finds_the_same_value(seed: int, epsilon: float) -> None:
    actions, theta = several(seed, 5, 3)
    expected = by_newton(actions, theta, epsilon)
    assert gap(actions, theta, epsilon) == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("epsilon", [0.02, 0.2, NO_PRIVACY])
def test_a_rotation_or_another_unit_of_length_changes_nothing(epsilon: float) -> None:
    actions, theta = several(1, 6, 4)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    value = gap(actions, theta, epsilon)
    assert gap(actions @ turn, theta @ turn, epsilon) == close(value)
    assert gap(3.0 * actions, theta / 3.0, epsilon) == close(value)
    assert gap(actions[::-1], theta, epsilon) == close(value)


def test_gaps_twice_as_large_cost_half_without_privacy_and_the_same_with() -> None:
    actions, theta = several(3, 6, 3)
    assert gap(actions, 2 * theta) == close(gap(actions, theta) / 2)
    assert gap(actions, 2 * theta, 1e-5) == close(gap(actions, theta, 1e-5))
    assert gap(actions, theta, 0.5e-5) == close(2 * gap(actions, theta, 1e-5))


def test_more_budget_never_raises_the_bound() -> None:
    actions, theta = several(4, 8, 3)
    values = [gap(actions, theta, epsilon) for epsilon in np.geomspace(1e-4, 10, 30)]
    assert all(b <= a * (1 + 2e-8) for a, b in pairwise(values))
    assert values[-1] == close(gap(actions, theta))


def test_an_action_along_the_best_one_costs_nothing() -> None:
    assert gap([*BASIS, [0.5, 0, 0, 0]], THETA) == close(gap(BASIS, THETA))


def test_actions_without_a_constraint_cost_nothing() -> None:
    actions, gaps = np.eye(2), np.array([0.0, 0.5])
    assert structural_gap(actions, 0, gaps, np.full(2, math.inf)) == 0.0


def test_the_program_is_refused_where_the_theorem_does_not_apply() -> None:
    with pytest.raises(UserError, match="unique best"):
        gap(BASIS, (1, 1, 0, 0))
    with pytest.raises(UserError, match="span"):
        gap([[1, 0], [0.5, 0]], (1, 0))
    with pytest.raises(UserError, match="3 coordinates in 2"):
        basis_lower_bound(2, (0.9, 0.5, 0.1), HORIZON, 1.0)
