import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_colours import lab, linear

from dpbandits.drawing.styles import SPARE_COLOURS, STRONG, STYLES, style_of
from dpbandits.experiments.checkpoints import Grid, checkpoints
from dpbandits.kernel import registry
from dpbandits.kinds.regret import REGRET
from dpbandits.spec.figure import Curve
from dpbandits.tables.series import STATISTICS, Series, parsed, slope, to_csv, written

HEADER = b"panel,label,x,runs,mean,std,median,min,max,centre,low,high\n"


def a_series(
    x: list[float], numbers: list[float], panel: str = "a", label: str = "UCB", runs: int = 20
) -> Series:
    """Return a series in which every statistic is a different multiple of `numbers`."""
    columns: dict[str, Any] = {
        name: np.array(numbers) * 2.0**-k for k, name in enumerate(STATISTICS)
    }
    return Series(panel, label, label, "ucb", runs, None, np.array(x), shows=REGRET, **columns)


# The table -------------------------------------------------------------------------------------


def over_parameter(fit: tuple[float, float] | None = None) -> Curve:
    return Curve("a", "A", "A", "ucb", REGRET, "epsilon", (1.0,), (), 2, fit)


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


HARMFUL = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "'=1", "''-x", "=\n1"]
HARMLESS = ["", "-", "+", "'", "'a", "'-", "-1.5", "+3", "-inf", "1e-300", "a=1", "DP-SE", "ε"]


@pytest.mark.parametrize("label", [*HARMFUL, *HARMLESS])
def test_a_spreadsheet_executes_no_label_and_every_label_is_read_as_it_was(label: str) -> None:
    table = written([label, "x"], [[label, -0.5], ["a", "-1e-05"]])
    (first, second), *cells = csv.reader(io.StringIO(table.decode(), newline=""))
    assert (first == label) is (label in HARMLESS)
    assert label in HARMLESS or first == f"'{label}"
    assert (second, cells[0], cells[1]) == ("x", [first, "-0.5"], ["a", "-1e-05"])
    assert parsed(table) == [{label: label, "x": "-0.5"}, {label: "a", "x": "-1e-05"}]


def test_no_committed_table_would_be_written_otherwise(root: Path) -> None:
    tables = [*root.glob("figures/reference/**/*.csv"), *root.glob("docs/reproducibility/*.csv")]
    assert len(tables) > 50
    for file in tables:
        if rows := parsed(table := file.read_bytes()):
            assert written(rows[0], (row.values() for row in rows)) == table, file


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


def test_strangers_differ_in_colour_from_all_others_and_from_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As many as there are spare colours, all of them in the registry like dropped-in files.
    strangers = [f"mine-{i}" for i in range(len(SPARE_COLOURS))]
    known = registry.members("algorithm")
    named = {**known, **dict.fromkeys(strangers, known["ucb"])}
    monkeypatch.setattr(registry, "members", lambda family: named)
    style_of.cache_clear()
    colours = [style_of(name).colour for name in strangers]
    assert {style_of(name)[2:] for name in strangers} == {("-", STRONG)}
    style_of.cache_clear()
    others = [style.colour for style in STYLES.values()]
    for i, colour in enumerate(colours):
        near = (lab(linear(colour)) - lab(linear(other)) for other in (*others, *colours[:i]))
        assert min(map(np.linalg.norm, near)) > 30  # in CIE76; 2.3 is just noticeable
