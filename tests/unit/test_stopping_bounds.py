"""Bounds of sajed2019 on stopping rules: by hand, by the proof, and their domain."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.config.compose import load
from dpbandits.core.errors import UserError
from dpbandits.theory.sajed2019 import (
    stopping_lower_bound,
    stopping_lower_bound_shape,
    stopping_upper_bound,
    t_0,
    t_1,
    t_2,
)

FIXED = settings(max_examples=100, derandomize=True, database=None, deadline=None)

budgets = st.floats(-3, 3).map(lambda e: 10.0**e)
signals = st.floats(-4, 0).map(lambda e: 10.0**e)
inside = st.floats(0.01, 0.9)
small = st.floats(-6, math.log10(0.08)).map(lambda e: 10.0**e)


def test_theorem_3_3_by_hand() -> None:
    # R/(alpha |mu|) = 8; log 8/0.05 = 41.588831, with logarithm 3.727832; log 20 is 2.995732.
    # alpha^2 mu^2 = 1/16, epsilon |mu| = 1/4, epsilon alpha |mu| = 1/8.
    game = {"mean": -0.5, "radius": 2.0, "alpha": 0.5, "beta": 0.05}
    assert t_0(**game) == pytest.approx(4 * 3.727832 * 16, rel=1e-6)
    assert t_1(**game, epsilon=0.5) == pytest.approx(2 * 3.727832 * 4, rel=1e-6)
    assert t_2(**game, epsilon=0.5) == pytest.approx(2 * 2.995732 * 8, rel=1e-6)
    expected = 2000 * (238.581248 + 29.822656 + 47.931712)
    assert stopping_upper_bound(**game, epsilon=0.5) == pytest.approx(expected, rel=1e-6)


def test_theorem_3_4_and_corollary_3_6_by_hand() -> None:
    game = {"mean": -0.5, "radius": 2.0, "epsilon": 0.5, "alpha": 0.5, "beta": 0.05}
    assert stopping_lower_bound(**game) == pytest.approx(2 * 2.995732 * 8 / 12, rel=1e-6)
    expected = 4 * 2.995732 * 16 + 2 * 2.995732 * 8
    assert stopping_lower_bound_shape(**game) == pytest.approx(expected, rel=1e-6)


def test_the_constant_of_theorem_3_4_is_that_of_its_proof() -> None:
    # beta exp(6 epsilon n d_TV) < 1/2 at n, where d_TV is below alpha mu/R.
    mean, radius, epsilon, alpha, beta = 0.3, 1.0, 0.2, 0.1, 0.2
    n = stopping_lower_bound(mean, radius, epsilon, alpha, beta)
    factor = math.exp(6 * epsilon * n * alpha * mean / radius)
    assert beta * factor == pytest.approx(math.sqrt(beta), rel=1e-12)


def test_without_privacy_t_0_alone_is_left() -> None:
    upper = stopping_upper_bound(0.3, 1.0, 1e12, 0.1, 0.01)
    assert upper == pytest.approx(2000 * t_0(0.3, 1.0, 0.1, 0.01), rel=1e-9)


@FIXED
@given(signals, budgets, budgets, inside, small)
def test_bounds_fall_with_the_budget_and_lower_ones_are_lower(
    mean: float, a: float, b: float, alpha: float, beta: float
) -> None:
    less, more = min(a, b), max(a, b)
    for bound in (stopping_upper_bound, stopping_lower_bound, stopping_lower_bound_shape):
        assert bound(mean, 1.0, more, alpha, beta) <= bound(mean, 1.0, less, alpha, beta)
    lower = stopping_lower_bound(mean, 1.0, a, alpha, beta)
    assert lower < stopping_lower_bound_shape(mean, 1.0, a, alpha, beta)
    assert lower < stopping_upper_bound(mean, 1.0, a, alpha, beta)


@FIXED
@given(signals, budgets, inside, small, st.sampled_from([-40.0, -1.0, 0.1, 7.0]))
def test_only_the_ratio_of_mean_and_radius_counts(
    mean: float, epsilon: float, alpha: float, beta: float, unit: float
) -> None:
    for bound in (stopping_upper_bound, stopping_lower_bound, stopping_lower_bound_shape):
        scaled = bound(mean * unit, abs(unit), epsilon, alpha, beta)
        assert scaled == pytest.approx(bound(mean, 1.0, epsilon, alpha, beta), rel=1e-9)


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
    upper = stopping_upper_bound(mean, 1.0, epsilon, alpha, beta)
    assert halts(mean, epsilon, alpha, beta) <= upper


def test_just_above_log_equal_to_beta_theorem_3_3_does_not_hold() -> None:
    # All samples are R. Without noise the rule cannot halt at 64, as h (1 + 1/alpha) > R there.
    alpha, beta = 0.92, 0.08
    h = math.sqrt(2 / 64 * math.log(16 * 6**2 / beta))
    assert h * (1 + 1 / alpha) > 1.09
    assert 64 < stopping_upper_bound(1.0, 1.0, 1e9, alpha, beta) < 128


@pytest.mark.parametrize("mean", [0.0, 1.01, -1.01])
def test_a_mean_outside_the_theorems_is_refused(mean: float) -> None:
    bounds = (t_1, t_2, stopping_upper_bound, stopping_lower_bound, stopping_lower_bound_shape)
    for bound in bounds:
        with pytest.raises(UserError, match=r"is for a mean in \[-R, R\] other than 0, got"):
            bound(mean, 1.0, 1.0, 0.1, 0.05)
    with pytest.raises(UserError, match="other than 0"):
        t_0(mean, 1.0, 0.1, 0.05)


def test_a_theorem_is_refused_where_it_does_not_apply() -> None:
    for bound in (t_1, t_2, stopping_upper_bound):
        with pytest.raises(UserError, match=r"Theorem 3.3 is for beta <= 0.08, got 0.081"):
            bound(0.5, 1.0, 1.0, 0.1, 0.081)
        assert bound(0.5, 1.0, 1.0, 0.1, 0.08) > 0
    with pytest.raises(UserError, match=r"Theorem 3.4 is for beta < 1/4, got 0.25"):
        stopping_lower_bound(0.5, 1.0, 1.0, 0.1, 0.25)
    for bound in (t_1, stopping_upper_bound):
        with pytest.raises(UserError, match=r"log\(R/\(alpha \|mu\|\)\) > beta, got 0.05"):
            bound(1.0, 1.0, 1.0, math.exp(-0.05), 0.08)


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("wrong", [{"alpha": 1}, {"alpha": 0}, {"beta": 1}, {"beta": -0.1}])
def test_alpha_and_beta_of_a_figure_are_inside_0_and_1(wrong: dict[str, float]) -> None:
    given: dict[str, Any] = {"mean": 0.5, "radius": 1, "alpha": 0.1, "beta": 0.05}
    overrides = [f"+figure.curves.c1.{key}={value}" for key, value in (given | wrong).items()]
    bound = "figure.curves.c1.bound=sajed2019.stopping_lower_bound"
    with pytest.raises(UserError, match=rf"{next(iter(wrong))} must be inside \(0, 1\), got"):
        load("lower-bounds", [bound, *overrides])
