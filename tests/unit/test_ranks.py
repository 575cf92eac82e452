"""Ranks follow the mean, as far as standard errors allow."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.checks.comparisons import ranks
from dpbandits.tables.series import STATISTICS, Series

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)
RUNS = 4


def curves(*means: float, errors: float | list[float] = 0.0) -> list[Series]:
    # The mean is at the second of two points; at the first all curves are equal.
    spread = np.broadcast_to(errors, len(means)) * np.sqrt(RUNS)
    series = []
    for mean, std in zip(means, spread, strict=True):
        columns: dict[str, Any] = dict.fromkeys(STATISTICS, np.array([1.0, mean]))
        columns["std"] = np.array([0.0, std])
        x = np.arange(2.0)
        series.append(Series("a", "b", "b", "ucb", RUNS, None, x=x, **columns))
    return series


@pytest.mark.parametrize(("difference", "sure"), [(4.3, True), (4.2, False)])
def test_from_three_standard_errors_of_the_difference_on_it_is_sure(
    difference: float, sure: bool
) -> None:
    # 3 sqrt(1 + 1) = 4.24
    low, high = ranks(curves(10.0, 10.0 + difference, errors=1.0), 1)
    assert (low.place, high.place) == (1, 2)
    assert (low.worst, high.best) == ((1, 2) if sure else (2, 1))


@FIXED
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=7),
)
def test_ranks_are_those_of_counting(content: list[tuple[int, int]]) -> None:
    means = [float(mean) for mean, _ in content]
    errors = [float(error) for _, error in content]
    ranked = ranks(curves(*means, errors=errors), 1)
    n = len(means)
    assert sum(rank.place for rank in ranked) == n * (n + 1) / 2
    for rank, mean, error in zip(ranked, means, errors, strict=True):
        room = [(mean - m) - 3 * np.hypot(error, e) for m, e in content]
        assert rank.best == 1 + sum(r > 0 for r in room)
        assert rank.worst == n - sum(m - mean > 3 * np.hypot(error, e) for m, e in content)
        assert rank.place == np.mean([i for i, m in enumerate(sorted(means), 1) if m == mean])
