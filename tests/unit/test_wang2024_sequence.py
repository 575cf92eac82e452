"""Loss of whole sequences: laws of pulls against enumeration of all sequences, and their bounds."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import wang2024

from dpbandits.theory import wang2024_sequence as ours

ROUNDS, DELTA = 7, 0.001


def chance(literal: Any, r1: float, n1: int, r2: float, n2: int, grid: np.ndarray) -> float:
    """Return P[theta_1 > theta_2], the integral of P[theta_1 > x] d P[theta_2 <= x]."""
    above, below = literal.survival(r1, n1, grid), 1.0 - literal.survival(r2, n2, grid)
    return float(np.sum(0.5 * (above[1:] + above[:-1]) * np.diff(below)))


def sequences(
    literal: Any, first: int, changed: float, rate: float, grid: np.ndarray
) -> dict[Any, float]:
    """Return the probability of every sequence of ROUNDS arms after the start phase."""
    found, known = dict[Any, float](), dict[tuple[int, ...], float]()
    for arms in itertools.product((0, 1), repeat=ROUNDS):
        n, p = [first, first], 1.0
        for arm in arms:
            if (key := tuple(n)) not in known:
                known[key] = chance(literal, changed, n[0], rate * n[1], n[1], grid)
            p *= known[key] if arm == 0 else 1.0 - known[key]
            n[arm] += 1
        found[arms] = p
    return found


def delta(laws: list[np.ndarray], epsilon: float) -> float:
    """Return the smallest delta at this epsilon, in both directions."""
    ends = (np.maximum(0.0, a - math.exp(epsilon) * b).sum() for a, b in (laws, laws[::-1]))
    return float(max(ends))


@pytest.mark.parametrize("name", ["gauss", "beta", "new", "pure"])
def test_a_loss_is_that_of_the_pulls_and_below_that_of_all_sequences(name: str) -> None:
    rounds = 2 + ROUNDS
    cases: dict[str, tuple[Any, Any, tuple[float, float], float, float, float]] = {
        "gauss": (wang2024.Gauss(1.0, 0.1), ours.gauss_sequence_loss, (1.0, 0.1), 0.4, -9, 9),
        "beta": (wang2024.Beta(50.0, 0.9), ours.beta_sequence_loss, (50.0, 0.9), 0.01, 0, 1),
        "new": (wang2024.New(1.0, 0.05, rounds), ours.new_sequence_loss, (1.0, 0.05), 0.4, -15, 20),
        "pure": (wang2024.New(0.9, 0.0, rounds), ours.new_sequence_loss, (0.9, 0.0), 0.4, -25, 30),
    }
    literal, loss, budget, rate, low, high = cases[name]
    first = max(1, math.ceil(literal.start()))
    found = loss(2 * first + ROUNDS, *budget, rate, DELTA)
    every = np.linspace(low, high, 15_001)
    laws = [sequences(literal, first, changed, rate, every) for changed in (0.0, 1.0)]
    pulls = [
        np.array([sum(p for s, p in law.items() if s.count(0) == k) for k in range(ROUNDS + 1)])
        for law in laws
    ]
    assert [law.sum() for law in pulls] == pytest.approx([1.0, 1.0], abs=1e-4)
    assert found > 0.01
    assert delta(pulls, found - 0.004) > DELTA > delta(pulls, found + 0.004)
    assert delta([np.array([*law.values()]) for law in laws], found - 0.004) > DELTA


def test_the_chance_of_two_laplace_variables_is_that_of_their_densities() -> None:
    x = np.linspace(-80.0, 80.0, 400_001)
    for s, r, d in itertools.product((0.3, 1.0), (0.3, 1.0, 1.0 + 1e-7), (-1.0, 0.0, 0.5, 3.0)):
        tail = 0.5 * np.exp(-np.abs(d + x) / s)
        above = np.where(d + x >= 0.0, tail, 1.0 - tail)
        value = np.sum(0.5 / r * np.exp(-np.abs(x) / r) * above) * (x[1] - x[0])
        found = ours._laplace_chance(np.array([d]), np.array([s]), np.array([r]))
        assert found[0] == pytest.approx(value, abs=1e-6)


def test_a_start_phase_that_fills_the_rounds_loses_nothing() -> None:
    assert ours.beta_sequence_loss(1000, 1.0, 0.01, 0.5, 0.01) == 0.0


def test_dp_ucb_int_composes_to_at_most_its_budget() -> None:
    assert 0.4 < ours.int_sequence_bound(10_000, 1.0, 0.01, 0.01) <= 1.0
