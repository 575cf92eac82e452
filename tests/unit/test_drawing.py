"""Drawing: how curves of one algorithm differ, how labels are drawn, limits and ticks of axes."""

from dataclasses import replace
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from dpbandits.core.errors import UserError
from dpbandits.drawing import formulas, plotting
from dpbandits.drawing.annotations import write_slopes
from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing, drawing_function
from dpbandits.drawing.shapes import (
    HEADING,
    blocks_of_rows,
    draw_all_over_parameter,
    draw_all_over_time,
    draw_log_over_parameter,
    draw_over_time,
    draw_regret_over_time,
    name_axes,
    write_decades,
)
from dpbandits.drawing.styles import in_mathtext
from dpbandits.tables.series import STATISTICS, Series

NUMBERS: dict[str, Any] = dict.fromkeys(STATISTICS, np.arange(1.0, 9.0))
ONE = Series(
    panel="a",
    label="AdaP-UCB (alpha=3.1)",
    legend="AdaP-UCB (alpha=3.1)",
    style="adap-ucb",
    runs=2,
    slope=None,
    x=np.arange(8.0),
    **NUMBERS,
)


@pytest.mark.parametrize("draw", [draw_all_over_time, draw_all_over_parameter])
def test_a_second_curve_of_an_algorithm_has_another_line_and_filled_markers(draw: Any) -> None:
    styles = ("adap-ucb", "adap-klucb", "adap-ucb", "bound", "transition", "bound", "transition")
    panel = PanelDrawing("a", "", tuple(replace(ONE, style=style) for style in styles))
    lines = draw(Figure().subplots(), panel)
    first, other, second, bound, dot, second_bound, second_dot = lines
    assert first.get_color() == second.get_color() != other.get_color()
    assert first.get_marker() == second.get_marker()
    looks = [(line.get_linestyle(), line.get_markerfacecolor()) for line in lines]
    assert looks[0] == looks[1] == ("-", "white")
    assert looks[2] == ("--", second.get_color())
    assert (bound.get_linestyle(), second_bound.get_linestyle()) == ("--", ":")
    assert dot.get_linestyle() == second_dot.get_linestyle() == "None"
    assert dot.get_markerfacecolor() == second_dot.get_markerfacecolor() == "white"


def test_settings_of_matplotlib_do_not_reach_a_picture() -> None:
    def draw(drawing: Drawing) -> Figure:
        figure = Figure()
        draw_all_over_time(figure.subplots(), drawing.panels[0])
        return figure

    drawing = Drawing("", (PanelDrawing("a", "", (ONE,)),))
    usual = plotting.render(draw, drawing, "")
    with matplotlib.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "red"}):
        assert plotting.render(draw, drawing, "") == usual


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("fit", [None, (0.25, 16.0)])
def test_slopes_are_written_below_their_range_in_the_corner_that_is_asked_for(
    fit: tuple[float, float] | None, left: bool
) -> None:
    ax = Figure().subplots()
    steep, other = replace(ONE, slope=1.25, fit=fit), replace(ONE, slope=None, fit=fit)
    write_slopes(ax, PanelDrawing("a", "", (steep, other)), "K", left)
    texts: list[Any] = [*ax.texts]
    heading, first, second = texts
    assert heading.get_text() == "Least-squares fit" + (", 0.25 to 16" if fit else "")
    assert first.get_text().endswith(r"  $\propto K^{1.25}$")
    assert second.get_text().endswith("  no power law")
    for row, text in enumerate(texts):
        assert text.xy == (0 if left else 1, 0)
        assert text.xyann == (5 if left else -4, 26 - 11 * row)
        assert text.get_horizontalalignment() == ("left" if left else "right")


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        (r"Regret, $\epsilon = 0.25$", "Regret, ε = 0.25"),
        (r"$T^{-1}$ and $x_i$ cost \$5", "T⁻¹ and xᵢ cost $5"),
        (r"$\lceil \log T\rceil$ - $a-b$", "⌈log T⌉ - a−b"),
        (r"$\mathrm{KL}\!(p, q)$", "KL(p, q)"),
        (r"one $ alone", "one $ alone"),
        (r"$\sqrt{2 \log(t)/n}\,x$", "√(2 log(t)/n) x"),
        (r"$x^/$, $x_{/|}$", "x^/, x_(/|)"),
        (r"$T^{a+b}$, $T^{ab}$, $T^*$", "T^(a+b), T^ab, T*"),
    ],
)
def test_mathematics_is_converted_to_unicode(text: str, converted: str) -> None:
    assert formulas.plain(text) == converted


@pytest.mark.parametrize(
    ("label", "drawn"),
    [
        ("AdaP-UCB (alpha=3.1)", r"AdaP-UCB ($\alpha=3.1$)"),
        ("DP-UCB (gamma=0.1, epsilon=1)", r"DP-UCB ($\gamma=0.1$, $\epsilon=1$)"),
        ("DP-SE (arms=3)", "DP-SE (arms=3)"),
        ("Lower bound (Thm 3)", "Lower bound (Thm 3)"),
        ("2000 (t_0 + t_1)", "2000 ($t_0$ + $t_1$)"),
        ("EXP3_tau", r"EXP3$_\tau$"),
        ("DP-SE (delta=0)", r"DP-SE ($\delta=0$)"),
        ("DP-SE (epsilon/2)", r"DP-SE ($\epsilon/2$)"),
    ],
)
def test_a_parameter_in_a_label_is_drawn_as_its_letter(label: str, drawn: str) -> None:
    assert in_mathtext(label) == drawn


def test_episodes_are_drawn_of_any_run_that_has_room_and_refused_where_steps_are_missing() -> None:
    draw = drawing_function("azize2022", "episodes")

    def drawing(arms: list[int], steps: list[float]) -> Drawing:
        pulls = np.cumsum([[float(arm == a) for arm in arms] for a in (1, 2)], axis=1)
        series = tuple(replace(ONE, x=np.array(steps), centre=own) for own in pulls)
        return Drawing("Episodes", (PanelDrawing("a", "", series),))

    original = [1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 2, 2]
    for steps in (3, 4, 7, 12):
        ax = draw(drawing(original[:steps], [*range(1, steps + 1)])).axes[0]
        starts = sorted({float(np.asarray(line.get_xdata())[0]) for line in ax.lines})
        assert starts == [start for start in (2, 3, 5, 6, 10) if start < steps]
        shades = [patch.get_alpha() for patch in ax.patches]
        assert shades.count(0.6) == 2  # each arm's last episode before the marked one
    label = draw(drawing(original, [*range(1, 13)])).axes[0].get_xlabel()
    assert "t_{4}" in label
    assert "(r_{4}+r_{5})/2" in label
    assert "r_{6} +" in label
    for arms, numbers in (([1, 2], [1, 2]), ([1, 2, 1], [1, 2, 20])):
        with pytest.raises(UserError, match="Episodes: the picture has room for 3 to 14 steps"):
            draw(drawing(arms, [float(step) for step in numbers]))


# Axes --------------------------------------------------------------------------------------------

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


def test_without_curves_axes_have_a_decade_over_time_and_no_limits_over_a_parameter() -> None:
    ax, other = Figure().subplots(1, 2)
    draw_regret_over_time(ax, NONE)
    np.testing.assert_allclose(ax.dataLim.get_points(), [[0.0, 1.0], [1.0, 10.0]])
    before = other.dataLim.get_points().copy()
    draw_log_over_parameter(other, NONE)
    np.testing.assert_array_equal(other.dataLim.get_points(), before)


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
