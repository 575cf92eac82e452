"""Counters: their released sums, their noise, their budget."""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import counters as oracle
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


def binary_draws(c: int) -> dict[tuple[str, int, int], float]:
    """Return the draws in the release of a binary counter of GRID items at c, with their scales."""
    return {("tree", *node): levels(GRID) / EPSILON for node in oracle.nodes(c)}


def hybrid_draws(c: int) -> dict[tuple[str, int, int], float]:
    """Return the same for a hybrid counter."""
    k = c.bit_length() - 1
    scales = {("log", j, 0): 1.0 / BUDGETS[0] for j in range(k + 1)}
    nodes = oracle.nodes(c - 2**k)
    return scales | {("tree", 2**k + a, 2**k + b): k / BUDGETS[1] for a, b in nodes}


MADE: dict[str, Callable[[int], Any]] = {
    "binary": lambda counters: binary_counters(counters, GRID, float(levels(GRID)), EPSILON),
    "hybrid": lambda counters: hybrid_counters(counters, GRID, *BUDGETS),
}
DRAWS = {"binary": binary_draws, "hybrid": hybrid_draws}


# Released sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["coins", "fractions"])
def test_counters_are_those_of_chan_shi_and_song(kind: str) -> None:
    horizon, rng = 1500, np.random.default_rng(1)
    items = rng.random(horizon) if kind == "fractions" else rng.integers(0, 2, horizon) * 1.0
    draws = rng.laplace(0.0, 40.0, horizon).tolist()
    for ours, described in (
        (binary_counters(1, horizon, 11.0, 0.3), partial(oracle.BinaryMechanism, 11, 0.3)),
        (hybrid_counters(1, horizon, 1.0, 1.0), partial(oracle.HybridMechanism, 1.0, 1.0)),
    ):
        literal, sums = described(partial(Dealer(draws).laplace, 0.0)), list[float]()
        for item in items.tolist():
            literal.insert(item)
            sums.append(literal.released())
        found = released(ours, items.tolist(), draws)
        np.testing.assert_allclose(found, sums, rtol=0, atol=1e-9)


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
        completed = [
            max(oracle.nodes(c - 2**k)) for c in range(2**k + 1, min(2 ** (k + 1), GRID + 1))
        ]
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
