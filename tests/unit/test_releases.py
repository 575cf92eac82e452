import math
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.algorithms import dp_se
from dpbandits.privacy.releases import Laplace, composed_epsilon

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
    # Rewards 3 and 4 are in two releases each, 6 in the large one alone.
    overlapping = [release(1, 3, 0.5), release(3, 4, 0.25), release(4, 5, 0.5), release(6, 6, 0.7)]
    assert composed_epsilon(overlapping) == 0.75


def test_releases_of_different_arms_never_add_up() -> None:
    arms = [release(1, 10, 0.5, arm) for arm in range(5)]
    assert composed_epsilon(arms) == 0.5
    assert composed_epsilon([*arms, release(10, 20, 0.25, arm=3)]) == 0.75


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
    ],
)
def test_a_release_that_makes_no_sense_is_refused(wrong: Laplace) -> None:
    with pytest.raises(ValueError, match="not a release"):
        composed_epsilon([release(1, 9, 0.5), wrong])


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


def test_dp_se_releases_nothing_before_its_first_epoch_ends() -> None:
    params = dp_se.Params(epsilon=1.0, horizon=1000)
    passes = math.ceil(dp_se.passes_of_epoch(params, 1, 2))
    assert list(dp_se.releases(params, 2, 2 * passes - 1)) == []
    assert [r.last for r in dp_se.releases(params, 2, 2 * passes)] == [passes, passes]
