"""The counters: what they release, its noise, its budget."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np
import pytest

from dpbandits.mechanisms.binary import binary_counters, binary_releases, levels
from dpbandits.mechanisms.counter import insert
from dpbandits.privacy.releases import composed_epsilon

GRID = 64


class Dealer:
    """A generator that deals out given draws and writes down the scales that are asked for."""

    def __init__(self, draws: Sequence[float]) -> None:
        self.draws = iter(draws)
        self.scales: list[float] = []

    def laplace(self, location: float, scale: float) -> float:
        assert location == 0.0
        self.scales.append(scale)
        return float(next(self.draws))


def released(items: Sequence[float], draws: Sequence[float], horizon: int, epsilon: float) -> Any:
    """The released sums of one counter, in plain Python, with these draws."""
    counters, dealer = binary_counters(1, horizon, epsilon), Dealer(draws)
    return np.array([insert(counters, dealer, 0, item) for item in items])


@numba.njit
def compiled(items: Any, horizon: int, epsilon: float, rng: Any) -> Any:
    """The same in a kernel, several counters fed in turn; shape (counters, items of each)."""
    counters = binary_counters(items.shape[0], horizon, epsilon)
    sums = np.empty_like(items)
    for c in range(items.shape[1]):
        for which in range(items.shape[0]):
            sums[which, c] = insert(counters, rng, which, items[which, c])
    return sums


def chan_shi_song(items: Sequence[float], draws: Iterator[float]) -> Iterator[float]:
    """The binary mechanism to the letter: p-sums alpha, noisy p-sums, their sum over set bits.

    The order in which the set bits are added is not said; here from the highest down.
    """
    exact: dict[int, float] = {}
    noisy: dict[int, float] = {}
    for t, item in enumerate(items, start=1):
        bits = [j for j in range(t.bit_length()) if t & (1 << j)]
        i = bits[0]
        exact[i] = sum((exact[j] for j in range(i)), start=0.0) + item
        for j in range(i):
            exact[j] = noisy[j] = 0.0
        noisy[i] = exact[i] + next(draws)
        total = 0.0
        for j in reversed(bits):
            total += noisy[j]
        yield total


def nodes(c: int) -> set[tuple[int, int]]:
    """The nodes (first, last) whose sum is that of the items 1..c, from the binary digits of c."""
    found, end = set(), 0
    for bit in reversed(range(c.bit_length())):
        if c & (1 << bit):
            found.add((end + 1, end + (1 << bit)))
            end += 1 << bit
    return found


# What is released --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["coins", "fractions"])
def test_a_binary_counter_is_bit_for_bit_the_one_of_chan_shi_and_song(kind: str) -> None:
    horizon, epsilon = 5000, 0.3
    rng = np.random.default_rng(1)
    items = rng.random(horizon) if kind == "fractions" else rng.integers(0, 2, horizon) * 1.0
    draws = rng.laplace(0.0, levels(horizon) / epsilon, horizon)
    literal = list(chan_shi_song(items.tolist(), iter(draws.tolist())))
    assert released(items.tolist(), draws.tolist(), horizon, epsilon).tolist() == literal


def test_counters_beside_each_other_are_those_of_chan_shi_and_song_in_kernels_too() -> None:
    horizon, epsilon, counters = 1500, 2.0, 3
    items = np.random.default_rng(2).random((counters, horizon))
    sums = compiled(items, horizon, epsilon, np.random.default_rng(3))
    # One draw an item, in the order in which the items came.
    rng, scale = np.random.default_rng(3), levels(horizon) / epsilon
    draws = np.array([rng.laplace(0.0, scale) for _ in range(items.size)])
    for which in range(counters):
        own = draws.reshape(horizon, counters)[:, which].tolist()
        assert sums[which].tolist() == list(chan_shi_song(items[which].tolist(), iter(own)))


def test_without_noise_the_released_sums_are_the_sums() -> None:
    items = np.random.default_rng(4).integers(0, 2, 4097) * 1.0
    assert np.array_equal(released(items.tolist(), [0.0] * 4097, 4097, 1.0), np.cumsum(items))


def test_an_item_reaches_no_sum_before_its_own() -> None:
    items, draws = np.zeros(GRID), [0.0] * GRID
    for c in range(GRID):
        one = items.copy()
        one[c] = 1.0
        assert released(one.tolist(), draws, GRID, 1.0).tolist() == [0.0] * c + [1.0] * (GRID - c)


@pytest.mark.parametrize(
    ("horizon", "height"),
    [(1, 1), (2, 2), (3, 2), (4, 3), (10**7, 24), (2**40 - 1, 40), (2**40, 41)],
)
def test_there_are_as_many_levels_as_binary_digits(horizon: int, height: int) -> None:
    assert levels(horizon) == height == math.floor(math.log2(horizon)) + 1


# Noise -------------------------------------------------------------------------------------------


def test_the_covariance_of_two_sums_is_that_of_the_nodes_they_share() -> None:
    # The released sums are linear in the draws: every draw alone gives a column of weights.
    zeros = [0.0] * GRID
    weights = np.array(
        [released(zeros, np.eye(GRID)[j].tolist(), GRID, 1.0) for j in range(GRID)]
    ).T
    shared = weights @ weights.T
    for c, d in itertools.product(range(1, GRID + 1), repeat=2):
        assert shared[c - 1, d - 1] == len(nodes(c) & nodes(d))
    assert [shared[c, c] for c in range(GRID)] == [(c + 1).bit_count() for c in range(GRID)]


def test_drawn_noise_has_the_variances_and_covariances_of_the_specification() -> None:
    epsilon, counters = 0.7, 40_000
    sums = compiled(np.zeros((counters, GRID)), GRID, epsilon, np.random.default_rng(5))
    node_variance = 2.0 * (levels(GRID) / epsilon) ** 2
    worst = 0.0
    for c, d in itertools.combinations_with_replacement(range(1, GRID + 1), 2):
        products = sums[:, c - 1] * sums[:, d - 1]
        expected = len(nodes(c) & nodes(d)) * node_variance
        standard_error = np.std(products) / math.sqrt(counters)
        worst = max(worst, abs(np.mean(products) - expected) / standard_error)
    # 2080 correlated comparisons: a correct counter exceeds 5.3 less than once in 4,000 times.
    assert worst < 5.3


@pytest.mark.parametrize(("horizon", "epsilon"), [(1, 1.0), (64, 0.1), (1000, 3.0)])
def test_every_item_draws_once_at_the_scale_that_is_declared(horizon: int, epsilon: float) -> None:
    counters, dealer = binary_counters(2, horizon, epsilon), Dealer([0.0] * 2 * horizon)
    for _ in range(horizon):
        for which in (0, 1):
            insert(counters, dealer, which, 1.0)
    assert len(dealer.scales) == 2 * horizon
    declared = {release.scale for release in binary_releases(0, horizon, epsilon)}
    assert {round(scale, 9) for scale in dealer.scales} == {round(scale, 9) for scale in declared}


# Privacy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", [1, 2, 63, 64, 65])
def test_an_item_is_in_one_node_of_a_level_and_in_no_more_nodes_than_are_declared(
    horizon: int,
) -> None:
    # The node that item c completes is the smallest of those that make up 1..c.
    completed = [max(nodes(c)) for c in range(1, horizon + 1)]
    for item in range(1, horizon + 1):
        own = [last - first for first, last in completed if first <= item <= last]
        assert len(own) == len(set(own)) <= levels(horizon)
    assert len([1 for first, _ in completed if first == 1]) == levels(horizon)


@pytest.mark.parametrize("horizon", [1, 2, 1000, 10**7, 2**53])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 7.0])
def test_the_levels_of_a_counter_compose_to_its_budget(horizon: int, epsilon: float) -> None:
    declared = list(binary_releases(3, horizon, epsilon))
    assert {(r.arm, r.first, r.last, r.sensitivity) for r in declared} == {(3, 1, horizon, 1.0)}
    assert composed_epsilon(declared) == pytest.approx(epsilon, rel=1e-12)
