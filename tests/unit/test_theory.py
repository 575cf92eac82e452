"""Bounds of azize2022, sajed2019 and tossou2016: their shape, their proofs and their domain.

Every bound is compared with a literal version in tests/contract/test_oracles_*.py.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import lambertw

from dpbandits.algorithms.dp_ucb_int import Schedule
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.kl import bernoulli_kl
from dpbandits.theory import azize2022, sajed2019, tossou2016
from dpbandits.theory.azize2022 import (
    basis_lower_bound,
    linear_lower_bound,
    linear_transitions,
)

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)
HORIZON = 10_000_000
LOG_T = math.log(HORIZON)

# Hundredths, so that gaps are either 0 or large enough for d to be accurate.
several_means = st.lists(st.integers(1, 99).map(lambda k: k / 100), min_size=2, max_size=8)
budgets = st.floats(-3, 3).map(lambda e: 10.0**e)
horizons = st.integers(2, 10**9)

OVER_MEANS: dict[str, Callable[[Any, int, float], float]] = {
    "Theorem 3": azize2022.problem_dependent_lower_bound,
    "Theorem 8": lambda means, t, epsilon: azize2022.adap_klucb_upper_bound(means, t, epsilon, 3.1),
    "Theorem 3.2": tossou2016.dp_ucb_bound_upper_bound,
    "Theorem 3.2 as printed": tossou2016.dp_ucb_bound_printed_upper_bound,
    "Theorem 3.3": tossou2016.dp_ucb_upper_bound,
    "Theorem 3.5": lambda means, t, epsilon: tossou2016.dp_ucb_int_upper_bound(
        means, t, epsilon, math.exp(-10), 1.1, Schedule.SERIES
    ),
}


@pytest.mark.parametrize("bound", OVER_MEANS.values(), ids=OVER_MEANS)
@FIXED
@given(several_means, horizons, horizons, budgets, budgets)
def test_a_bound_falls_with_the_budget_and_grows_with_time(
    bound: Callable[[Any, int, float], float],
    means: list[float],
    s: int,
    t: int,
    a: float,
    b: float,
) -> None:
    assert bound(means, t, max(a, b)) <= bound(means, t, min(a, b)) * (1 + 1e-9)
    assert bound(means, min(s, t), a) <= bound(means, max(s, t), a) * (1 + 1e-9)
    assert bound([means[0]] * 5, t, a) == 0.0  # without suboptimal arms


# azize2022 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7, 1e-8, 1e-9])
def test_theorem_3_holds_for_nearly_equal_arms(gap: float) -> None:
    # d(p, p + gap) = gap^2/(2 p(1-p)) (1 + O(gap)): one per cent at any gap.
    means = (0.3, 0.3 + gap)
    expected = 2 * 0.3 * 0.7 / (means[1] - means[0]) * LOG_T
    bound = azize2022.problem_dependent_lower_bound(means, HORIZON, 1.0)
    assert bound == pytest.approx(expected, rel=0.01)


def test_no_constant_c_1_suffices_where_the_best_mean_is_nearly_one() -> None:
    # d(mu_a, mu*) is unbounded, but gamma < 1 still requires 2^l > log T/d(mu*, mu_a).
    def needed(best: float) -> float:
        bound = azize2022.adap_klucb_upper_bound((best, 0.5), HORIZON, 1e9, 3.1)
        return bound / (best - 0.5) * bernoulli_kl(0.5, best) / LOG_T

    assert needed(1 - 1e-4) < needed(1 - 1e-8) < needed(1 - 1e-15)
    assert needed(1 - 1e-15) > 3 * 4 * (1 + math.sqrt(3.1)) ** 2


def test_a_theorem_of_azize2022_is_refused_where_it_does_not_apply() -> None:
    for name in ("adap_ucb", "adap_ucb_minimax", "adap_klucb"):
        with pytest.raises(UserError, match="alpha > 3, got 3"):
            getattr(azize2022, f"{name}_upper_bound")((0.8, 0.1), HORIZON, 1.0, 3.0)
    for arms, horizon in ((1, 100), (5, 3)):
        with pytest.raises(UserError, match="Theorem 2"):
            azize2022.minimax_lower_bound(arms, horizon, 1.0)


# sajed2019 ---------------------------------------------------------------------------------------

signals = st.floats(-4, 0).map(lambda e: 10.0**e)
small = st.floats(-6, math.log10(0.08)).map(lambda e: 10.0**e)


@FIXED
@given(signals, budgets, budgets, st.floats(0.01, 0.9), small)
def test_bounds_on_samples_fall_with_the_budget_and_lower_ones_are_lower(
    mean: float, a: float, b: float, alpha: float, beta: float
) -> None:
    upper, shape, lower = (
        [getattr(sajed2019, name)(mean, 1.0, x, alpha, beta) for x in (min(a, b), max(a, b))]
        for name in ("stopping_upper_bound", "stopping_lower_bound_shape", "stopping_lower_bound")
    )
    assert upper[0] >= upper[1] > lower[1]
    assert shape[0] >= shape[1] > lower[1]
    assert lower[0] >= lower[1]


def halts(mean: float, epsilon: float, alpha: float, beta: float) -> float:
    """Return the first t = 2^k at which the proof of Theorem 3.3 lets Algorithm 2 halt; R = 1."""
    for k in itertools.count(1):
        t = 2.0**k
        h = math.sqrt(2 / t * math.log(16 * k * k / beta))
        noise = 24 * math.log(4 / beta) + 24 * math.log(8 * k * k / beta)
        noise += 4 * math.log(4 / beta) / alpha
        if mean >= h * (2 + 1 / alpha) + noise / (epsilon * t):
            return t
    raise AssertionError


@FIXED
@given(signals, st.floats(-30, 9).map(lambda e: 10.0**e), st.floats(0.001, 0.9), small)
def test_by_t_u_the_condition_of_the_proof_holds(
    mean: float, epsilon: float, alpha: float, beta: float
) -> None:
    upper = sajed2019.stopping_upper_bound(mean, 1.0, epsilon, alpha, beta)
    assert halts(mean, epsilon, alpha, beta) <= upper


def test_just_above_log_equal_to_beta_theorem_3_3_does_not_hold() -> None:
    # All samples are R. Without noise the rule cannot halt at 64, as h (1 + 1/alpha) > R there.
    alpha, beta = 0.92, 0.08
    h = math.sqrt(2 / 64 * math.log(16 * 6**2 / beta))
    assert h * (1 + 1 / alpha) > 1.09
    assert 64 < sajed2019.stopping_upper_bound(1.0, 1.0, 1e9, alpha, beta) < 128


def test_a_theorem_of_sajed2019_is_refused_where_it_does_not_apply() -> None:
    upper, lower = sajed2019.stopping_upper_bound, sajed2019.stopping_lower_bound
    for bound in (sajed2019.t_1, sajed2019.t_2, upper, lower, sajed2019.stopping_lower_bound_shape):
        for mean in (0.0, 1.01, -1.01):
            with pytest.raises(UserError, match=r"is for a mean in \[-R, R\] other than 0, got"):
                bound(mean, 1.0, 1.0, 0.1, 0.05)
    for bound in (sajed2019.t_1, sajed2019.t_2, upper):
        with pytest.raises(UserError, match=r"Theorem 3.3 is for beta <= 0.08, got 0.081"):
            bound(0.5, 1.0, 1.0, 0.1, 0.081)
        assert bound(0.5, 1.0, 1.0, 0.1, 0.08) > 0
    with pytest.raises(UserError, match=r"Theorem 3.4 is for beta < 1/4, got 0.25"):
        lower(0.5, 1.0, 1.0, 0.1, 0.25)
    with pytest.raises(UserError, match=r"log\(R/\(alpha \|mu\|\)\) > beta, got 0.05"):
        upper(1.0, 1.0, 1.0, math.exp(-0.05), 0.08)


# tossou2016 --------------------------------------------------------------------------------------

TWO, ROUNDS = (0.9, 0.6), 100_000  # of Fig. 2


def test_b_times_ln_b_plus_7_covers_the_solution_by_lambert_w() -> None:
    b = np.logspace(1e-9, 172, 5000)
    exact = -b * lambertw(-1 / (math.e * b), -1).real
    assert np.all([tossou2016._noise(x, "") for x in b] >= exact)
    # This holds up to w = e^6, where both are equal.
    largest = tossou2016.LARGEST
    assert -lambertw(-1 / (math.e * largest), -1).real == pytest.approx(math.exp(6), rel=1e-12)
    beyond = largest * 1e10
    assert beyond * (math.log(beyond) + 7) < -beyond * lambertw(-1 / (math.e * beyond), -1).real
    for upper in (tossou2016.dp_ucb_bound_upper_bound, tossou2016.dp_ucb_upper_bound):
        with pytest.raises(UserError, match=r"Theorem 3.[23] is for B or C up to 1.5e\+172, got"):
            upper(TWO, ROUNDS, 1e-180)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_after_its_pulls_event_a_6_is_false_and_after_the_printed_ones_it_is_not(
    epsilon: float,
) -> None:
    gap = TWO[0] - TWO[1]

    def is_false(n: np.ndarray) -> np.ndarray:
        h = math.sqrt(8) / epsilon * math.log(4 * ROUNDS**4) * (np.log(n) + 1) / n
        return gap > 2 * np.sqrt(2 * math.log(ROUNDS) / n) + 2 * h

    def pulls(theorem: str) -> float:
        return OVER_MEANS[theorem](TWO, ROUNDS, epsilon) / gap - 1 - 2 * math.pi**2 / 3

    assert is_false(np.logspace(0, 6, 1000) * pulls("Theorem 3.2")).all()
    assert not is_false(np.array([pulls("Theorem 3.2 as printed")])).any()


def test_the_noise_of_theorem_3_3_is_more_than_all_rounds_up_to_170_million() -> None:
    assert tossou2016.dp_ucb_upper_bound(TWO, 170_000_000, 1.0) > 0.3 * 170_000_000
    assert tossou2016.dp_ucb_upper_bound(TWO, 171_000_000, 1.0) < 0.3 * 171_000_000


# Theorem 5 of azize2022, the convex program, against known or independently computed values -------

BASIS = np.eye(4).tolist()
THETA = (0.9, 0.5, 0.3, 0.1)
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


def test_the_program_is_refused_where_the_theorem_does_not_apply() -> None:
    with pytest.raises(UserError, match="unique best"):
        gap(BASIS, (1, 1, 0, 0))
    with pytest.raises(UserError, match="span"):
        gap([[1, 0], [0.5, 0]], (1, 0))
    with pytest.raises(UserError, match="3 coordinates in 2"):
        basis_lower_bound(2, (0.9, 0.5, 0.1), HORIZON, 1.0)
