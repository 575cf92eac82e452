"""The shared shapes set names, limits and ticks that need no further code.

The tests use the figure of docs/add-a-figure.md, exactly as printed there, with made-up curves.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
import pytest
from commands import ROOT
from matplotlib.artist import getp
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from test_drawing import ONE

from dpbandits.config import compose
from dpbandits.drawing import plotting
from dpbandits.drawing.plotting import Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    draw_all_over_parameter,
    draw_all_over_time,
    draw_regret_over_time,
    legend_below,
    panel_grid,
)
from dpbandits.experiments import kinds
from dpbandits.factory import produce
from dpbandits.kernel.errors import UserError
from dpbandits.kinds.formula import VALUE
from dpbandits.kinds.regret import PULLS
from dpbandits.spec.figure import Appearance, FigureSpec, StyleOverride
from dpbandits.tables import series as curves

DOCUMENT = (ROOT / "docs" / "add-a-figure.md").read_text("utf-8")
YAML, *_ = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
(PYTHON,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)

Curve = Callable[[np.ndarray], np.ndarray]


def example(checkout: Path, yaml: str, python: str) -> FigureSpec:
    (checkout / "conf" / "figure" / "my-figure.yaml").write_text(yaml, "utf-8")
    file = checkout / "figures" / "azize2022.py"
    file.write_text(f"{file.read_text('utf-8')}\n\n{python}", "utf-8")
    return compose.load("my-figure", [])[0]


def drawn(spec: FigureSpec, centre: Curve, spread: Curve) -> tuple[Figure, list[curves.Series]]:
    """Return the picture as it is written, and its curves, each a little above the previous one."""
    made = []
    for panel, (i, curve) in ((p, c) for p in spec.panels for c in enumerate(p.curves)):
        x = curves.x_values(curve)
        middle, half = (1 + 0.2 * i) * centre(x), spread(x)
        numbers: dict[str, Any] = dict.fromkeys(curves.STATISTICS, middle)
        numbers |= {"low": middle - half, "high": middle + half}
        identity = curves.identity(panel.letter, curve)
        made.append(curves.Series(**identity, runs=curve.runs, slope=None, x=x, **numbers))
    seen: list[Figure] = []
    draw = plotting.drawing_function(spec.paper, spec.draw)
    plotting.render(draw, produce.drawing(spec, made), "", seen.append)
    return seen[0], made


def labels(axis: Axis) -> list[str]:
    """Return the labels of the ticks that are in view, major and minor."""
    low, high = sorted(axis.get_view_interval())
    return [
        label.get_text()
        for minor in (False, True)
        for place, label in zip(
            axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor=minor), strict=False
        )
        if low * (1 - 1e-9) <= place <= high * (1 + 1e-9) and label.get_text()
    ]


def rising(t: np.ndarray) -> np.ndarray:
    return 300.0 * np.log1p(t / 1000)


CURVES: dict[str, tuple[Curve, Curve]] = {
    "a band that reaches below 0": (rising, lambda t: 1.5 * rising(t)),
    "a band that nearly reaches 0": (rising, lambda t: rising(t) * (1 - 1e-12)),
    "no band": (rising, np.zeros_like),
    "no regret for a while": (lambda t: np.maximum(0.0, t - 100_000), np.zeros_like),
    "less than a decade": (lambda t: 2100.0 + 10 * np.log1p(t), lambda t: 21 + 0.1 * np.log1p(t)),
    "no regret at all": (np.zeros_like, np.zeros_like),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", CURVES)
def test_the_figure_of_the_document_needs_no_further_help(checkout: Path, kind: str) -> None:
    centre, spread = CURVES[kind]
    spec = example(checkout, YAML, PYTHON)
    figure, series_of_figure = drawn(spec, centre, spread)
    titles = [r"(a) $\epsilon = 0.1$", r"(b) $\epsilon = 1$"]
    assert [ax.get_title() for ax in figure.axes] == titles
    assert [ax.get_xlabel() for ax in figure.axes] == ["Round $t$"] * 2
    assert [ax.get_ylabel() for ax in figure.axes] == ["Regret", ""]
    assert len(labels(figure.axes[0].yaxis)) >= 2
    for ax, panel in zip(figure.axes, spec.panels, strict=True):
        assert ax.get_xlim() == (0, 10_000_000)
        assert len(labels(ax.xaxis)) >= 2
        of_panel = [s for s in series_of_figure if s.panel == panel.letter]
        low, high = ax.get_ylim()
        values = np.concatenate([s.centre[s.x >= 0.02 * s.x[-1]] for s in of_panel])
        lowest = min(values[values > 0], default=1.0)
        assert lowest / 20 < low <= lowest  # no empty decades
        for series in of_panel:
            late = series.x >= 0.02 * series.x[-1]
            for y in (series.centre[late], series.high[late]):
                assert ((low <= y) & (y <= high))[y > 0].all()
            assert high < 20 * max(lowest, series.high.max())
    handles = figure.legends[0].legend_handles
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["DP-SE", r"AdaP-UCB ($\alpha=1$)", "AdaP-UCB"]
    lines = [line for line in figure.axes[1].lines if line.get_label() in texts]
    for handle, line in zip(handles, lines, strict=True):
        assert isinstance(handle, Line2D)
        for name in ("color", "linestyle", "linewidth", "marker"):
            assert getp(handle, name) == getp(line, name)


@pytest.mark.parametrize("draw", [draw_all_over_time, draw_all_over_parameter])
@pytest.mark.parametrize("zeros", [0, 1])
def test_a_band_that_reaches_below_0_does_not_decide_a_logarithmic_axis(
    draw: Callable[[Axes, PanelDrawing], list[Line2D]], zeros: int
) -> None:
    # The first values of the curve itself may be 0.
    centre = np.where(np.arange(8) < zeros, 0.0, ONE.centre)
    for low in (centre - 10.0, centre * 1e-200):
        ax = Figure().subplots()
        ax.set_yscale("log", nonpositive="mask")
        draw(ax, PanelDrawing("a", "", (replace(ONE, centre=centre, low=low, high=2 * centre),)))
        assert 0.5 < ax.get_ylim()[0] <= 2
        assert 16 < ax.get_ylim()[1] < 32


def test_a_band_reaches_the_frame_where_it_has_no_upper_end_and_leaves_gaps() -> None:
    inf = np.inf
    low = np.array([1.0, 1, 2, inf, 2, 3, 3, 3])  # most runs of the fourth point are infinite
    high = np.array([2.0, 3, inf, inf, inf, 4, 4, 4])
    ax = Figure().subplots()
    ax.set_yscale("log", nonpositive="mask")
    draw_all_over_parameter(ax, PanelDrawing("a", "", (replace(ONE, low=low, high=high),)))
    (band,) = ax.collections
    first, second = (np.asarray(path.vertices) for path in band.get_paths())
    assert {*first[:, 0]} == {0, 1, 2}
    assert {*second[:, 0]} == {4, 5, 6, 7}
    assert first[:, 1].max() == second[:, 1].max() > 1e300
    assert ax.get_ylim()[1] < 100


def test_a_stopping_time_that_is_not_known_is_an_arrow_at_the_right_end() -> None:
    def times(*numbers: float) -> curves.Series:
        low, centre, high = (np.array([number]) for number in numbers)
        return replace(ONE, x=np.array([0.1]), low=low, centre=centre, high=high)

    series = times(10, 20, 30), times(15, 40, np.inf), times(np.inf, np.inf, np.inf)
    draw = plotting.drawing_function("across", "stopping_times")
    (ax,) = rendered(draw, Drawing("", (PanelDrawing("a", "", series),)))[0].axes
    bars, marks = ax.get_lines()[::2], ax.get_lines()[1::2]
    end = ax.get_xlim()[1]
    assert [tuple(np.asarray(bar.get_xdata())) for bar in bars] == [(10, 30), (15, end), (end, end)]
    assert [(*np.asarray(mark.get_xdata()), mark.get_marker()) for mark in marks] == [
        (20, "o"),
        (40, "o"),
        (end, ">"),
    ]


@pytest.mark.parametrize(
    ("over", "shows", "runs", "x", "y"),
    [
        ("delta", "regret", 5, r"Privacy parameter $\delta$", "Regret at the horizon"),
        ("alpha", "regret", 5, r"$\alpha$", "Regret at the horizon"),
        ("gap", "samples", 5, "gap", "Samples used"),
        ("arms", "regret", 0, "Number of arms $K$", "Value of the bound"),
        ("epsilon", "audited", 5, r"Privacy budget $\epsilon$", r"$\epsilon$"),
    ],
)
def test_a_parameter_and_what_is_drawn_over_it_have_names(
    over: str, shows: str, runs: int, x: str, y: str
) -> None:
    ax = Figure().subplots()
    # A bound before it has no effect: it takes the unit of the played curves.
    quantity = VALUE if not runs else kinds.quantities()[shows]
    bound = replace(ONE, runs=0, over=over, shows=VALUE)
    draw_all_over_parameter(
        ax, PanelDrawing("a", "", (bound, replace(ONE, over=over, shows=quantity, runs=runs)))
    )
    assert (ax.get_xlabel(), ax.get_ylabel()) == (x, y)


def test_panels_that_share_an_axis_share_the_limits_of_all_of_their_curves() -> None:
    low = replace(ONE, x=np.array([1.0, 50.0]), centre=np.array([200.0, 300.0]))
    low = replace(low, low=low.centre, high=low.centre)
    high = replace(low, x=np.array([1.0, 100.0]), centre=1000 * low.centre)
    high = replace(high, low=high.centre, high=high.centre)
    panels = tuple(PanelDrawing(letter, "", (s,)) for letter, s in (("a", high), ("b", low)))
    _, axes = panel_grid(Drawing("", panels), columns=2, height=2)
    for ax, panel in zip(axes, panels, strict=True):
        draw_regret_over_time(ax, panel)
    assert {ax.get_xlim() for ax in axes} == {(0, 100)}
    ((bottom, top),) = {ax.get_ylim() for ax in axes}
    assert 10 < bottom <= 100
    assert 300_000 <= top < 3_000_000


def test_a_curve_s_own_line_and_colour_are_drawn_as_they_are_asked_for() -> None:
    own_line = replace(ONE, look=StyleOverride(line=":"))
    own_colour = replace(ONE, look=StyleOverride(colour="#009E73"))
    panel = PanelDrawing("a", "", (ONE, own_line, own_colour, ONE))
    lines = draw_all_over_time(Figure().subplots(), panel)
    assert [line.get_linestyle() for line in lines] == ["-", ":", "-", ":"]
    faces = [line.get_markerfacecolor() for line in lines]
    assert faces == ["white", lines[0].get_color(), "white", lines[0].get_color()]


# Appearance ---------------------------------------------------------------------------------------


def rendered(
    draw: Callable[[Drawing], Figure], drawing: Drawing
) -> tuple[Figure, dict[str, bytes]]:
    seen: list[Figure] = []
    files = plotting.render(draw, drawing, "", seen.append)
    return seen[0], files


def two_panels(drawing: Drawing) -> Figure:
    figure, axes = panel_grid(drawing, columns=2, height=3.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_regret_over_time(ax, panel)
    legend_below(figure, handles, columns=4)
    return figure


def panels(*labels: str) -> tuple[PanelDrawing, ...]:
    series = tuple(replace(ONE, label=label, legend=label) for label in labels)
    return tuple(PanelDrawing(letter, "One budget", series) for letter in "ab")


@pytest.mark.parametrize("place", [None, "right"])
@pytest.mark.parametrize("width", [None, "column", 5])
@pytest.mark.parametrize("number", [2, 7, 16])
def test_every_legend_lies_within_the_picture(
    number: int, width: str | float | None, place: str | None
) -> None:
    labels = [f"DP-UCB (azize2022-dp-ucb{i})" for i in range(number)]
    look = Appearance(width=width, legend=place, format="png")
    for draw in (two_panels, plotting.drawing_function("across", "comparison")):
        figure, _ = rendered(draw, Drawing("", panels(*labels), appearance=look))
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == labels
        box = legend.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width
        assert 0 <= box.y0 < box.y1 <= figure.bbox.height
        for frame in (ax.get_window_extent() for ax in figure.axes):
            assert frame.height > 150  # pixels: rows of the legend take no room from panels
            assert not frame.overlaps(box)


def test_the_appearance_is_that_of_the_keys() -> None:
    usual, files = rendered(two_panels, Drawing("", panels("A", "B")))
    assert [*files] == ["pdf", "svg", "png"]
    asked = Appearance("column", 12, True, "none", "log", "linear", "svg")
    figure, files = rendered(two_panels, Drawing("", panels("A", "B"), appearance=asked))
    assert [*files] == ["svg"]
    assert (figure.get_figwidth(), figure.legends) == (plotting.COLUMN, [])
    for ax, before, letter in zip(figure.axes, usual.axes, "ab", strict=True):
        assert (before.get_title(), ax.get_title()) == (f"({letter}) One budget", f"({letter})")
        assert (before.get_xscale(), before.get_yscale()) == ("linear", "log")
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
        assert [each.xaxis.label.get_fontsize() for each in (ax, before)] == [12, 8]
        assert ax.get_ylim()[1] == pytest.approx(8, rel=0.1)  # the data, not the other axis'


@pytest.mark.parametrize(("factor", "scale"), [(9, "linear"), (11, "log")])
def test_the_regrets_of_a_comparison_are_on_a_linear_axis_if_they_are_near(
    factor: float, scale: str
) -> None:
    low = replace(ONE, centre=np.where(ONE.x < 6, 1e-3, ONE.centre), low=0 * ONE.x)
    high = replace(ONE, label="B", legend="B", centre=factor * ONE.centre, high=factor * ONE.high)
    draw = plotting.drawing_function("across", "comparison")
    (ax,) = rendered(draw, Drawing("", (PanelDrawing("a", "", (low, high)),)))[0].axes
    assert ax.get_yscale() == scale
    if scale == "log":  # no decades of the start alone
        assert ax.get_ylim()[0] == ONE.centre[-1] / 4


@pytest.mark.usefixtures("in_checkout")
def test_appearance_changes_neither_numbers_nor_the_paper_s_own_files() -> None:
    plain, settings = compose.load("adap-c2", [])
    for key in ("width=column", "y_axis=linear", "format=png", "curves.dp-se.colour=C1"):
        changed, others = compose.load("adap-c2", [f"++figure.{key}"])
        assert changed != plain
        assert (changed.changes, changed.runs_of_experiments()) == ((), plain.runs_of_experiments())
        assert others.folder("adap-c2").parent == settings.folder("adap-c2")
        produce.refuse_undrawable(changed)
    wrong, _ = compose.load("adap-c2", ["++figure.curves.dp-se.colour=tab:bleu"])
    with pytest.raises(UserError, match=r"'tab:bleu' is no colour of matplotlib; .*'tab:blue'"):
        produce.refuse_undrawable(wrong)
    with pytest.raises(UserError, match=r"must be column, page or inches .* \(command line\)"):
        compose.load("adap-c2", ["figure.width=wide"])


@pytest.mark.usefixtures("in_checkout")
def test_limits_of_the_original_are_those_of_its_own_game() -> None:
    draw = plotting.drawing_function("azize2022", "headline")
    for factor, changes, kept in ((3e4, "", True), (3e4, "horizon = 5", False), (9, "", False)):
        high = replace(ONE, centre=factor * ONE.centre, high=factor * ONE.centre)
        drawing = Drawing("", (PanelDrawing("a", "", (high,)),), changes, annotated=False)
        with matplotlib.style.context(plotting.style_file()):
            assert (draw(drawing).axes[0].get_ylim() == (0.1, 3e5)) == kept


def test_curves_of_pulls_are_no_regret() -> None:
    pulls = replace(ONE, shows=PULLS)
    for series, names in (((pulls,), ["Pulls"]), ((ONE, pulls), ["Regret", "Pulls"])):
        for draw, at in ((draw_all_over_time, ""), (draw_all_over_parameter, " at the horizon")):
            draw(ax := Figure().subplots(), PanelDrawing("a", "", series))
            assert ax.get_ylabel() == ", ".join(f"{name}{at}" for name in names)
