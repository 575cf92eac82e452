"""Ranks follow the mean, as far as standard errors allow, or the median."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.checks.comparisons import OF_QUARTILES, is_rare, measured, ranks
from dpbandits.kinds.regret import REGRET
from dpbandits.tables.series import STATISTICS, Series

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)
RUNS = 4


def curves(
    *means: float, errors: float | list[float] = 0.0, medians: tuple[float, ...] = ()
) -> list[Series]:
    # The mean is at the second of two points; at the first all curves are equal.
    spread = np.broadcast_to(errors, len(means)) * np.sqrt(RUNS)
    series = []
    for mean, std, median in zip(means, spread, medians or means, strict=True):
        columns: dict[str, Any] = dict.fromkeys(STATISTICS, np.array([1.0, mean]))
        columns["std"], columns["median"] = np.array([0.0, std]), np.array([1.0, median])
        columns["low"], columns["high"] = columns["median"] - 3.0, columns["median"] + 3.0
        x = np.arange(2.0)
        series.append(Series("a", "b", "b", "ucb", RUNS, None, x=x, shows=REGRET, **columns))
    return series


@FIXED
@given(
    st.lists(st.tuples(st.integers(100, 120), st.integers(0, 5)), min_size=1, max_size=7),
)
def test_ranks_are_those_of_counting(content: list[tuple[int, int]]) -> None:
    means = [float(mean) for mean, _ in content]
    errors = [float(error) for _, error in content]
    ranked = ranks(curves(*means, errors=errors), 1)
    n = len(means)
    assert sum(rank.midrank for rank in ranked) == n * (n + 1) / 2
    for rank, mean, error in zip(ranked, means, errors, strict=True):
        room = [(mean - m) - 3 * np.hypot(error, e) for m, e in content]
        assert rank.best == 1 + sum(r > 0 for r in room)
        assert rank.worst == n - sum(m - mean > 3 * np.hypot(error, e) for m, e in content)
        assert rank.midrank == np.mean([i for i, m in enumerate(sorted(means), 1) if m == mean])


@pytest.mark.parametrize(("error", "is_first"), [(4.9, True), (5.1, False)])
def test_medians_rank_a_game_in_which_the_error_of_a_mean_exceeds_five_percent(
    error: float, is_first: bool
) -> None:
    game = curves(100.0, 200.0, errors=[error, 1.0], medians=(90.0, 20.0))
    assert is_rare(game[0], 1) == (not is_first)
    assert (ranks(game, 1)[0].midrank == 1) == is_first
    assert measured(game, 1)[1] == (
        (200.0, 1.0) if is_first else (20.0, pytest.approx(OF_QUARTILES * 6.0 / 2.0))
    )


def test_the_error_of_a_median_is_that_of_runs_with_rare_large_ones() -> None:
    rng = np.random.default_rng(1)
    runs = np.where(rng.random((20_000, 400)) < 0.005, 1e5, rng.normal(100.0, 10.0, (20_000, 400)))
    low, high = np.quantile(runs, (0.25, 0.75))
    error = OF_QUARTILES * (high - low) / 400**0.5
    assert np.median(runs, axis=1).std() == pytest.approx(error, rel=0.03)
