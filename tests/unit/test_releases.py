import itertools
import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.algorithms import dp_se, dp_ucb
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.privacy.releases import ApproximateDP, Laplace, SparseVector, composed_epsilon

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)


def release(first: int, last: int, epsilon: float, arm: int = 0) -> Laplace:
    return Laplace(arm, first, last, sensitivity=epsilon, scale=1.0)


# The composition -------------------------------------------------------------------------------


def test_the_budget_of_a_release_is_sensitivity_over_scale() -> None:
    assert Laplace(0, 1, 4, sensitivity=0.25, scale=0.5).epsilon == 0.5


def test_no_release_costs_nothing() -> None:
    assert composed_epsilon([]) == 0.0


def test_a_single_release_costs_its_own_budget() -> None:
    assert composed_epsilon([release(3, 9, 0.3)]) == 0.3


def test_disjoint_releases_cost_the_largest() -> None:
    assert composed_epsilon([release(1, 4, 0.5), release(7, 9, 2.0), release(12, 12, 1.0)]) == 2.0


def test_overlapping_releases_add_up() -> None:
    assert composed_epsilon([release(1, 5, 0.5), release(5, 9, 2.0)]) == 2.5


def test_nested_releases_add_up() -> None:
    nested = [release(1, 100, 0.5), release(20, 30, 1.0), release(25, 25, 0.25)]
    assert composed_epsilon(nested) == 1.75


def test_releases_of_the_same_rewards_add_up() -> None:
    assert composed_epsilon([release(2, 3, 0.5)] * 3) == 1.5


def test_adjacent_releases_do_not_add_up() -> None:
    assert composed_epsilon([release(1, 4, 0.5), release(5, 8, 0.5), release(9, 9, 0.5)]) == 0.5


def test_only_the_worst_reward_counts() -> None:
    # Rewards 3 and 4 are in two releases each, 6 only in the large one.
    overlapping = [release(1, 3, 0.5), release(3, 4, 0.25), release(4, 5, 0.5), release(6, 6, 0.7)]
    assert composed_epsilon(overlapping) == 0.75


def test_releases_of_different_arms_never_add_up() -> None:
    arms = [release(1, 10, 0.5, arm) for arm in range(5)]
    assert composed_epsilon(arms) == 0.5
    assert composed_epsilon([*arms, release(10, 20, 0.25, arm=3)]) == 0.75


# At a delta: Theorem III.3 of Dwork, Rothblum and Vadhan 2010, by hand.


def test_many_small_releases_cost_less_at_a_delta_than_their_sum() -> None:
    # 100 times 0.01: 100 0.01 (e^0.01 - 1) + sqrt(2 log(100) 100 0.01^2).
    small = [release(1, 5, 0.01)] * 100
    assert composed_epsilon(small) == pytest.approx(1.0, rel=1e-14)
    expected = math.expm1(0.01) + math.sqrt(2 * math.log(100) * 0.01)
    assert composed_epsilon(small, delta=0.01) == pytest.approx(expected, rel=1e-14)
    assert expected == pytest.approx(0.313536, abs=1e-6)


def test_where_the_sum_is_less_it_is_what_they_cost_at_a_delta() -> None:
    assert composed_epsilon([release(1, 5, 0.5), release(2, 9, 0.25)], delta=0.01) == 0.75
    assert composed_epsilon([release(1, 5, 0.3)], delta=1e-9) == 0.3


def test_unlike_releases_at_a_delta() -> None:
    unlike = [release(1, 5, 0.01)] * 50 + [release(3, 4, 0.02)] * 50 + [release(5, 9, 0.1)]
    drift = 0.5 * math.expm1(0.01) + math.expm1(0.02)
    squares = 50 * 0.01**2 + 50 * 0.02**2
    expected = drift + math.sqrt(2 * math.log(1000) * squares)
    assert composed_epsilon(unlike, delta=0.001) == pytest.approx(expected, rel=1e-14)


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


class Gaussian(NamedTuple):
    arm: int
    first: int
    last: int
    sensitivity: float
    scale: float


@pytest.mark.parametrize(
    "unknown", [Gaussian(0, 1, 1, 1.0, 1.0), (0, 1, 1, 1.0, 1.0), None, 0.5], ids=repr
)
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


def test_noises_of_any_positive_scale_are_sound() -> None:
    # The threshold is charged the sensitivity and the released query twice that.
    assert composed_epsilon([SparseVector(0, 1, 3, 0.5, 0.25, 0.125)]) == 0.5 / 0.25 + 1.0 / 0.125


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


@FIXED
@given(some_releases, st.randoms(use_true_random=False))
def test_the_order_of_the_releases_does_not_count(releases: list[Laplace], random: Any) -> None:
    shuffled = random.sample(releases, len(releases))
    assert composed_epsilon(shuffled) == composed_epsilon(releases)


@FIXED
@given(some_releases, st.integers(1, 3))
def test_a_further_release_never_costs_less(releases: list[Laplace], first: int) -> None:
    more = [*releases, release(first, first + 4, 0.5)]
    assert composed_epsilon(more) >= composed_epsilon(releases)


# The algorithms --------------------------------------------------------------------------------


def test_the_counters_of_dp_ucb_are_those_of_its_arms() -> None:
    for counter in Counter:
        declared = dp_ucb.releases(dp_ucb.Params(1.0, counter=counter), 3, 100)
        assert {release.arm for release in declared} == {0, 1, 2}


def test_dp_se_releases_nothing_before_its_first_epoch_ends() -> None:
    params = dp_se.Params(epsilon=1.0, horizon=1000)
    passes = math.ceil(dp_se.passes_of_epoch(params, 1, 2))
    assert list(dp_se.releases(params, 2, 2 * passes - 1)) == []
    assert [r.last for r in dp_se.releases(params, 2, 2 * passes)] == [passes, passes]


# Releases that need a delta of their own ---------------------------------------------------------


def approximate(epsilon: float, delta: float, times: float = 1) -> ApproximateDP:
    return ApproximateDP(0, 1, 5, epsilon, delta, times)


def test_the_deltas_of_releases_add_up() -> None:
    two = [approximate(0.5, 0.01), approximate(0.25, 0.02)]
    assert composed_epsilon(two, delta=0.04) == 0.75
    assert composed_epsilon([approximate(0.5, 0.25), approximate(0.25, 0.25)], delta=0.5) == 0.75
    assert composed_epsilon(two, delta=0.029) == math.inf
    assert composed_epsilon(two) == math.inf


def test_only_deltas_of_one_reward_add_up() -> None:
    apart = [approximate(0.5, 0.01), approximate(0.25, 0.01)._replace(first=6, last=9)]
    assert composed_epsilon(apart, delta=0.01) == 0.5


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
