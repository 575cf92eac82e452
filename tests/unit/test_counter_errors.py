"""Exact law of the errors of the counters of tossou2016, and the bound (2.2) on it."""

import math

import counters
import numpy as np
import pytest

from dpbandits.algorithms.dp_ucb_bound import Counter
from dpbandits.theory.tossou2016_counters import (
    _noises,
    error_bound,
    error_bound_base_2,
    error_exact,
)

VARIANTS = {
    "hybrid-full": Counter.HYBRID_FULL,
    "hybrid-split": Counter.HYBRID_SPLIT,
    "single": Counter.SINGLE,
}


def test_the_bound_is_that_of_the_text() -> None:
    gamma = 100.0**-4
    first = math.sqrt(8) / 0.5 * math.log(4 / gamma) * math.log(100)
    second = math.sqrt(8) / 0.5 * math.log(4 / gamma)
    assert error_bound(100, 0.5, 4.0) == pytest.approx(first + second, rel=1e-12)
    to_base_2 = first / math.log(2) + second
    assert error_bound_base_2(100, 0.5, 4.0) == pytest.approx(to_base_2, rel=1e-12)


@pytest.mark.parametrize("items", [1, 2, 6, 8, 13, 31])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_variance_of_the_noises_is_that_of_the_literal_counter(
    variant: str, items: int
) -> None:
    # Every noise of the literal counter is its scale: with random signs the variance is their sum.
    rng, squares = np.random.Generator(np.random.PCG64(items)), 0.0
    for _ in range(2000):
        counter = counters.counter(variant, 1.0, lambda scale: scale * rng.choice([-1.0, 1.0]))
        for _ in range(items):
            counter.insert(0.0)
        squares += counter.released() ** 2 / 2000
    ours = sum(count * scale**2 for count, scale in _noises(items, VARIANTS[variant]))
    assert squares == pytest.approx(ours, rel=0.15)


@pytest.mark.parametrize("items", [3, 8, 13, 31])
@pytest.mark.parametrize("variant", VARIANTS)
def test_errors_of_literal_counters_exceed_it_with_probability_gamma(
    variant: str, items: int
) -> None:
    rng = np.random.Generator(np.random.PCG64(items))
    gamma, runs, beyond = items**-0.5, 3000, 0
    size = error_exact(items, 0.7, 0.5, VARIANTS[variant])
    for _ in range(runs):
        counter = counters.counter(variant, 0.7, counters.laplace_of(rng))
        for _ in range(items):
            counter.insert(1.0)
        beyond += abs(counter.released() - items) > size
    assert abs(beyond - gamma * runs) < 4 * math.sqrt(runs * gamma * (1 - gamma))


def test_the_bound_holds_at_the_gamma_of_theorem_3_2_and_not_at_every_gamma() -> None:
    def kept(items: int, exponent: float, counter: Counter) -> bool:
        return error_exact(items, 1.0, exponent, counter) <= error_bound(items, 1.0, exponent)

    for items in (2, 3, 100, 127, 2**17 - 1):
        assert kept(items, 4.0, Counter.HYBRID_FULL)
        assert kept(items, 0.5, Counter.SINGLE)
    assert not kept(2**17 - 1, 0.5, Counter.HYBRID_FULL)
    assert not kept(2**10 - 1, 4.0, Counter.HYBRID_SPLIT)


def test_an_error_that_is_almost_always_exceeded_is_small() -> None:
    # Two items of a counter with a fresh draw have Lap(1): P[|X| > x] = e^-x = 2^-0.01.
    size = error_exact(2, 1.0, 0.01, Counter.SINGLE)
    assert size == pytest.approx(0.01 * math.log(2.0), rel=1e-9)
    assert error_exact(1, 1.0, 2.0, Counter.HYBRID_FULL) == 0.0  # its gamma is 1
