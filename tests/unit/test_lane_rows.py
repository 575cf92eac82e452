"""Rows of sixteen runs in kernels: each lane is computed as NumPy computes a single run."""

import importlib
from typing import Any

import numpy as np
import pytest

from dpbandits.core.kernel import kernel
from dpbandits.core.lane_rows import LaneRows
from dpbandits.core.lanes import LaneStreams
from dpbandits.core.vector_constants import RUNS

# Kernels are untyped.
lanes: Any = importlib.import_module("dpbandits.core.lanes")
rows_: Any = importlib.import_module("dpbandits.core.lane_rows")
argmax: Any = importlib.import_module("dpbandits.algorithms._argmax")

RNG = np.random.default_rng(5)
ROWS = 7
# Few different numbers, so that largest rows are tied.
VALUES = RNG.integers(1, 4, size=(ROWS, RUNS)) / 3.0


@kernel
def largest(rows: Any, out: Any) -> None:
    rows_.put(out, 0, argmax.argmax_of_rows(rows))


@kernel
def roots(rows: Any) -> None:
    for i in range(rows.values.shape[0]):
        rows_.put(rows, i, lanes.root(rows_.get(rows, i)))


@kernel
def change_the_largest(rows: Any, other: Any, out: Any) -> None:
    chosen = argmax.argmax_of_rows(rows)
    rows_.put(out, 0, rows_.add_chosen(rows, chosen, 0.25))
    rows_.put_chosen(other, chosen, rows_.get(rows, 0))


@kernel
def zeros(streams: Any, out: Any) -> None:
    rows = rows_.zero_rows(streams, out.values.shape[0])
    for i in range(out.values.shape[0]):
        rows_.put(out, i, rows_.get(rows, i) + float(i))


def test_the_first_of_the_largest_rows_is_chosen_in_every_lane() -> None:
    out = np.full((1, RUNS), np.nan)
    largest(LaneRows(VALUES), LaneRows(out))
    np.testing.assert_array_equal(out[0], np.argmax(VALUES, axis=0))
    assert (np.sum(VALUES.max(axis=0) == VALUES, axis=0) > 1).any()
    assert len({*out[0]}) > 2


def test_roots_have_the_bits_of_numpy() -> None:
    values = RNG.exponential(size=(ROWS, RUNS)) * 10.0 ** RNG.integers(-300, 300, (ROWS, RUNS))
    rows = values.copy()
    roots(LaneRows(rows))
    np.testing.assert_array_equal(rows, np.sqrt(values))


@pytest.mark.parametrize("value", [0.0, 2.0, 3.0, 1e-308, 1e308])
def test_the_root_of_a_number_is_that_of_python(value: float) -> None:
    compiled: Any = kernel(lambda x: lanes.root(x))
    assert compiled(value) == lanes.root(value) == np.sqrt(value)


def test_the_chosen_rows_alone_are_changed() -> None:
    rows, other = VALUES.copy(), np.zeros((ROWS, RUNS))
    out = np.full((1, RUNS), np.nan)
    change_the_largest(LaneRows(rows), LaneRows(other), LaneRows(out))
    place = np.argmax(VALUES, axis=0), np.arange(RUNS)
    expected = VALUES.copy()
    expected[place] += 0.25
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(out[0], expected[place])
    put_there = np.zeros((ROWS, RUNS))
    put_there[place] = expected[0]
    np.testing.assert_array_equal(other, put_there)


def test_new_rows_are_zero() -> None:
    out = np.full((ROWS, RUNS), np.nan)
    zeros(LaneStreams(np.zeros((4, RUNS), np.uint64)), LaneRows(out))
    np.testing.assert_array_equal(out, np.repeat(np.arange(ROWS)[:, None], RUNS, axis=1))


@pytest.mark.parametrize("compiled", [False, True])
def test_rows_begin_lines_of_the_cache(compiled: bool) -> None:
    zeros_of = kernel(lambda n: lanes.lane_zeros(n)) if compiled else lanes.lane_zeros
    kept = list[np.ndarray]()
    for n in (1, 2, 3, 7, 101) * 4:
        rows = zeros_of(n)
        kept.append(rows)  # so that the next ones lie elsewhere
        assert rows.shape == (n, RUNS)
        assert rows.flags.c_contiguous
        assert rows.ctypes.data % 64 == 0
        assert not rows.any()
        rows[:] = 1.0
    assert all((rows == 1.0).all() for rows in kept)
