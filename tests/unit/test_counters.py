"""Counters: their released sums, their noise, their budget."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
import pytest

from dpbandits.algorithms import private_ucb
from dpbandits.mechanisms.counters import (
    binary_counters,
    hybrid_counters,
    hybrid_releases,
    insert,
    levels,
    single_counters,
    single_releases,
)
from dpbandits.privacy.releases import composed_epsilon

GRID = 64
EPSILON, BUDGETS = 0.7, (0.5, 2.0)  # of a binary counter; of the two parts of a hybrid one


class Dealer:
    """Generator that returns given draws and records the scales that are requested."""

    def __init__(self, draws: Sequence[float]) -> None:
        self.draws = iter(draws)
        self.scales: list[float] = []

    def laplace(self, location: float, scale: float) -> float:
        assert location == 0.0
        self.scales.append(scale)
        return float(next(self.draws))


def released(counters: Any, items: Sequence[float], draws: Sequence[float]) -> Any:
    """Return the released sums of one counter, in plain Python, with these draws."""
    dealer = Dealer(draws)
    return np.array([insert(counters, dealer, 0, item) for item in items])


@numba.njit
def compiled(counters: Any, items: Any, rng: Any) -> Any:
    """Return the sums of counters fed in turn, in a kernel; shape (counters, items of each)."""
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
    log_part, last = 0.0, 0.0
    tree: Iterator[float] = iter(())
    for t, item in enumerate(items, start=1):
        log_part += item
        if t & (t - 1) == 0:
            log_part += next(draws)
            last = log_part
            # A new tree over the items that follow.
            tree = chan_shi_song(items[t : 2 * t - 1], draws)
            yield last
        else:
            yield last + next(tree)


def nodes(c: int) -> set[tuple[int, int]]:
    """Return the nodes (first, last) that make up the items 1..c, from the binary digits of c."""
    found, end = set(), 0
    for bit in reversed(range(c.bit_length())):
        if c & (1 << bit):
            found.add((end + 1, end + (1 << bit)))
            end += 1 << bit
    return found


def binary_draws(c: int) -> dict[tuple[str, int, int], float]:
    """Return the draws in the release of a binary counter of GRID items at c, with their scales."""
    return {("tree", *node): levels(GRID) / EPSILON for node in nodes(c)}


def hybrid_draws(c: int) -> dict[tuple[str, int, int], float]:
    """Return the same for a hybrid counter."""
    k = c.bit_length() - 1
    scales = {("log", j, 0): 1.0 / BUDGETS[0] for j in range(k + 1)}
    tree = {("tree", 2**k + first, 2**k + last): k / BUDGETS[1] for first, last in nodes(c - 2**k)}
    return scales | tree


MADE: dict[str, Callable[[int], Any]] = {
    "binary": lambda counters: binary_counters(counters, GRID, float(levels(GRID)), EPSILON),
    "hybrid": lambda counters: hybrid_counters(counters, GRID, *BUDGETS),
}
DRAWS = {"binary": binary_draws, "hybrid": hybrid_draws}


# Released sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["coins", "fractions"])
def test_counters_are_bit_for_bit_those_of_chan_shi_and_song(kind: str) -> None:
    horizon, epsilon = 5000, 0.3
    rng = np.random.default_rng(1)
    numbers = rng.random(horizon) if kind == "fractions" else rng.integers(0, 2, horizon) * 1.0
    items, draws = numbers.tolist(), rng.laplace(0.0, levels(horizon) / epsilon, horizon).tolist()
    sums = released(binary_counters(1, horizon, float(levels(horizon)), epsilon), items, draws)
    assert sums.tolist() == list(chan_shi_song(items, iter(draws)))
    sums = released(hybrid_counters(1, horizon, 1.0, 1.0), items, draws)
    assert sums.tolist() == list(hybrid_of_chan_shi_song(items, iter(draws)))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_counters_beside_each_other_are_compiled_to_the_same_bits(make: Any) -> None:
    items = np.random.default_rng(7).random((3, GRID))
    sums = compiled(make(3), items, np.random.default_rng(8))
    counters, rng = make(3), np.random.default_rng(8)
    plain = [
        [insert(counters, rng, which, items[which, c]) for which in range(3)] for c in range(GRID)
    ]
    assert sums.T.tolist() == plain


def test_without_noise_the_released_sums_are_the_sums() -> None:
    items = (np.random.default_rng(9).integers(0, 2, 4097) * 1.0).tolist()
    for counters in (
        binary_counters(1, 4097, float(levels(4097)), 1.0),
        hybrid_counters(1, 4097, 1.0, 1.0),
        single_counters(1, 1.0),
    ):
        assert released(counters, items, [0.0] * 4097).tolist() == np.cumsum(items).tolist()


# Noise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MADE)
def test_the_covariance_of_two_sums_is_that_of_the_draws_they_share(kind: str) -> None:
    zeros = [0.0] * GRID
    counters, dealer = MADE[kind](1), Dealer(zeros)
    for _ in range(GRID):
        insert(counters, dealer, 0, 0.0)
    # The released sums are linear in the draws, each with its own scale.
    weights = np.array([released(MADE[kind](1), zeros, row.tolist()) for row in np.eye(GRID)]).T
    covariance = weights @ np.diag(2.0 * np.array(dealer.scales) ** 2) @ weights.T
    for c, d in itertools.product(range(1, GRID + 1), repeat=2):
        shared = DRAWS[kind](c).items() & DRAWS[kind](d).items()
        expected = sum(2.0 * scale**2 for _, scale in shared)
        assert covariance[c - 1, d - 1] == pytest.approx(expected, rel=1e-12)


def test_a_single_draw_has_the_scale_of_section_2_3() -> None:
    counters, dealer = single_counters(1, 0.5), Dealer([0.0] * GRID)
    for _ in range(GRID):
        insert(counters, dealer, 0, 1.0)
    for c, scale in enumerate(dealer.scales, start=1):
        expected = 1.0 if c.bit_count() == 1 else math.log(c)
        assert scale == pytest.approx(expected / 0.5, rel=1e-15)


# Privacy -----------------------------------------------------------------------------------------


def test_the_items_of_a_hybrid_counter_are_in_the_draws_that_it_declares() -> None:
    for item in range(1, GRID + 1):
        declared = [r for r in hybrid_releases(0, GRID, 1.0, 1.0) if r.first <= item <= r.last]
        k = item.bit_length() - 1
        completed = [max(nodes(c - 2**k)) for c in range(2**k + 1, min(2 ** (k + 1), GRID + 1))]
        inside = [1 for first, last in completed if first <= item - 2**k <= last]
        assert len(inside) <= len(declared) - 1 <= max(k, 0)


@pytest.mark.parametrize("horizon", [1, 2, 3, 1000, 10**7, 2**53])
def test_the_levels_of_a_counter_compose_to_its_budget(horizon: int) -> None:
    for epsilon in (0.05, 1.0, 7.0):
        params = private_ucb.Params(epsilon, horizon, split=private_ucb.Split.NONE)
        declared = list(private_ucb.releases(params, 1, horizon))
        assert {(r.arm, r.first, r.last, r.sensitivity) for r in declared} == {(0, 1, horizon, 1.0)}
        assert composed_epsilon(declared) == pytest.approx(epsilon, rel=1e-12)
    hybrid = list(hybrid_releases(0, horizon, 0.3, 0.5))
    # Before the first tree, only one part is spent.
    assert composed_epsilon(hybrid) == pytest.approx(0.8 if horizon > 2 else 0.3, rel=1e-12)
    assert max(release.last for release in hybrid) == horizon


@pytest.mark.parametrize("horizon", [1, 2, 3, 100, 8191, 8192, 100_000])
def test_a_single_draw_for_every_sum_spends_the_budget_again_and_again(horizon: int) -> None:
    budgets = [0.5 if c.bit_count() == 1 else 0.5 / math.log(c) for c in range(1, horizon + 1)]
    composed = composed_epsilon(single_releases(0, horizon, 0.5))
    assert composed == pytest.approx(math.fsum(budgets), rel=1e-12)


@pytest.mark.parametrize("kind", MADE)
def test_drawn_noise_has_these_variances_and_covariances(kind: str) -> None:
    counters = 40_000
    sums = compiled(MADE[kind](counters), np.zeros((counters, GRID)), np.random.default_rng(5))
    worst = 0.0
    for c, d in itertools.combinations_with_replacement(range(1, GRID + 1), 2):
        products = sums[:, c - 1] * sums[:, d - 1]
        shared = DRAWS[kind](c).items() & DRAWS[kind](d).items()
        expected = sum(2.0 * scale**2 for _, scale in shared)
        standard_error = np.std(products) / math.sqrt(counters)
        worst = max(worst, abs(np.mean(products) - expected) / standard_error)
    # 2080 correlated comparisons: a correct counter exceeds 5.3 less than once in 4,000 times.
    assert worst < 5.3
