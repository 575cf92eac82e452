import csv
import io
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from dpbandits.config.compose import load
from dpbandits.core import registry
from dpbandits.drawing.styles import SPARE_COLOURS, STYLES, _spare, style_of
from dpbandits.experiments import Quantity
from dpbandits.experiments.checkpoints import Grid, checkpoints
from dpbandits.run.runner import play
from dpbandits.run.tasks import plan
from dpbandits.spec.figure import Curve
from dpbandits.store.blocks import Store
from dpbandits.tables.series import STATISTICS, Series, _against, slope, to_csv, values

HEADER = b"panel,label,x,runs,mean,std,median,min,max,centre,low,high\n"

finite = st.floats(allow_nan=False, allow_infinity=False)


def a_series(
    x: list[float], numbers: list[float], panel: str = "a", label: str = "UCB", runs: int = 20
) -> Series:
    """Return a series in which every statistic is a different multiple of `numbers`."""
    columns: dict[str, Any] = {
        name: np.array(numbers) * 2.0**-k for k, name in enumerate(STATISTICS)
    }
    return Series(panel, label, label, "ucb", runs, None, np.array(x), **columns)


def test_a_bound_has_no_error() -> None:
    numbers = np.zeros(2)
    columns: dict[str, Any] = dict.fromkeys(STATISTICS, numbers)
    bound = Series("a", "bound", "bound", "bound", 0, None, np.array([1.0, 2.0]), **columns)
    assert [bound.error(i) for i in (0, 1)] == [0.0, 0.0]
    runs = a_series([1.0], [1.0], runs=16)
    assert runs.error(0) == runs.std[0] / 4.0


def test_the_price_of_privacy_needs_a_counterpart_with_regret() -> None:
    own, other = np.array([[1.0, 1.0], [3.0, 3.0]]), np.array([[0.0, 0.01], [0.0, 0.03]])
    price = _against(own, other, Quantity.PRICE)
    assert price[:, 0].tolist() == [0.0, 0.0]
    # Both runs have a hundred times the regret of their counterparts.
    assert price[:, 1].tolist() == pytest.approx([99.0, 99.0])


# Quantities shown --------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_checkout")
def test_regret_per_log_t_is_the_regret_at_the_horizon_over_log_t(store: Store) -> None:
    overrides = ["figure.sweep.values=[1000,2000]", "runs=3"]
    per_log, _ = load("horizons", overrides)
    plain, _ = load("horizons", [*overrides, "figure.panels.a.shows=regret"])
    assert not play(plan(per_log.runs_of_cells(), store, 5), store, 1, "test")
    log_t = np.log([1000.0, 2000.0])
    for one, other in zip(per_log.panels[0].curves, plain.panels[0].curves, strict=True):
        assert one.sources == other.sources
        assert np.array_equal(values(one, store), values(other, store) / log_t)


# The table -------------------------------------------------------------------------------------


def over_parameter(fit: tuple[float, float] | None = None) -> Curve:
    return Curve("a", "A", "A", "ucb", Quantity.REGRET, "epsilon", (1.0,), (), 2, fit)


def test_a_slope_needs_three_points_that_have_logarithms() -> None:
    x, y = np.array([0.0, 1.0, 2.0, 4.0]), np.array([9.0, 3.0, 6.0, 12.0])
    assert slope(x, y, over_parameter()) == pytest.approx(1.0, abs=1e-12)
    assert slope(x, np.array([9.0, 0.0, 6.0, 12.0]), over_parameter()) is None
    assert slope(x, y, over_parameter((1.0, 4.0))) == pytest.approx(1.0, abs=1e-12)
    assert slope(x, y, over_parameter((1.5, 4.0))) is None


@pytest.mark.parametrize(("factor", "is_power_law"), [(1.99, True), (2.01, False)])
def test_a_curve_is_a_power_law_if_its_fit_misses_no_point_by_a_factor_of_two(
    factor: float, is_power_law: bool
) -> None:
    # The least-squares line through logarithms a, b, a is flat, and b lies 2 |a - b|/3 from it.
    x, y = np.array([1.0, 2.0, 4.0]), np.array([1.0, factor**1.5, 1.0])
    found = slope(x, y, over_parameter())
    assert found == pytest.approx(0.0, abs=1e-12) if is_power_law else found is None


def test_the_table_has_a_row_for_every_point_in_the_order_of_the_curves() -> None:
    x = [1.0, 10.0**15 + 1, 0.1 + 0.2]
    series = [a_series(x, [1 / 3, 0.0, 1e-300], "b", 'the "best", ε', 100), a_series([7.0], [1.0])]
    table = to_csv(series)
    assert table.startswith(HEADER)
    rows = list(csv.DictReader(io.StringIO(table.decode())))
    assert [row["x"] for row in rows] == ["1", "1000000000000001", "0.30000000000000004", "7"]
    assert [(row["panel"], row["runs"]) for row in rows] == [("b", "100")] * 3 + [("a", "20")]
    assert {row["label"] for row in rows[:3]} == {'the "best", ε'}
    for name in STATISTICS:  # to the same bits
        assert [float(r[name]) for r in rows[:3]] == getattr(series[0], name).tolist()


# The checkpoints -------------------------------------------------------------------------------

HORIZONS = [*range(2, 301), *(10**k for k in range(3, 13)), 123_456, 2**40 + 1]


@pytest.mark.parametrize("grid", [Grid.LOG, Grid.LINEAR])
def test_a_grid_begins_at_round_1_increases_and_ends_at_the_horizon(grid: Grid) -> None:
    for horizon in HORIZONS:
        rounds = checkpoints(horizon, grid)
        assert rounds.dtype == np.int64
        assert rounds[0] == 1
        assert rounds[-1] == horizon
        assert np.all(np.diff(rounds) > 0)


@pytest.mark.parametrize("grid", list(Grid))
def test_a_single_round_is_recorded_once(grid: Grid) -> None:
    assert checkpoints(1, grid).tolist() == [1]


def test_the_logarithmic_grids_of_two_horizons_are_the_same_before_they_end() -> None:
    longest = checkpoints(10**12, Grid.LOG)
    for horizon in HORIZONS:
        rounds = checkpoints(horizon, Grid.LOG)
        assert rounds[:-1].tolist() == longest[longest < horizon].tolist()


def test_the_logarithmic_grid_has_24_rounds_a_decade() -> None:
    rounds = checkpoints(10**12, Grid.LOG)
    for decade in range(3, 12):
        inside = rounds[(rounds >= 10**decade) & (rounds < 10 ** (decade + 1))]
        # Rounding to whole rounds changes a ratio by 1/1000 at most.
        ratios = np.append(inside, 10 ** (decade + 1))[1:] / inside
        assert inside.size == 24
        np.testing.assert_allclose(ratios, 10 ** (1 / 24), rtol=1.1e-3)


@pytest.mark.parametrize("horizon", [10**k for k in range(3, 13)] + [123_456])
def test_the_linear_grid_has_200_equal_steps(horizon: int) -> None:
    rounds = set(checkpoints(horizon, Grid.LINEAR).tolist())
    steps = {horizon * k // 200 for k in range(1, 201)}
    assert len(steps) == 200
    assert steps <= rounds
    # Only the first step is filled, with rounds of the logarithmic grid.
    assert rounds - steps == {
        n for n in checkpoints(horizon, Grid.LOG).tolist() if n < horizon // 200
    }


def test_a_linear_grid_of_few_rounds_records_each() -> None:
    for horizon in range(2, 201):
        assert checkpoints(horizon, Grid.LINEAR).tolist() == list(range(1, horizon + 1))


# The looks -------------------------------------------------------------------------------------

UNKNOWN = [f"my-algorithm-{i}" for i in range(20)]


def test_two_strangers_differ_in_colour_from_all_others_and_from_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As many as there are spare colours, all of them in the registry like dropped-in files.
    strangers = [f"mine-{i}" for i in range(len(SPARE_COLOURS))]
    known = registry.algorithm_names()
    monkeypatch.setattr(registry, "algorithm_names", lambda: [*known, *strangers])
    _spare.cache_clear()
    colours = [style_of(name).colour for name in strangers]
    _spare.cache_clear()
    assert len(set(colours)) == len(strangers)
    taken = {style.colour for style in STYLES.values()}
    for i, colour in enumerate(colours):
        nearest = min(distance(colour, other) for other in {*taken, *colours[:i]})
        assert nearest > 30  # in CIE76; 2.3 is just noticeable


def distance(one: str, other: str) -> float:
    return float(np.linalg.norm(lab(one) - lab(other)))


def lab(colour: str) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / np.array([0.95047, 1.0, 1.08883]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_an_unknown_algorithm_has_a_spare_look() -> None:
    looks = {style_of(name) for name in UNKNOWN}
    assert {look.colour for look in looks} <= set(SPARE_COLOURS)
    assert len(looks) > 1


def test_an_unknown_algorithm_looks_the_same_in_every_process() -> None:
    code = (
        "import json, sys; from dpbandits.drawing.styles import style_of; "
        "print(json.dumps([style_of(name) for name in json.loads(sys.argv[1])]))"
    )
    there = subprocess.run(
        [sys.executable, "-c", code, json.dumps(UNKNOWN)],
        env={**os.environ, "PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(there.stdout) == [list(style_of(name)) for name in UNKNOWN]
