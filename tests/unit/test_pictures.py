"""Every picture shows the numbers of its table, no text is cut, and originals have no more.

The pictures are drawn from the committed references. The tables are read by `csv` alone, and the
artists are read off the figure, so that no code between the two is trusted.
"""

import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import ROOT
from composed import load
from drawn_tables import (
    ANNOTATED,
    Columns,
    Curve,
    artist_id,
    draw,
    drawn,
    figures_by_shape,
    insets,
    laid_out,
    lines_by_id,
    points,
    specified,
    table,
)
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from dpbandits.drawing import plotting
from dpbandits.drawing.plotting import drawing_function
from dpbandits.files import project
from dpbandits.kernel.errors import UserError

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("in_checkout")]

ALL = figures_by_shape()
# Pictures of another form and curves without a line: test_pictures_of_other_forms.py.
WITHOUT_LINES = {
    *("adap-episodes", "leaderboard", "identification-leaderboard", "privacy-audit"),
    *("leaderboard-epsilon", "counter-error", "stopping-rules", "identification-regimes"),
    *("constant", "free", "tail", "equal-privacy"),
    *(f"variants-{key}" for key in ("tossou2016", "sajed2019", "azize2022", "azize2025")),
}
REGION = {"Feasible region, lower edge", "Feasible region, upper edge", "Smallest delta"}
ELSEWHERE = {f"ftpl-{law}-cdf": REGION for law in ("gauss", "beta", "new")}
with_lines = pytest.mark.parametrize(
    "figure", [name for name in ALL if name.values[0] not in WITHOUT_LINES]
)
INSETS = ("adap-headline", "adap-c1", "adap-c2", "adap-c3", "adap-c4")


def picture(figure: str) -> Figure:
    """Return the picture drawn from the columns x, centre, low and high alone."""
    return drawn(figure, others=False)[0]


def shown(figure: str) -> dict[Curve, tuple[Line2D, Columns]]:
    """Return the line and the columns of every curve of a figure that a line shows."""
    lines, others = lines_by_id(picture(figure)), ELSEWHERE.get(figure, set())
    return {
        curve: (lines[artist_id(curve)][0][1], columns)
        for curve, columns in table(figure).items()
        if not others.intersection(curve)
    }


def panels(figure: str) -> dict[str, tuple[Axes, list[tuple[Line2D, Columns]]]]:
    """Return the axes of every panel that has a line, and its curves."""
    found: dict[str, tuple[Axes, list[tuple[Line2D, Columns]]]] = {}
    for (letter, _), (line, columns) in shown(figure).items():
        assert isinstance(line.axes, Axes)
        found.setdefault(letter, (line.axes, []))[1].append((line, columns))
    return found


def same(actual: np.ndarray, *columns: np.ndarray) -> bool:
    return bool(np.array_equal(actual, np.column_stack(columns), equal_nan=True))


@with_lines
def test_every_curve_has_one_line_through_its_centres_in_its_panel(figure: str) -> None:
    curves, lines = shown(figure), lines_by_id(picture(figure))
    assert sorted(lines) == sorted(map(artist_id, curves))
    axes: dict[str, set[Axes]] = {}
    for curve, (line, columns) in curves.items():
        ((ax, _),) = lines[artist_id(curve)]
        assert same(points(line), columns["x"], columns["centre"]), curve
        axes.setdefault(curve[0], set()).add(ax)
        every = line.get_markevery()
        if line.get_marker() not in ("", "None", None) and every is not None:
            assert isinstance(every, list)
            assert len(every) >= min(6, columns["x"].size)
            assert every == sorted(every)
            assert 0 <= every[0] <= every[-1] < columns["x"].size
    assert len(set().union(*axes.values())) == len(axes) == sum(map(len, axes.values()))
    for letter, (ax,) in axes.items():
        assert ax.get_title().startswith(f"({letter})" if len(axes) > 1 else "")


def bands(ax: Axes) -> list[PolyCollection]:
    return [each for each in ax.collections if isinstance(each, PolyCollection)]


def error_bars(ax: Axes) -> list[LineCollection]:
    # Those of another column have no end here.
    bars = [each for each in ax.collections if isinstance(each, LineCollection)]
    return [each for each in bars if np.isfinite(each.get_segments()).any()]


def assert_bands(ax: Axes, curves: list[tuple[Line2D, Columns]]) -> None:
    """Compare the outlines of bands: along the low ends, and back along the high ends."""
    wide = [(line, c) for line, c in curves if np.any(c["low"] != c["high"])]
    for band, (line, columns) in zip(bands(ax), wide, strict=True):
        low, high = columns["low"], columns["high"]
        if ax.get_yscale() == "log":  # 0 and infinity have no place: the band leaves the frame
            low = np.maximum(low, sys.float_info.min)
            high = np.minimum(high, sys.float_info.max)
        ends = np.column_stack([columns["x"], low, high])[np.isfinite(low) & np.isfinite(high)]
        outlines = [np.asarray(path.vertices)[:-1] for path in band.get_paths()]  # the last closes
        halves = [np.split(outline, 2) for outline in outlines]
        assert same(np.concatenate([half[0] for half in halves]), ends[:, 0], ends[:, 1])
        assert same(np.concatenate([half[1][::-1] for half in halves]), ends[:, 0], ends[:, 2])
        face = np.asarray(band.get_facecolor())[0]
        assert face[:3].tolist() == list(to_rgb(line.get_color()))
        assert 0.0 < face[3] < 1.0


@with_lines
def test_every_band_is_between_low_and_high_and_an_inset_repeats_curves(figure: str) -> None:
    repeated = 0
    for ax, curves in panels(figure).values():
        if not figure.endswith("-cdf") and not error_bars(ax):
            assert_bands(ax, curves)
        by_look = {(to_rgb(ln.get_color()), ln.get_linestyle()): columns for ln, columns in curves}
        for inset in insets(ax):
            looks = [(to_rgb(line.get_color()), line.get_linestyle()) for line in inset.lines]
            again = [(line, by_look[key]) for line, key in zip(inset.lines, looks, strict=True)]
            assert all(same(points(line), c["x"], c["centre"]) for line, c in again)
            assert_bands(inset, again)
            repeated += len(again)
    assert repeated >= 2 * (figure in INSETS)


@with_lines
def test_every_error_bar_and_its_caps_end_at_low_and_high(figure: str) -> None:
    for ax, curves in panels(figure).values():
        bars = error_bars(ax)
        if not bars:
            # A line of another column, such as the medians, has no point here.
            others = [line for line in ax.lines if not line.get_gid()]
            assert not any(np.isfinite(points(line)).all(axis=1).any() for line in others)
            continue
        # Every curve is followed by the points of its bars and by both caps.
        assert len(ax.lines) == 4 * len(curves)
        for i, (bar, (curve, columns)) in enumerate(zip(bars, curves, strict=True)):
            line, middle, below, above = ax.lines[4 * i : 4 * i + 4]
            assert line is curve
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


@pytest.mark.parametrize("figure", ["dpucb-2arms", "dpucb-10arms"])
def test_a_regret_of_zero_is_left_out_of_a_logarithmic_axis(figure: str) -> None:
    laid_out(figure)
    for ax, curves in panels(figure).values():
        for line, columns in curves:
            # As drawn: a masked point is nan, a clipped one lies far below the frame.
            seen = np.isfinite(line.get_transform().transform(points(line))).all(axis=1)
            assert seen.tolist() == (columns["centre"] > 0).tolist()
            assert columns["centre"][seen].min() > ax.get_ylim()[0]


# Layout -------------------------------------------------------------------------------------------


def legends(figure: Figure) -> list[Any]:
    return [*figure.legends, *filter(None, (ax.get_legend() for ax in figure.axes))]


@pytest.mark.parametrize("figure", ALL)
def test_no_text_is_cut_and_titles_and_legends_do_not_overlap(figure: str) -> None:
    made = laid_out(figure)
    page, apart = made.bbox.padded(1), list[Text]()
    texts = [*made.texts, *(text for legend in legends(made) for text in legend.get_texts())]
    for ax in made.axes:
        labels = (ax.xaxis.label, ax.yaxis.label, ax.xaxis.get_offset_text())
        texts += [ax.title, *ax.texts, *(labels if ax.axison else ())]
        apart += [ax.title] * bool(ax.get_title())
    for text in texts:
        if text.get_visible() and text.get_text():
            box = text.get_window_extent()
            assert page.x0 <= box.x0 <= box.x1 <= page.x1, text.get_text()
            assert page.y0 <= box.y0 <= box.y1 <= page.y1, text.get_text()
    for one, other in combinations([*apart, *legends(made)], 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent()), (one, other)


def look(line: Line2D) -> tuple[Any, ...]:
    return line.get_color(), line.get_marker(), line.get_linestyle(), line.get_linewidth()


@pytest.mark.parametrize(
    "figure",
    ["horizons", "gdp-elim", *(f"ftpl-{x}" for x in ("approx-dp", "pure-dp", "delta-sweep"))],
)
def test_a_legend_shows_its_lines_as_they_are_drawn_and_tells_them_apart(figure: str) -> None:
    made, _ = drawn(figure)
    handles = [h for h in made.legends[0].legend_handles if isinstance(h, Line2D)]
    assert len(handles) > 2
    for handle in handles:
        alike = [line for ax in made.axes for line in ax.lines if look(line) == look(handle)]
        assert {line.get_label() for line in alike} == {handle.get_label()}


@pytest.mark.parametrize("figure", INSETS)
def test_an_inset_has_the_lowest_curves_of_its_panel_and_hides_none(figure: str) -> None:
    made, drawing = laid_out(figure), specified(figure, ANNOTATED)[1]
    for ax, panel in zip(made.axes, drawing.panels, strict=True):
        ((inset,), (frame,)) = insets(ax), ax.patches
        lowest = [s for s in panel.series if s.label != "DP-UCB" and "iterates" not in s.legend]
        assert [line.get_label() for line in inset.lines] == [s.legend for s in lowest]
        assert 0 == inset.get_ylim()[0] < max(s.high[-1] for s in lowest) < inset.get_ylim()[1]
        hidden = frame.get_window_extent()
        for series in panel.series:
            seen = np.column_stack([series.x, series.centre])[series.centre > 0]
            assert not any(hidden.contains(x, y) for x, y in ax.transData.transform(seen))


# Originals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "addition"),
    [
        *((name, "insets") for name in ("adap-headline", "adap-c2")),
        *((name, "tables") for name in ("dpucb-2arms", "dpucb-10arms")),
        *((name, "texts") for name in ("ftpl-delta-sweep", "ftpl-gauss-cdf", "exp3-switching")),
    ],
)
def test_insets_tables_and_texts_are_annotations(figure: str, addition: str) -> None:
    def additions(made: Figure) -> set[str]:
        found: dict[str, list[Any]] = {"insets": [], "tables": [], "texts": []}
        for ax in made.axes:
            found["insets"] += insets(ax)
            found["tables"] += ax.tables
            found["texts"] += ax.texts
        return {kind for kind, several in found.items() if several}

    assert additions(draw(*specified(figure))) == set()
    assert additions(drawn(figure)[0]) == {addition}


def test_curves_that_the_original_does_not_have_are_drawn_only_as_annotations() -> None:
    marked = 0
    for name in project.names("figure"):
        spec = load(name, [])[0]
        assert spec.annotated == (spec.original is None)
        hidden = {
            artist_id((panel.letter, curve.label))
            for panel in spec.panels
            for curve in panel.curves
            if curve not in spec.drawn_curves(panel)
        }
        marked += bool(hidden)
        if hidden and name != "lower-bounds":
            assert not hidden & lines_by_id(draw(*specified(name))).keys()
            assert hidden <= lines_by_id(drawn(name)[0]).keys()
    assert marked == 10


# Drawing functions --------------------------------------------------------------------------------


def test_an_edit_of_a_drawing_function_is_seen_and_its_errors_name_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "figures" / "mine.py"
    for path, text in (
        (tmp_path / "conf" / "config.yaml", ""),
        (mine, "def near(drawing):\n    return 1\n"),
        *((file, file.read_text()) for file in (ROOT / "figures" / "style").glob("*.mplstyle")),
    ):
        copy = tmp_path / path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    monkeypatch.chdir(tmp_path)
    nothing: Any = None
    before = plotting.style_digest("mine")
    made: list[Any] = [drawing_function("mine", "near")(nothing)]
    mine.write_text("def near(drawing):\n    return 2\n")
    made.append(drawing_function("mine", "near")(nothing))
    assert made == [1, 2]
    assert plotting.style_digest("mine") != before
    with pytest.raises(UserError, match=r"no function 'neax'; did you mean 'near'"):
        drawing_function("mine", "neax")
    mine.write_text("import nonesuch\n")
    with pytest.raises(UserError, match=r"figures/mine\.py, line 1: ModuleNotFoundError"):
        drawing_function("mine", "near")


def test_a_drawing_function_can_be_imported_from_the_checkout() -> None:
    command = "from figures.azize2022 import episodes; print(episodes.__module__)"
    done = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "figures.azize2022\n"
