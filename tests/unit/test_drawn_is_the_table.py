"""Lines, markers, bands and error bars of every picture equal the columns of its table.

The pictures are drawn from the committed references. The tables are read by `csv` alone, and the
artists are read off the figure, so that no code between the two is trusted.
"""

import sys

import numpy as np
import pytest
from drawn_tables import (
    Columns,
    Curve,
    artist_id,
    drawn,
    figures_by_shape,
    lines_by_id,
    points,
    table,
)
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

# Pictures of another form and curves without a line: tests/unit/test_drawn_otherwise.py.
WITHOUT_LINES = {
    *("adap-episodes", "leaderboard", "privacy-audit"),
    *("leaderboard-epsilon", "counter-error", "stopping-rules"),
    *(f"readings-{key}" for key in ("tossou2016", "sajed2019", "azize2022", "azize2025")),
}
REGION = {"Feasible region, lower edge", "Feasible region, upper edge", "Smallest delta"}
ELSEWHERE = {f"ftpl-{law}-cdf": REGION for law in ("gauss", "beta", "new")}
FIGURES = [each for each in figures_by_shape() if each.values[0] not in WITHOUT_LINES]


def picture(figure: str) -> Figure:
    """Return the picture drawn from the columns x, centre, low and high alone."""
    return drawn(figure, others=False)[0]


def shown(figure: str) -> dict[Curve, Columns]:
    """Return the curves of a figure that a line shows."""
    others = ELSEWHERE.get(figure, set())
    return {
        curve: columns for curve, columns in table(figure).items() if not others.intersection(curve)
    }


def axes_of(figure: str) -> dict[str, Axes]:
    """Return the axes of every panel that has a line."""
    lines = lines_by_id(picture(figure))
    return {curve[0]: lines[artist_id(curve)][0][0] for curve in shown(figure)}


def same(actual: np.ndarray, *columns: np.ndarray) -> bool:
    return bool(np.array_equal(actual, np.column_stack(columns), equal_nan=True))


@pytest.mark.parametrize("figure", FIGURES)
def test_every_curve_has_one_line_through_its_centres_in_its_panel(figure: str) -> None:
    curves, lines = shown(figure), lines_by_id(picture(figure))
    assert sorted(lines) == sorted(map(artist_id, curves))
    panels: dict[str, set[int]] = {}
    for curve, columns in curves.items():
        ((ax, line),) = lines[artist_id(curve)]
        assert same(points(line), columns["x"], columns["centre"]), curve
        panels.setdefault(curve[0], set()).add(id(ax))
    assert all(len(axes) == 1 for axes in panels.values())
    assert len(set().union(*panels.values())) == len(panels)
    for letter, ax in axes_of(figure).items():
        assert ax.get_title().startswith(f"({letter})" if len(panels) > 1 else "")


@pytest.mark.parametrize("figure", FIGURES)
def test_markers_are_at_points_of_the_curve(figure: str) -> None:
    for (_, line), columns in (
        (lines_by_id(picture(figure))[artist_id(curve)][0], columns)
        for curve, columns in shown(figure).items()
    ):
        every = line.get_markevery()
        if line.get_marker() in ("", "None", None):
            continue
        assert every is None or isinstance(every, list)
        if isinstance(every, list):
            assert len(every) >= min(6, columns["x"].size)
            assert all(0 <= i < columns["x"].size for i in every)
            assert every == sorted(every)


def bands(ax: Axes) -> list[PolyCollection]:
    return [each for each in ax.collections if isinstance(each, PolyCollection)]


def error_bars(ax: Axes) -> list[LineCollection]:
    # Those of another column have no end here.
    bars = [each for each in ax.collections if isinstance(each, LineCollection)]
    return [each for each in bars if np.isfinite(each.get_segments()).any()]


def assert_band(band: PolyCollection, line: Line2D, columns: Columns, logarithmic: bool) -> None:
    """Compare the outline of a band: along the low ends, and back along the high ends."""
    (path,) = band.get_paths()
    low, high = columns["low"], columns["high"]
    if logarithmic:  # 0 has no place there: the band extends below the frame
        low = np.maximum(low, sys.float_info.min)
    n = low.size
    outline = np.asarray(path.vertices)
    assert len(outline) == 2 * n + 1  # the last point closes it
    assert same(outline[:n], columns["x"], low)
    assert same(outline[n : 2 * n][::-1], columns["x"], high)
    face = np.asarray(band.get_facecolor())[0]
    assert face[:3].tolist() == list(to_rgb(line.get_color()))
    assert 0.0 < face[3] < 1.0


@pytest.mark.parametrize("figure", FIGURES)
def test_every_band_is_between_low_and_high(figure: str) -> None:
    lines, axes = lines_by_id(picture(figure)), axes_of(figure)
    for letter, ax in axes.items():
        if figure.endswith("-cdf") or error_bars(ax):
            continue
        wide = [
            (lines[artist_id(curve)][0][1], columns)
            for curve, columns in shown(figure).items()
            if curve[0] == letter and np.any(columns["low"] != columns["high"])
        ]
        for band, (line, columns) in zip(bands(ax), wide, strict=True):
            assert_band(band, line, columns, ax.get_yscale() == "log")


@pytest.mark.parametrize("figure", FIGURES)
def test_every_error_bar_and_its_caps_end_at_low_and_high(figure: str) -> None:
    for letter, ax in axes_of(figure).items():
        bars = error_bars(ax)
        own = [(c, columns) for c, columns in shown(figure).items() if c[0] == letter]
        if not bars:
            # A line of another column, such as the medians, has no point here.
            others = [line for line in ax.lines if not line.get_gid()]
            assert not any(np.isfinite(points(line)).all(axis=1).any() for line in others)
            continue
        # Every curve is followed by the points of its bars and by both caps.
        assert len(ax.lines) == 4 * len(own)
        for i, (bar, (curve, columns)) in enumerate(zip(bars, own, strict=True)):
            line, middle, below, above = ax.lines[4 * i : 4 * i + 4]
            assert line.get_gid() == artist_id(curve)
            assert to_rgb(np.asarray(bar.get_color())[0]) == to_rgb(line.get_color())
            at = np.searchsorted(columns["x"], points(middle)[:, 0])
            assert len(at) == (12 if ax.get_xscale() == "linear" else columns["x"].size)
            x, centre, low, high = (columns[name][at] for name in ("x", "centre", "low", "high"))
            assert same(points(middle), x, centre)
            size = np.abs(columns["high"]).max() * 1e-13  # low is drawn as centre - (centre - low)
            for artist, ends in ((below, low), (above, high)):
                np.testing.assert_allclose(points(artist), np.column_stack([x, ends]), 0, size)
            segments = np.array(bar.get_segments())
            expected = np.stack([np.column_stack([x, low]), np.column_stack([x, high])], axis=1)
            np.testing.assert_allclose(segments, expected, rtol=0, atol=size)


@pytest.mark.parametrize("figure", FIGURES)
def test_an_inset_repeats_curves_of_its_panel(figure: str) -> None:
    repeated = 0
    for letter, ax in axes_of(figure).items():
        own = {
            to_rgb(line.get_color()): (line, table(figure)[curve])
            for curve in shown(figure)
            if curve[0] == letter
            for line in [lines_by_id(picture(figure))[artist_id(curve)][0][1]]
        }
        for inset in (child for child in ax.child_axes if isinstance(child, Axes)):
            wide = []
            for line in inset.lines:
                _, columns = own[to_rgb(line.get_color())]
                assert same(points(line), columns["x"], columns["centre"])
                repeated += 1
                if np.any(columns["low"] != columns["high"]):
                    wide.append((line, columns))
            for band, (line, columns) in zip(bands(inset), wide, strict=True):
                assert_band(band, line, columns, logarithmic=False)
    assert repeated >= 2 * (figure in {"adap-headline", "adap-c1", "adap-c2", "adap-c3", "adap-c4"})
