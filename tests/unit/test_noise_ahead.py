"""Noise that is drawn ahead (fast/_noise.py): bits, law, and every number once."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpbandits.fast._noise import (
    LANES,
    Noise,
    fill_laplaces,
    fill_words,
    noise_ahead,
    take,
)


def noise(seed: int = 1, most: int = 1, least: float = 0.0) -> Noise:
    return noise_ahead(np.random.default_rng(seed), most, least)


def plain(function: Any) -> Any:
    return getattr(function, "py_func", function)


def test_words_are_those_of_xoshiro256_plus_plus() -> None:
    drawn, mask = noise(), 2**64 - 1

    def rotated(x: int, k: int) -> int:
        return (x << k | x >> 64 - k) & mask

    lanes = [[int(word) for word in drawn.state[:, lane]] for lane in range(LANES)]
    expected = []
    for _ in range(len(drawn.words) // LANES):
        for s in lanes:
            expected.append((rotated(s[0] + s[3] & mask, 23) + s[0]) & mask)
            shifted = s[1] << 17 & mask
            s[2] ^= s[0]
            s[3] ^= s[1]
            s[1] ^= s[2]
            s[0] ^= s[3]
            s[2] ^= shifted
            s[3] = rotated(s[3], 45)
    fill_words(drawn.state, drawn.words)
    assert drawn.words.tolist() == expected
    assert drawn.state.T.tolist() == lanes


@settings(max_examples=200, derandomize=True, database=None, deadline=None)
@given(st.floats(0.0, 1.0, exclude_min=True), st.integers(0, 1))
def test_the_logarithm_is_that_of_the_library(x: float, sign: int) -> None:
    # A word whose upper 52 bits are all ones gives the smallest u, which is near `least`.
    word = np.array([(2**52 - 1 << 12) | sign], np.uint64)
    for least in (x, 0.0):
        u = least + (1.0 - least) * 2.0**-52
        for run in (fill_laplaces, plain(fill_laplaces)):
            drawn = np.empty(1)
            run(word, drawn, least)
            expected = -math.log(u) if sign else math.log(u)
            assert drawn[0] == pytest.approx(expected, rel=4e-16, abs=1e-300)


@pytest.mark.parametrize("least", [0.0, 0.2])
def test_what_is_drawn_has_the_law_of_laplace_within_its_range(least: float) -> None:
    drawn = noise(4, 2**17, least)
    take(drawn, 2**17)
    assert stats.binomtest(int((drawn.drawn > 0).sum()), drawn.drawn.size).pvalue > 1e-5
    u = (np.exp(-np.abs(drawn.drawn)) - least) / (1.0 - least)
    assert stats.kstest(u, "uniform").pvalue > 1e-5


def test_every_number_is_taken_once() -> None:
    drawn, taken = noise(5, 7), list[float]()
    for _ in range(500):
        first = take(drawn, 7)
        taken += drawn.drawn[first : first + 7].tolist()
    assert len({*taken}) == len(taken)
