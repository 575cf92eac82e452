import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from dpbandits.core.errors import UserError
from dpbandits.core.kl import bernoulli_kl
from dpbandits.theory import function
from dpbandits.theory.azize2022 import (
    adap_klucb_upper_bound,
    adap_ucb_minimax_upper_bound,
    adap_ucb_upper_bound,
    linear_minimax_lower_bound,
    linear_minimax_transitions,
    minimax_lower_bound,
    minimax_transitions,
    no_privacy_lower_bound,
    problem_dependent_lower_bound,
    problem_dependent_transitions,
)

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)

# The figure adap-regimes.
MEANS = (0.8, 0.1, 0.1, 0.1, 0.1)
HORIZON = 10_000_000
LOG_T = math.log(HORIZON)

# d(.1, .8) = .1 log(1/8) + .9 log(9/2), and the gap .7.
DIVERGENCE = 0.1 * math.log(1 / 8) + 0.9 * math.log(9 / 2)
NO_PRIVACY = 4 * 0.7 / DIVERGENCE * LOG_T

# Hundredths, so that gaps are either 0 or large enough for d to be accurate.
several_means = st.lists(st.integers(1, 99).map(lambda k: k / 100), min_size=2, max_size=8)
budgets = st.floats(-3, 3).map(lambda e: 10.0**e)


def bound(epsilon: float, means: tuple[float, ...] = MEANS, horizon: int = HORIZON) -> float:
    return problem_dependent_lower_bound(means, horizon, epsilon)


def test_without_privacy_the_bound_of_adap_regimes_is_39_39() -> None:
    assert pytest.approx(39.39, abs=0.005) == NO_PRIVACY
    assert bound(10.0) == pytest.approx(NO_PRIVACY, rel=1e-14)


def test_in_adap_regimes_privacy_costs_only_below_epsilon_0_2728() -> None:
    # The regimes meet at d/(6 Delta) = 0.27280, to the five digits printed.
    assert bound(0.27275) > NO_PRIVACY * (1 + 1e-6)
    assert bound(0.27285) == pytest.approx(NO_PRIVACY, rel=1e-14)


def test_in_the_private_regime_every_suboptimal_arm_costs_one_over_six_epsilon() -> None:
    for epsilon in (0.2, 1e-3, 1e-9):
        assert bound(epsilon) == pytest.approx(4 * LOG_T / (6 * epsilon), rel=1e-14)


def test_arms_change_regime_each_at_its_own_epsilon() -> None:
    # d(.5, .75) = .5 log(4/3) and d(.25, .75) = .5 log 3; they equal 6 eps Delta at .0959 and
    # .1831.
    near, far = 0.5 * math.log(4 / 3), 0.5 * math.log(3)
    expected = (0.25 / near + 1 / (6 * 0.12)) * LOG_T
    assert near / (6 * 0.25) < 0.12 < far / (6 * 0.5)
    assert bound(0.12, (0.5, 0.75, 0.25)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0])
def test_without_suboptimal_arms_there_is_no_regret_to_bound(mean: float) -> None:
    assert bound(0.1, (mean,) * 5) == 0.0


def test_several_best_arms_cost_nothing() -> None:
    assert bound(0.5, (0.8, 0.8, 0.1)) == bound(0.5, (0.8, 0.1)) > 0.0


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 1e3])
def test_under_a_best_mean_of_one_the_private_term_rules_alone(epsilon: float) -> None:
    expected = 2 * LOG_T / (6 * epsilon)
    assert bound(epsilon, (1.0, 0.5, 0.0)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 1e-7, 1e-8, 1e-9])
def test_the_bound_holds_for_nearly_equal_arms(gap: float) -> None:
    # d(p, p + gap) = gap^2/(2 p(1-p)) (1 + O(gap)): one per cent at any gap.
    means = (0.3, 0.3 + gap)
    expected = 2 * 0.3 * 0.7 / (means[1] - means[0]) * LOG_T
    assert bound(1.0, means) == pytest.approx(expected, rel=0.01)


@FIXED
@given(several_means, budgets, budgets)
def test_more_budget_never_raises_the_bound(means: list[float], a: float, b: float) -> None:
    instance = tuple(means)
    assert bound(max(a, b), instance) <= bound(min(a, b), instance)


@FIXED
@given(several_means, budgets, st.integers(2, 10**12))
def test_the_bound_grows_with_log_t(means: list[float], epsilon: float, horizon: int) -> None:
    per_log = bound(epsilon, tuple(means), horizon) / math.log(horizon)
    assert bound(epsilon, tuple(means)) / LOG_T == pytest.approx(per_log, rel=1e-14)


@FIXED
@given(several_means, budgets)
def test_the_order_of_the_arms_does_not_count(means: list[float], epsilon: float) -> None:
    backwards = tuple(reversed(means))
    # A sum of eight terms in another order.
    assert bound(epsilon, backwards) == pytest.approx(bound(epsilon, tuple(means)), rel=1e-14)


def test_a_figure_finds_the_bound_by_its_name() -> None:
    assert function("azize2022.problem_dependent_lower_bound") is problem_dependent_lower_bound


# Theorems 2, 4, 7, 8 and 12


def test_theorem_2_by_hand() -> None:
    # sqrt(10^7 * 4)/27 and 4/(131 * 10^-6).
    assert minimax_lower_bound(5, HORIZON, 1.0) == pytest.approx(234.24279, abs=5e-6)
    assert minimax_lower_bound(5, HORIZON, 1e-6) == pytest.approx(30534.351145, abs=5e-7)


def test_theorem_4_by_hand() -> None:
    # e^-2 * 5 * sqrt(10^7)/8 and e^-6 * 5/(4 * 10^-6).
    assert linear_minimax_lower_bound(5, HORIZON, 1.0) == pytest.approx(267.479839, abs=5e-6)
    assert linear_minimax_lower_bound(5, HORIZON, 1e-6) == pytest.approx(3098.4402208, abs=5e-7)


@pytest.mark.parametrize("horizon", [100, HORIZON])
def test_the_terms_of_the_minimax_bounds_are_equal_where_their_regimes_meet(horizon: int) -> None:
    pairs: list[tuple[Callable[[int, int, float], float], tuple[float, ...]]] = [
        (minimax_lower_bound, minimax_transitions(5, horizon)),
        (linear_minimax_lower_bound, linear_minimax_transitions(horizon)),
    ]
    for lower_bound, (meet,) in pairs:
        flat = lower_bound(5, horizon, 1e3)
        assert lower_bound(5, horizon, meet * (1 + 1e-9)) == flat
        assert lower_bound(5, horizon, meet * 0.99) == pytest.approx(flat / 0.99, rel=1e-12)


def test_131_over_27_is_not_where_the_terms_of_theorem_2_are_equal() -> None:
    # As printed, the private term is smaller than the other by the square of that factor.
    printed = 131 / 27 * math.sqrt(4 / HORIZON)
    private = 4 / (131 * printed)
    ratio = minimax_lower_bound(5, HORIZON, printed) / private
    assert ratio == pytest.approx((131 / 27) ** 2)


def test_theorem_3_changes_regime_once_for_every_gap() -> None:
    near, far = 0.5 * math.log(4 / 3) / 1.5, 0.5 * math.log(3) / 3
    assert problem_dependent_transitions((0.5, 0.75, 0.25, 0.5)) == pytest.approx((near, far))
    assert problem_dependent_transitions((1.0, 0.5)) == ()


def test_without_privacy_theorem_3_is_the_bound_of_lai_and_robbins() -> None:
    assert no_privacy_lower_bound(MEANS, HORIZON) == pytest.approx(NO_PRIVACY, rel=1e-14)


def test_theorem_7_by_hand() -> None:
    # Gaps .25 and .5; min{gap, .3} is .25 and .3; 3 * 4/(4 - 3) = 12.
    expected = 16 * 4 * LOG_T * (1 / 0.25 + 1 / 0.3) + 2 * 12
    value = adap_ucb_upper_bound((0.75, 0.5, 0.25), HORIZON, 0.3, 4.0)
    assert value == pytest.approx(expected, rel=1e-14)


def test_theorem_12_is_its_proof_at_the_gap_that_it_chooses() -> None:
    alpha, arms, epsilon = 4.0, 3, 0.3
    chosen = 4 * math.sqrt(alpha * arms * LOG_T / HORIZON)
    pulls = 16 * alpha * arms * LOG_T
    expected = HORIZON * chosen + pulls / chosen + pulls / epsilon + 12 * 0.75
    value = adap_ucb_minimax_upper_bound((0.75, 0.5, 0.25), HORIZON, epsilon, alpha)
    assert value == pytest.approx(expected, rel=1e-14)


def first_episode(mean: float, best: float, horizon: int, epsilon: float, alpha: float) -> int:
    """Return the least l for which one of many beta, given by their c, satisfies (35) and (36)."""
    gap, divergence, log_t = best - mean, bernoulli_kl(mean, best), math.log(horizon)
    c = np.linspace(0, 1, 20_001)[1:-1]
    beta = np.array([divergence / bernoulli_kl(mean + x * gap, best) - 1 for x in c])
    for episode in range(60):
        level = log_t / 2**episode
        if level >= bernoulli_kl(best, mean):  # gamma would be at least 1
            continue
        gamma = brentq(lambda g, at=level: bernoulli_kl(mean + g * gap, mean) - at, 0, 1)
        above = np.maximum(c - gamma, 1e-300)
        fits = 2**episode >= (1 + beta) * alpha * log_t / divergence
        if np.any(fits & (2**episode >= (1 + alpha) * log_t / (above * epsilon * gap))):
            return episode
    raise AssertionError


@pytest.mark.parametrize("epsilon", [0.003, 0.1, 0.25, 1.0, 30.0])
@pytest.mark.parametrize(("mean", "best"), [(0.7, 0.75), (0.25, 0.75), (0.1, 0.8), (0.5, 0.99)])
def test_theorem_8_is_its_proof_over_a_grid_of_beta(
    mean: float, best: float, epsilon: float
) -> None:
    for horizon in (1000, HORIZON):
        pulls = 2 ** (first_episode(mean, best, horizon, epsilon, 3.1) + 1) + 1.5 + 31
        value = adap_klucb_upper_bound((best, mean), horizon, epsilon, 3.1)
        assert value == pytest.approx((best - mean) * pulls, rel=1e-12)


def test_theorem_8_by_hand_where_one_cause_rules() -> None:
    # Noise alone: c is 1 and gamma 0, 2^l >= 5 log T/(epsilon Delta) = 5 * 16.1181/10^-5 or 2^22.9.
    value = adap_klucb_upper_bound((0.75, 0.25), HORIZON, 2e-5, 4.0)
    assert value == pytest.approx(0.5 * (2**24 + 5.5), rel=1e-12)
    # Sampling alone, near arms: d is (q-p)^2/(2 p(1-p)), so that 2^l >= (1 + sqrt(alpha))^2 log T/d
    # = 9 * 16.1181/(0.0002/0.25) or 2^17.47.
    value = adap_klucb_upper_bound((0.51, 0.49), HORIZON, 1e6, 4.0)
    assert value == pytest.approx(0.02 * (2**19 + 5.5), rel=1e-12)


@pytest.mark.parametrize("means", [(1.0, 0.5), (0.5, 0.0), (1.0, 0.0)])
def test_theorem_8_holds_for_means_of_zero_and_one(means: tuple[float, ...]) -> None:
    assert means[0] < adap_klucb_upper_bound(means, HORIZON, 1.0, 3.1) < 1000


def test_no_constant_c_1_suffices_where_the_best_mean_is_nearly_one() -> None:
    # d(mu_a, mu*) is unbounded, but gamma < 1 still requires 2^l > log T/d(mu*, mu_a).
    def needed(best: float) -> float:
        bound = adap_klucb_upper_bound((best, 0.5), HORIZON, 1e9, 3.1)
        return bound / (best - 0.5) * bernoulli_kl(0.5, best) / LOG_T

    assert needed(1 - 1e-4) < needed(1 - 1e-8) < needed(1 - 1e-15)
    assert needed(1 - 1e-15) > 3 * 4 * (1 + math.sqrt(3.1)) ** 2


@FIXED
@given(several_means, budgets, budgets, st.integers(2, 10**9), st.integers(2, 10**9))
def test_theorem_8_falls_with_the_budget_and_grows_with_time(
    means: list[float], a: float, b: float, s: int, t: int
) -> None:
    for alpha in (3.1, 10.0):
        early = adap_klucb_upper_bound(means, min(s, t), a, alpha)
        assert early <= adap_klucb_upper_bound(means, max(s, t), a, alpha)
        less = adap_klucb_upper_bound(means, t, min(a, b), alpha)
        assert adap_klucb_upper_bound(means, t, max(a, b), alpha) <= less


@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0])
def test_without_suboptimal_arms_upper_bounds_are_zero(mean: float) -> None:
    assert adap_klucb_upper_bound((mean,) * 5, HORIZON, 0.1, 3.1) == 0.0


def test_a_theorem_is_refused_where_it_does_not_apply() -> None:
    for upper in (adap_ucb_upper_bound, adap_ucb_minimax_upper_bound, adap_klucb_upper_bound):
        with pytest.raises(UserError, match="alpha > 3, got 3"):
            upper(MEANS, HORIZON, 1.0, 3.0)
    for arms, horizon in ((1, 100), (5, 3)):
        with pytest.raises(UserError, match="Theorem 2"):
            minimax_lower_bound(arms, horizon, 1.0)
