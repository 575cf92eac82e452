"""Counters: their released sums, their noise, their budget."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np
import pytest

from dpbandits.mechanisms.binary import binary_counters, binary_releases, levels
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.hybrid import hybrid_counters, hybrid_releases
from dpbandits.mechanisms.single import single_counters, single_releases
from dpbandits.privacy.releases import composed_epsilon

GRID = 64


class Dealer:
    """Generator that returns given draws and records the scales that are requested."""

    def __init__(self, draws: Sequence[float]) -> None:
        self.draws = iter(draws)
        self.scales: list[float] = []

    def laplace(self, location: float, scale: float) -> float:
        assert location == 0.0
        self.scales.append(scale)
        return float(next(self.draws))


def released(items: Sequence[float], draws: Sequence[float], horizon: int, epsilon: float) -> Any:
    """Return the released sums of one counter, in plain Python, with these draws."""
    counters, dealer = binary_counters(1, horizon, epsilon), Dealer(draws)
    return np.array([insert(counters, dealer, 0, item) for item in items])


def released_by_hybrid(items: Sequence[float], draws: Sequence[float], budgets: Any) -> Any:
    """Return the released sums of a hybrid counter with budgets for its two parts."""
    counters, dealer = hybrid_counters(1, len(items), *budgets), Dealer(draws)
    return np.array([insert(counters, dealer, 0, item) for item in items])


@numba.njit
def compiled(items: Any, horizon: int, epsilon: float, rng: Any) -> Any:
    """Return the sums of counters fed in turn, in a kernel; shape (counters, items of each)."""
    counters = binary_counters(items.shape[0], horizon, epsilon)
    sums = np.empty_like(items)
    for c in range(items.shape[1]):
        for which in range(items.shape[0]):
            sums[which, c] = insert(counters, rng, which, items[which, c])
    return sums


@numba.njit
def compiled_hybrid(items: Any, log_epsilon: float, tree_epsilon: float, rng: Any) -> Any:
    """Return the same for hybrid counters."""
    counters = hybrid_counters(items.shape[0], items.shape[1], log_epsilon, tree_epsilon)
    sums = np.empty_like(items)
    for c in range(items.shape[1]):
        for which in range(items.shape[0]):
            sums[which, c] = insert(counters, rng, which, items[which, c])
    return sums


def chan_shi_song(items: Sequence[float], draws: Iterator[float]) -> Iterator[float]:
    """Yield the binary mechanism, literally: p-sums alpha, noisy p-sums, their sum over set bits.

    The paper leaves open in which order the set bits are added; here from the highest down.
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


def hybrid_of_chan_shi_song(items: Sequence[float], draws: Iterator[float]) -> Iterator[float]:
    """Yield the hybrid mechanism, literally: logarithmic at powers of two, a tree between."""
    log_part, power, since = 0.0, 1, list[float]()
    last = 0.0
    tree: Iterator[float] = iter(())
    for t, item in enumerate(items, start=1):
        log_part += item
        if t & (t - 1) == 0:
            log_part += next(draws)
            last, power, since = log_part, t, []
            # A new tree over the items that follow.
            tree = chan_shi_song(items[t : 2 * t - 1], draws)
            yield last
        else:
            since.append(item)
            assert len(since) == t - power
            yield last + next(tree)


def nodes(c: int) -> set[tuple[int, int]]:
    """Return the nodes (first, last) that make up the items 1..c, from the binary digits of c."""
    found, end = set(), 0
    for bit in reversed(range(c.bit_length())):
        if c & (1 << bit):
            found.add((end + 1, end + (1 << bit)))
            end += 1 << bit
    return found


def hybrid_weights(c: int) -> dict[tuple[str, int, int], float]:
    """Return the draws in the release of the hybrid mechanism at c: scales by (part, ...)."""
    k = c.bit_length() - 1
    scales: dict[tuple[str, int, int], float] = {("log", j, 0): 1.0 for j in range(k + 1)}
    for first, last in nodes(c - 2**k):
        scales["tree", 2**k + first, 2**k + last] = float(k)
    return scales


# Released sums -----------------------------------------------------------------------------------


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
    # One draw per item, in the order of the items.
    rng, scale = np.random.default_rng(3), levels(horizon) / epsilon
    draws = np.array([rng.laplace(0.0, scale) for _ in range(items.size)])
    for which in range(counters):
        own = draws.reshape(horizon, counters)[:, which].tolist()
        assert sums[which].tolist() == list(chan_shi_song(items[which].tolist(), iter(own)))


def test_a_hybrid_counter_is_bit_for_bit_the_one_of_chan_shi_and_song() -> None:
    rng = np.random.default_rng(6)
    items, draws = rng.random(3000).tolist(), rng.laplace(0.0, 9.0, 3000).tolist()
    literal = list(hybrid_of_chan_shi_song(items, iter(draws)))
    assert released_by_hybrid(items, draws, (1.0, 1.0)).tolist() == literal


def test_hybrid_counters_beside_each_other_are_compiled_to_the_same_bits() -> None:
    items = np.random.default_rng(7).random((3, 700))
    sums = compiled_hybrid(items, 0.5, 2.0, np.random.default_rng(8))
    counters, rng = hybrid_counters(3, 700, 0.5, 2.0), np.random.default_rng(8)
    plain = [
        [insert(counters, rng, which, items[which, c]) for which in range(3)] for c in range(700)
    ]
    assert sums.T.tolist() == plain


def test_without_noise_hybrid_and_single_counters_release_the_sums() -> None:
    items = (np.random.default_rng(9).integers(0, 2, 1025) * 1.0).tolist()
    assert np.array_equal(released_by_hybrid(items, [0.0] * 1025, (1.0, 1.0)), np.cumsum(items))
    counters, dealer = single_counters(1, 1.0), Dealer([0.0] * 1025)
    assert [insert(counters, dealer, 0, item) for item in items] == np.cumsum(items).tolist()


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


def test_the_covariance_of_two_sums_of_a_hybrid_counter_is_that_of_the_draws_they_share() -> None:
    zeros, budgets = [0.0] * GRID, (0.5, 2.0)
    counters, dealer = hybrid_counters(1, GRID, *budgets), Dealer(zeros)
    for _ in range(GRID):
        insert(counters, dealer, 0, 0.0)
    # The released sums are linear in the draws, each with its own scale.
    weights = np.array(
        [released_by_hybrid(zeros, np.eye(GRID)[j].tolist(), budgets) for j in range(GRID)]
    ).T
    covariance = weights @ np.diag(2.0 * np.array(dealer.scales) ** 2) @ weights.T
    for c, d in itertools.product(range(1, GRID + 1), repeat=2):
        first, second = hybrid_weights(c), hybrid_weights(d)
        expected = sum(
            2.0 * (scale / (budgets[0] if draw[0] == "log" else budgets[1])) ** 2
            for draw, scale in first.items()
            if draw in second
        )
        assert covariance[c - 1, d - 1] == pytest.approx(expected, rel=1e-12)
    for c in range(1, GRID + 1):
        k, r = c.bit_length() - 1, c - 2 ** (c.bit_length() - 1)
        variance = 2 * (k + 1) / budgets[0] ** 2 + 2 * r.bit_count() * (k / budgets[1]) ** 2
        assert covariance[c - 1, c - 1] == pytest.approx(variance, rel=1e-12)


def test_drawn_noise_of_hybrid_counters_has_these_variances_and_covariances() -> None:
    budgets, counters = (0.5, 2.0), 40_000
    sums = compiled_hybrid(np.zeros((counters, GRID)), *budgets, np.random.default_rng(10))
    worst = 0.0
    for c, d in itertools.combinations_with_replacement(range(1, GRID + 1), 2):
        products = sums[:, c - 1] * sums[:, d - 1]
        shared = hybrid_weights(c).items() & hybrid_weights(d).items()
        expected = sum(
            2.0 * (scale / (budgets[0] if draw[0] == "log" else budgets[1])) ** 2
            for draw, scale in shared
        )
        standard_error = np.std(products) / math.sqrt(counters)
        worst = max(worst, abs(np.mean(products) - expected) / standard_error)
    assert worst < 5.3  # as above


def test_a_single_draw_has_the_scale_of_section_2_3() -> None:
    counters, dealer = single_counters(1, 0.5), Dealer([0.0] * GRID)
    for _ in range(GRID):
        insert(counters, dealer, 0, 1.0)
    for c, scale in enumerate(dealer.scales, start=1):
        expected = 1.0 if c.bit_count() == 1 else math.log(c)
        assert scale == pytest.approx(expected / 0.5, rel=1e-15)


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
    # The node that item c completes is the smallest of the nodes that make up 1..c.
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


@pytest.mark.parametrize("horizon", [3, 4, 1000, 10**7, 2**53])
def test_the_parts_of_a_hybrid_counter_compose_to_the_sum_of_their_budgets(horizon: int) -> None:
    declared = list(hybrid_releases(0, horizon, 0.3, 0.5))
    assert composed_epsilon(declared) == pytest.approx(0.8, rel=1e-12)
    assert max(release.last for release in declared) == horizon


@pytest.mark.parametrize("horizon", [1, 2])
def test_before_the_first_tree_a_hybrid_counter_spends_the_budget_of_one_part(horizon: int) -> None:
    assert composed_epsilon(hybrid_releases(0, horizon, 0.3, 0.5)) == pytest.approx(0.3, rel=1e-12)


def test_the_items_of_a_hybrid_counter_are_in_the_draws_that_it_declares() -> None:
    for item in range(1, GRID + 1):
        declared = [r for r in hybrid_releases(0, GRID, 1.0, 1.0) if r.first <= item <= r.last]
        k = item.bit_length() - 1
        completed = [max(nodes(c - 2**k)) for c in range(2**k + 1, min(2 ** (k + 1), GRID + 1))]
        own = [1 for first, last in completed if first <= item - 2**k <= last]
        assert len(own) <= len(declared) - 1 <= max(k, 0)


@pytest.mark.parametrize("horizon", [1, 2, 3, 100, 8191, 8192, 100_000])
def test_a_single_draw_for_every_sum_spends_the_budget_again_and_again(horizon: int) -> None:
    budgets = [0.5 if c.bit_count() == 1 else 0.5 / math.log(c) for c in range(1, horizon + 1)]
    composed = composed_epsilon(single_releases(0, horizon, 0.5))
    assert composed == pytest.approx(math.fsum(budgets), rel=1e-12)
