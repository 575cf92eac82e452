"""Axes: which panels have labels, limits without data, tick labels, blocks of rows, bands."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from test_drawing import ONE

from dpbandits.drawing.plotting import PAGE, PanelDrawing
from dpbandits.drawing.shapes import (
    HEADING,
    blocks_of_rows,
    draw_over_time,
    limit_over_parameter,
    limit_over_time,
    name_axes,
    write_decades,
)

NONE = PanelDrawing("a", "", ())


def test_the_lowest_panel_of_a_column_names_x_and_the_first_of_a_row_names_y() -> None:
    figure = Figure()
    grid = figure.subplots(2, 2)
    grid[1, 1].remove()
    for ax in figure.axes:
        name_axes(ax, "x", "y")
    labels = [(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes]
    assert labels == [("", "y"), ("x", ""), ("x", "y")]
    free = figure.add_axes((0.1, 0.1, 0.5, 0.5))
    name_axes(free, "x", "y")
    assert (free.get_xlabel(), free.get_ylabel()) == ("x", "y")


def test_without_curves_a_panel_over_time_shows_one_decade() -> None:
    ax = Figure().subplots()
    limit_over_time(ax, NONE)
    np.testing.assert_allclose(ax.dataLim.get_points(), [[0.0, 1.0], [1.0, 10.0]])


def test_without_a_positive_point_a_parameter_sets_no_limits() -> None:
    ax = Figure().subplots()
    before = ax.dataLim.get_points().copy()
    nowhere = replace(ONE, x=-np.arange(8.0))
    for panel in (NONE, PanelDrawing("a", "", (nowhere,))):
        limit_over_parameter(ax, panel)
        np.testing.assert_array_equal(ax.dataLim.get_points(), before)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (2.0, 15.0, {2.0: "2"}),
        (200_000.0, 1_500_000.0, {200_000.0: r"$\mathdefault{2\times10^{5}}$"}),
        (1.0, 10_000.0, {20.0: "", 500.0: ""}),
        (2.0, 150.0, {20.0: "", 50.0: ""}),
    ],
    ids=["a decade", "a high decade", "many decades", "two decades"],
)
def test_ticks_between_decades_have_labels_if_a_decade_or_less_is_shown(
    low: float, high: float, labels: dict[float, str]
) -> None:
    ax = Figure().subplots()
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    write_decades(ax.yaxis)
    formatter: Any = ax.yaxis.get_minor_formatter()
    formatter.set_locs(ax.yaxis.get_minorticklocs())
    assert {x: formatter(x) for x in labels} == labels


def test_a_table_of_panels_has_a_height_for_every_row_and_heading() -> None:
    figure, axes = blocks_of_rows({"First": 2, "Second": 5}, ["One", "Two"], [1.0, 3.0], 0.2)
    assert tuple(figure.get_size_inches()) == pytest.approx((PAGE, 7 * 0.205 + 2 * 0.35 + 0.75))
    assert [len(of_block) for of_block in axes] == [2, 2]
    spec: Any = figure.axes[0].get_gridspec()
    assert [*spec.get_height_ratios()] == [HEADING, 2, HEADING, 5]
    assert [*spec.get_width_ratios()] == [1.0, 3.0]
    assert [ax.get_title() for ax in figure.axes[:2]] == ["One", "Two"]
    headings = [text for ax in figure.axes for text in ax.texts]
    assert [text.get_text() for text in headings] == ["First", "Second"]
    assert not any(text.get_in_layout() for text in headings)
    for of_block, rows in zip(axes, (2, 5), strict=True):
        for ax in of_block:
            assert ax.get_ylim() == (rows - 0.4, -0.6)
            assert [*ax.get_yticks()] == list(range(rows))


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_band_that_reaches_zero_ends_above_it_on_a_logarithmic_axis(scale: str) -> None:
    ax = Figure().subplots()
    ax.set_yscale(scale)
    draw_over_time(ax, replace(ONE, low=np.arange(-4.0, 4.0), high=np.full(8, 9.0)), 0)
    (band,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    ends = np.asarray(band.get_paths()[0].vertices)[:8, 1]
    tiny = np.finfo(float).tiny
    expected = np.maximum(np.arange(-4.0, 4.0), tiny) if scale == "log" else np.arange(-4.0, 4.0)
    np.testing.assert_array_equal(ends, expected)
