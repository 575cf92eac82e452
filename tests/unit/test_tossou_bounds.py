"""Upper bounds of tossou2016: by hand, by their proofs, and their domain."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import lambertw, zeta

from dpbandits.core.errors import UserError
from dpbandits.theory import function
from dpbandits.theory.tossou2016 import (
    LARGEST,
    _noise,
    dp_ucb_bound_printed_upper_bound,
    dp_ucb_bound_upper_bound,
    dp_ucb_int_upper_bound,
    dp_ucb_upper_bound,
)

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)

# The instances of Fig. 2.
TWO = (0.9, 0.6)
TEN = (*(0.1,) * 8, 0.2, 0.55)
HORIZON = 100_000
E10 = math.exp(-10)

Upper = Callable[[Sequence[float], int, float], float]


def interval_bound(means: Sequence[float], horizon: int, epsilon: float) -> float:
    return dp_ucb_int_upper_bound(means, horizon, epsilon, E10, 1.1)


ALL: tuple[Upper, ...] = (
    dp_ucb_bound_upper_bound,
    dp_ucb_bound_printed_upper_bound,
    dp_ucb_upper_bound,
    interval_bound,
)

several_means = st.lists(st.integers(1, 99).map(lambda k: k / 100), min_size=2, max_size=8)
budgets = st.floats(-3, 3).map(lambda e: 10.0**e)
horizons = st.integers(2, 10**9)


# B (ln B + 7) ------------------------------------------------------------------------------------


def test_b_times_ln_b_plus_7_covers_the_solution_by_lambert_w() -> None:
    b = np.logspace(1e-9, 172, 5000)
    exact = -b * lambertw(-1 / (math.e * b), -1).real
    assert np.all([_noise(x, "") for x in b] >= exact)
    # This holds up to w = e^6, where both are equal.
    assert -lambertw(-1 / (math.e * LARGEST), -1).real == pytest.approx(math.exp(6), rel=1e-12)
    beyond = LARGEST * 1e10
    assert beyond * (math.log(beyond) + 7) < -beyond * lambertw(-1 / (math.e * beyond), -1).real


@pytest.mark.parametrize("upper", [dp_ucb_bound_upper_bound, dp_ucb_upper_bound])
def test_a_budget_for_which_it_does_not_is_refused(upper: Upper) -> None:
    with pytest.raises(UserError, match=r"Theorem 3.[23] is for B or C up to 1.5e\+172, got"):
        upper(TWO, HORIZON, 1e-180)


@pytest.mark.parametrize("b", [1e-9, 0.01, 0.5, 0.999])
def test_below_one_every_count_satisfies_the_inequality(b: float) -> None:
    n = np.logspace(-12, 6, 2000)
    assert np.all(n > b * np.log(n) + b)


# Theorem 3.2 -------------------------------------------------------------------------------------


def b_of(gap: float, horizon: int, epsilon: float, lambda_0: np.ndarray) -> np.ndarray:
    """Return B with the factor 2 of (A.12) and the gap."""
    return 2 * math.sqrt(8) / (epsilon * (1 - lambda_0) * gap) * math.log(4 * float(horizon) ** 4)


GRID = np.linspace(0, 1, 1_000_002)[1:-1]


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("means", [TWO, TEN])
def test_theorem_3_2_by_its_proof_over_a_grid_of_lambda_0(
    means: tuple[float, ...], epsilon: float
) -> None:
    expected = 0.0
    for mean in means:
        if gap := max(means) - mean:
            b = b_of(gap, HORIZON, epsilon, GRID)
            optimal = 8 / (GRID * gap) ** 2 * math.log(HORIZON)
            pulls = np.maximum(b * (np.log(b) + 7), optimal).min()
            expected += gap * (1 + pulls + 4 * zeta(2))
    value = dp_ucb_bound_upper_bound(means, HORIZON, epsilon)
    assert value == pytest.approx(expected, rel=1e-4)
    assert value <= expected


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("means", [TWO, TEN])
def test_theorem_3_2_as_printed_over_a_grid_of_lambda_0(
    means: tuple[float, ...], epsilon: float
) -> None:
    b = math.sqrt(8) / (epsilon * (1 - GRID)) * math.log(4 * HORIZON**4)
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    optimal = [8 / (GRID**2 * gap) * math.log(HORIZON) for gap in gaps]
    leading = sum(np.maximum(b * (np.log(b) + 7), terms) for terms in optimal)
    expected = np.min(leading) + sum(gap + 2 * math.pi**2 * gap / 3 for gap in gaps)
    value = dp_ucb_bound_printed_upper_bound(means, HORIZON, epsilon)
    assert value == pytest.approx(expected, rel=1e-4)
    assert value <= expected


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_after_its_pulls_event_a_6_is_false_and_after_the_printed_ones_it_is_not(
    epsilon: float,
) -> None:
    gap = TWO[0] - TWO[1]

    def is_false(n: np.ndarray) -> np.ndarray:
        h = math.sqrt(8) / epsilon * math.log(4 * HORIZON**4) * (np.log(n) + 1) / n
        return gap > 2 * np.sqrt(2 * math.log(HORIZON) / n) + 2 * h

    def pulls(upper: Upper) -> float:
        return upper(TWO, HORIZON, epsilon) / gap - 1 - 2 * math.pi**2 / 3

    assert is_false(np.logspace(0, 6, 1000) * pulls(dp_ucb_bound_upper_bound)).all()
    assert not is_false(np.array([pulls(dp_ucb_bound_printed_upper_bound)])).any()


def test_without_noise_theorem_3_2_is_the_bound_of_ucb() -> None:
    expected = 8 * math.log(HORIZON) / 0.3 + 0.3 * (1 + 2 * math.pi**2 / 3)
    for upper in (dp_ucb_bound_upper_bound, dp_ucb_bound_printed_upper_bound):
        assert upper(TWO, HORIZON, 1e6) == pytest.approx(expected, rel=1e-3)
        assert upper(TWO, HORIZON, 1e6) > expected
        assert upper(TWO, HORIZON, math.inf) == pytest.approx(expected, rel=1e-10)


# Theorems 3.3 and 3.5 ----------------------------------------------------------------------------


def test_theorem_3_3_by_hand() -> None:
    # C = 56 * 3.8708287 * sqrt(11.5129255)/1 = 735.503638, ln C = 6.6005555.
    pulls = (735.503638 * 13.6005555) ** 2
    value = dp_ucb_upper_bound(TWO, HORIZON, 1.0)
    assert value == pytest.approx(0.3 * (pulls + 1 + 4 * 2.6123753), rel=1e-7)
    # In the first round neither term remains: 4 zeta(1.5) = 10.449501.
    assert dp_ucb_upper_bound(TWO, 1, 1.0) == pytest.approx(0.3 * 11.449501, rel=1e-7)
    # A gap so small that the other term is larger: 8/10^-10 * log t.
    near = dp_ucb_upper_bound((0.5, 0.50001), HORIZON, 1.0)
    assert near == pytest.approx(1e-5 * (8e10 * math.log(HORIZON)), rel=1e-6)


def test_the_noise_of_theorem_3_3_is_more_than_all_rounds_up_to_170_million() -> None:
    assert dp_ucb_upper_bound(TWO, 170_000_000, 1.0) > 0.3 * 170_000_000
    assert dp_ucb_upper_bound(TWO, 171_000_000, 1.0) < 0.3 * 171_000_000


# First release counts of `series` at v = 1.1.
@pytest.mark.parametrize(
    ("epsilon", "delta", "first"),
    [(1.0, 0.01, 29), (1.0, E10, 46), (0.1, 0.01, 928), (0.1, E10, 1751)],
)
def test_theorem_3_5_by_hand(epsilon: float, delta: float, first: int) -> None:
    # 8/.3^2 log t with t = 10^6; 4 zeta(1.5) = 10.449501.
    expected = 0.3 * (first + 8 / 0.09 * 13.8155106 + 1 + 10.449501)
    value = dp_ucb_int_upper_bound(TWO, 1_000_000, epsilon, delta, 1.1)
    assert value == pytest.approx(expected, rel=1e-7)


# All of them -------------------------------------------------------------------------------------


@pytest.mark.parametrize("upper", ALL)
def test_without_suboptimal_arms_there_is_no_regret(upper: Upper) -> None:
    assert upper((0.4, 0.4, 0.4), HORIZON, 0.1) == 0.0


@pytest.mark.parametrize("upper", ALL)
def test_the_first_round_has_a_bound(upper: Upper) -> None:
    assert 0.3 < upper(TWO, 1, 1.0) < math.inf


@FIXED
@given(several_means, horizons, budgets, budgets)
def test_more_budget_never_raises_a_bound(means: list[float], t: int, a: float, b: float) -> None:
    for upper in ALL:
        more, less = upper(means, t, max(a, b)), upper(means, t, min(a, b))
        assert more <= less * (1 + 1e-9)


@FIXED
@given(several_means, horizons, horizons, budgets)
def test_bounds_grow_with_time(means: list[float], s: int, t: int, epsilon: float) -> None:
    for upper in ALL:
        early, late = upper(means, min(s, t), epsilon), upper(means, max(s, t), epsilon)
        assert early <= late * (1 + 1e-9)


@FIXED
@given(several_means, horizons, budgets)
def test_the_order_of_the_arms_does_not_count(means: list[float], t: int, epsilon: float) -> None:
    for upper in ALL:
        backwards = upper(means[::-1], t, epsilon)
        assert backwards == pytest.approx(upper(means, t, epsilon), rel=1e-9)


def test_a_figure_finds_the_bounds_by_their_names() -> None:
    assert function("tossou2016.dp_ucb_int_upper_bound") is dp_ucb_int_upper_bound
    assert function("tossou2016.dp_ucb_bound_upper_bound") is dp_ucb_bound_upper_bound
