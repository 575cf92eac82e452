"""The sampler of Beta laws: its law, the bounds that it decides with, and its branches."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpbandits.algorithms import _beta_draw
from dpbandits.algorithms._beta_draw import FEW, FLAT, sample_beta
from dpbandits.core.kernel import kernel
from dpbandits.core.kl import bernoulli_kl

# Modes in the middle, skew ones on both sides, at the limit that FLAT sets, and few pseudo-counts.
AT_FLAT = 0.5 - math.sqrt(0.25 - FLAT) + 1e-6
LAWS = [
    *((1.0 + n * mode, 1.0 + n * (1.0 - mode)) for n in (10.5, 60.0, 4e3, 1e5) for mode in (0.5,)),
    *((1.0 + n * mode, 1.0 + n * (1.0 - mode)) for n in (10.5, 60.0, 4e3) for mode in (0.3, 0.8)),
    *((1.0 + n * AT_FLAT, 1.0 + n * (1.0 - AT_FLAT)) for n in (10.5, 4e3)),
    *((1.0 + n * (1.0 - AT_FLAT), 1.0 + n * AT_FLAT) for n in (10.5, 4e3)),
    *((a, b) for a, b in ((1.0, 1.0), (1.0, 40.0), (3.5, 2.0), (400.0, 3.0), (9.0, 1.0))),
]
DRAWS = 200_000
FIXED = settings(max_examples=300, derandomize=True, database=None, deadline=None)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@kernel
def fill(rng: Any, a: float, b: float, out: np.ndarray) -> None:
    for i in range(out.size):
        out[i] = sample_beta(rng, a, b)


@pytest.mark.parametrize(("a", "b"), LAWS)
def test_draws_have_the_law_of_the_library(a: float, b: float) -> None:
    # With 200,000 draws, a distribution function that is wrong by 0.007 has a p-value below 1e-8.
    # The tails are tested apart, on the draws beyond the quantiles at 0.001 and 0.999.
    drawn = np.empty(DRAWS)
    fill(generator(5), a, b, drawn)
    uniform = stats.beta.cdf(drawn, a, b)
    limit = 1e-4 / (3 * len(LAWS))
    assert stats.kstest(uniform, "uniform").pvalue > limit
    for tail in (uniform, stats.beta.sf(drawn[uniform > 0.99], a, b)):
        beyond = tail[tail < 0.001]
        assert stats.binomtest(beyond.size, DRAWS, 0.001).pvalue > limit
        assert stats.kstest(beyond / 0.001, "uniform").pvalue > limit


@FIXED
@given(st.floats(1e-3, 1.0 - 1e-3), st.floats(1e-6, 1.0 - 1e-6), st.floats(1.0, 1e6))
def test_the_density_falls_from_the_mode_by_the_divergence(mode: float, x: float, n: float) -> None:
    a, b = 1.0 + n * mode, 1.0 + n * (1.0 - mode)
    fallen = stats.beta.logpdf(mode, a, b) - stats.beta.logpdf(x, a, b)
    expected = n * bernoulli_kl(mode, x)
    assert fallen == pytest.approx(expected, rel=1e-6, abs=1e-5)


@FIXED
@given(st.floats(1e-3, 1.0 - 1e-3), st.floats(1e-3, 1.0 - 1e-3))
def test_quick_decisions_are_those_of_the_divergence(mode: float, x: float) -> None:
    # In units of 2 n (x - m)²: KL is at most that over 4 y (1 - y) at the flatter end, and at least
    # that over 4 y (1 - y) at its maximum between both.
    divergence = bernoulli_kl(mode, x)
    square = 2.0 * (x - mode) ** 2
    between = np.linspace(mode, x, 1001)
    smallest, largest = (between * (1.0 - between)).min(), (between * (1.0 - between)).max()
    assert 4.0 * smallest * divergence <= square + 1e-15
    assert square <= 4.0 * largest * divergence + 1e-15
    assert smallest == pytest.approx(min(mode * (1.0 - mode), x * (1.0 - x)))


@pytest.mark.parametrize("n", range(6, 14))
def test_rounding_errors_choose_no_other_sampler(n: int) -> None:
    # Counts of rewards are whole numbers, and a + b - 2 is one up to rounding errors.
    a, b = 1.0 + 0.4 * n, 1.0 + 0.6 * n
    for error in (-1e-12, 1e-12):
        drawn, moved = (sample_beta(generator(4), a * (1.0 + e), b) for e in (0.0, error))
        assert moved == pytest.approx(drawn, rel=1e-9)


def test_every_branch_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: decided without a logarithm or with one, rejected, outside (0, 1).
    taken: Counter[str] = Counter()

    class Counted:
        """Generator that counts its draws."""

        def __init__(self) -> None:
            self.rng = generator(2)

        def standard_normal(self) -> float:
            taken["tried"] += 1
            z = float(self.rng.standard_normal())
            taken["outside"] += not 0.0 < mode + 0.5 / math.sqrt(n) * z < 1.0
            return z

        def standard_exponential(self) -> float:
            return float(self.rng.standard_exponential())

        def beta(self, a: float, b: float) -> float:
            taken["library"] += 1
            return float(self.rng.beta(a, b))

    def counted(m: float, x: float) -> float:
        taken["logarithms"] += 1
        return bernoulli_kl(m, x)

    monkeypatch.setattr(_beta_draw, "bernoulli_kl", counted)
    rng, draws = Counted(), 4000
    for n, mode in ((11.0, 0.12), (300.0, 0.45), (300.0, 0.2)):
        for _ in range(draws):
            sample_beta(rng, 1.0 + n * mode, 1.0 + n * (1.0 - mode))
    assert taken["library"] == 0
    assert 3 * draws * 1.05 < taken["tried"] < 3 * draws * 1.6
    assert 0 < taken["outside"] < draws
    assert 0 < taken["logarithms"] < 0.2 * taken["tried"]
    for n, mode in ((0.99 * FEW, 0.5), (300.0, 0.02), (300.0, 0.98)):
        sample_beta(rng, 1.0 + n * mode, 1.0 + n * (1.0 - mode))
    assert taken["library"] == 3
