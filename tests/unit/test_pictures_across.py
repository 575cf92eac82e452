"""Figures across papers as a reader sees them: nothing is cut, every line has a legend entry."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
import pytest
from commands import ROOT
from composed import load
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from dpbandits.core.errors import UserError
from dpbandits.curves import references
from dpbandits.curves.series import STATISTICS, Series
from dpbandits.drawing import plotting
from dpbandits.drawing.plotting import Drawing, PanelDrawing, drawing_function
from dpbandits.factory import produce
from dpbandits.spec.figure import Quantity

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("in_checkout")]

READINGS = tuple(f"readings-{key}" for key in ("tossou2016", "sajed2019", "azize2022", "azize2025"))
OURS = (*READINGS, "horizons", "leaderboard-epsilon", "leaderboard", "privacy-audit")
NUMBERS: dict[str, Any] = dict.fromkeys(STATISTICS, np.arange(1.0, 9.0))
ONE = Series(
    panel="a",
    label="DP-UCB",
    legend="DP-UCB",
    style="dp-ucb",
    runs=2,
    slope=None,
    x=np.arange(1.0, 9.0),
    **NUMBERS,
)


@cache
def reference(name: str) -> Drawing:
    """Return the input of a figure's drawing function, from its committed numbers."""
    spec, _ = load(name, [])
    return produce.drawing(spec, references.read(spec, references.PAPER))


@cache
def as_saved(name: str) -> Figure:
    """Return the figure, laid out as for its files and at the resolution of its picture."""
    spec, _ = load(name, [])
    with matplotlib.style.context(plotting.style_file(), after_reset=True):
        figure = drawing_function(spec.paper, spec.draw)(reference(name))
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        figure.set_dpi(matplotlib.rcParams["savefig.dpi"])
        FigureCanvasAgg(figure)
    return figure


def legends(figure: Figure) -> list[Legend]:
    return [*figure.legends, *filter(None, (ax.get_legend() for ax in figure.axes))]


def texts(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Yield every visible text and its position, with the tick labels of an axis as one text."""
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    several: list[Text] = [*figure.texts]
    for legend in legends(figure):
        several += [*legend.get_texts(), legend.get_title()]
    for ax in figure.axes:
        several += [ax.title, *ax.texts]
        for axis in (ax.xaxis, ax.yaxis) if ax.axison else ():
            if (box := axis.get_tightbbox(renderer)) is not None:
                yield f"axis of {ax.get_title()}", box
    for text in several:
        if text.get_visible() and text.get_text():
            yield text.get_text(), text.get_window_extent(renderer)


@pytest.mark.parametrize("name", OURS)
def test_no_text_is_cut_at_the_edge(name: str) -> None:
    figure = as_saved(name)
    page = figure.bbox.padded(1)
    for text, box in texts(figure):
        assert (page.x0 <= box.x0) & (box.x1 <= page.x1), text
        assert (page.y0 <= box.y0) & (box.y1 <= page.y1), text


@pytest.mark.parametrize("name", OURS)
def test_titles_headings_and_legends_do_not_run_into_one_another(name: str) -> None:
    figure = as_saved(name)
    renderer: Any = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    titles = [(ax.get_title(), ax.title) for ax in figure.axes if ax.get_title()]
    boxes = [(text, title.get_window_extent(renderer)) for text, title in titles]
    boxes += [("a legend", legend.get_window_extent(renderer)) for legend in legends(figure)]
    for i, (text, box) in enumerate(boxes):
        for other, theirs in boxes[:i]:
            assert not box.overlaps(theirs), (text, other)


# Variants -----------------------------------------------------------------------------------------


def panels_of(figure: Figure) -> list[Axes]:
    return [ax for ax in figure.axes if ax.axison]


def look(line: Line2D) -> tuple[Any, ...]:
    return line.get_color(), line.get_marker(), line.get_linestyle(), line.get_linewidth()


@pytest.mark.parametrize("name", READINGS)
def test_a_variant_has_a_filled_median_and_a_hollow_mean_over_the_mean_of_the_first(
    name: str,
) -> None:
    for ax, panel in zip(panels_of(as_saved(name)), reference(name).panels, strict=True):
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        hollow = [line for line in dots if line.get_markerfacecolor() == "white"]
        filled = [line for line in dots if line not in hollow]
        for several, column in ((filled, "median"), (hollow, "mean")):
            expected = [getattr(s, column)[-1] / panel.series[0].mean[-1] for s in panel.series]
            assert [float(np.ravel(line.get_xdata())[0]) for line in several] == expected
        assert len(ax.get_yticklabels()) == len(panel.series)


@pytest.mark.parametrize("name", READINGS)
def test_the_first_variant_is_the_one_of_the_other_figures_and_is_bold(name: str) -> None:
    labelled = [ax.get_yticklabels() for ax in panels_of(as_saved(name))]
    named = [labels for labels in labelled if labels[0].get_text()]
    assert len(named) == len({panel.row for panel in reference(name).panels})
    for labels in named:
        assert [label.get_fontweight() == "bold" for label in labels] == [True] + [False] * (
            len(labels) - 1
        )


def test_every_curve_of_a_leaderboard_has_a_small_panel_with_its_factors_to_the_lowest() -> None:
    figure, drawing = as_saved("leaderboard-epsilon"), reference("leaderboard-epsilon")
    titles = [ax.get_title() for ax in panels_of(figure)]
    assert len(titles) == sum(len(panel.series) for panel in drawing.panels)
    lowest = min(s.centre[-1] for s in drawing.panels[0].series)
    for series in drawing.panels[0].series:
        (title,) = (each for each in titles[:11] if each.startswith(f"{series.legend}\n"))
        factor = float(title.rpartition(" ")[2].replace(",", ""))
        assert factor == pytest.approx(series.centre[-1] / lowest, rel=0.05)


# Regret over log T -------------------------------------------------------------------------------


def test_markers_at_both_ends_of_the_horizons_are_whole_and_the_legend_has_every_line() -> None:
    figure = as_saved("horizons")
    (legend,) = legends(figure)
    handles = [h for h in legend.legend_handles if isinstance(h, Line2D)]
    for ax in panels_of(figure):
        assert [look(line) for line in ax.lines] == [look(handle) for handle in handles]
        for line in ax.lines:
            first, last = np.asarray(line.get_xdata())[[0, -1]]
            assert ax.get_xlim()[0] < first < last < ax.get_xlim()[1]
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "Horizon $T$", "Horizon $T$"]


# Privacy audit -----------------------------------------------------------------------------------


def of_two_budgets(label: str, style: str, means: tuple[float, float], **more: Any) -> Series:
    numbers: dict[str, Any] = dict.fromkeys(("mean", "centre", "low"), np.array(means))
    numbers |= {"std": np.zeros(2), "high": np.array(means) * 1.5, "x": np.array([0.1, 1.0])}
    return replace(ONE, label=label, legend=label, style=style, **{**numbers, **more})


def audit() -> Figure:
    shown = {
        Quantity.CLAIMED: ((0.5, 4.0), (0.5, 4.0)),
        Quantity.COMPOSED: ((0.25, 2.0), (32.72, math.inf)),
        Quantity.AUDITED: ((0.0, 1.5), (4.096, 3.0)),
        Quantity.ONE_CHOICE: ((0.0, 0.5), (0.05, 1.0)),
    }
    panels = [
        PanelDrawing(
            letter,
            "",
            tuple(
                of_two_budgets(label, style, means, shows=shows, x=np.array([0.5, 4.0]))
                for label, style, means in zip("AB", ("adap-ucb", "dp-se"), several, strict=True)
            ),
            row="per-round DP",
            column="any words",
        )
        for letter, (shows, several) in zip("abcd", shown.items(), strict=True)
    ]
    return drawing_function("across", "privacy_audit")(Drawing("Audit", tuple(panels)))


def written(ax: Axes) -> set[tuple[str, float, float]]:
    return {(text.get_text(), *getattr(text, "xy", text.get_position())) for text in ax.texts}


def test_budgets_have_a_block_a_notion_a_column_a_budget_and_values_where_they_leave_it() -> None:
    above, other, half, four = audit().axes
    assert [ax.get_title() for ax in (above, other)] == [
        r"given $\epsilon = 0.5$",
        r"given $\epsilon = 4$",
    ]
    assert [text.get_text() for text in half.get_yticklabels()] == ["A", "B"]

    def marks(ax: Axes) -> set[tuple[str, float, float]]:
        several = ((line.get_marker(), *np.ravel(line.get_xydata())) for line in ax.lines)
        return {(str(marker), float(x), float(row)) for marker, x, row in several}

    def bars(ax: Axes) -> list[float]:
        return [bar.get_width() for bar in ax.patches if isinstance(bar, Rectangle)]

    edge = half.get_xlim()[1]
    assert edge == pytest.approx(1.15)
    assert marks(half) == {
        *{("|", 0.5, 0), ("|", 0.5, 1), ("D", 0.25, 0), (">", edge, 1)},
        *{("o", 0.0, 0), ("o", 0.05, 1)},
    }
    # A bound of 0 is not a missing bar, and a bar that ends at the edge has a value beyond it.
    assert bars(half) == [0.0, edge]
    assert written(half) == {
        ("0", 0, 0),
        (r"4.1$\,\rightarrow$", edge, 1),
        ("32.7", edge, 1),
    }
    assert bars(four) == [1.5, 3.0]
    assert (">", four.get_xlim()[1], 1) in marks(four)
    assert written(four) == {(r"$\infty$", four.get_xlim()[1], 1)}


def test_every_mark_of_an_audit_is_in_its_legend() -> None:
    figure = audit()
    (legend,) = figure.legends
    handles = {str(h.get_marker()) for h in legend.legend_handles if isinstance(h, Line2D)}
    assert handles == {str(line.get_marker()) for ax in figure.axes for line in ax.lines}
    assert any(isinstance(handle, Rectangle) for handle in legend.legend_handles)  # for a bar
    assert not any(line.get_clip_on() for ax in figure.axes for line in ax.lines)


# Leaderboard -------------------------------------------------------------------------------------


def board() -> Figure:
    # On C1 AdaP-UCB is first at both budgets, on C2 at one; DP-SE is second. Its panels are
    # separate but share its row and column.
    def panel(
        row: str, column: str, label: str, style: str, means: tuple[float, float]
    ) -> PanelDrawing:
        return PanelDrawing("a", "", (of_two_budgets(label, style, means),), row, column)

    panels = (
        panel("Pure", "C1", "DP-SE (epsilon/2)", "dp-se", (30.0, 3.0)),
        panel("Pure", "C2", "DP-SE (epsilon/2)", "dp-se", (40.0, 6.0)),
        panel("Pure", "C1", "AdaP-UCB", "adap-ucb", (20.0, 2.0)),
        panel("Pure", "C2", "AdaP-UCB", "adap-ucb", (50.0, 5.0)),
        panel("Other", "C1", "X", "ucb", (0.0, 9.0)),
        panel("Other", "C2", "X", "ucb", (7.0, 8.0)),
    )
    return drawing_function("across", "leaderboard")(Drawing("Board", panels))


def test_a_leaderboard_has_a_block_a_notion_and_its_rows_by_their_mean_rank() -> None:
    _, _, _, c1, c2, mean_rank, *_, other, _, _ = board().axes
    assert [text.get_text() for text in c1.get_yticklabels()] == [
        "AdaP-UCB",
        r"DP-SE ($\epsilon/2$)",
    ]
    assert [text.get_text() for text in other.get_yticklabels()] == ["X"]

    def marked(ax: Axes) -> list[tuple[float, float, bool]]:
        # Number, row and hollowness of every marker.
        marks = [line for line in ax.lines if line.get_marker() != "None"]
        places = [(*np.ravel(line.get_xydata()), line.get_markerfacecolor()) for line in marks]
        return sorted((x, round(y), face == "white") for x, y, face in places)

    assert marked(c1) == [(2, 0, True), (3, 1, True), (20, 0, False), (30, 1, False)]
    assert marked(c2) == [(5, 0, True), (6, 1, True), (40, 1, False), (50, 0, False)]
    assert marked(mean_rank) == [(1, 0, True), (1.5, 0, False), (1.5, 1, False), (2, 1, True)]
    bars = [np.ravel(line.get_xdata()) for line in c1.lines if line.get_marker() == "None"]
    assert sorted(tuple(bar.tolist()) for bar in bars) == [(2, 3), (3, 4.5), (20, 30), (30, 45)]
    assert c1.get_xlim() == c2.get_xlim() == other.get_xlim() == pytest.approx((1.2, 85))


def test_a_leaderboard_explains_its_bars_its_markers_and_its_ranks() -> None:
    figure = board()
    (legend,) = figure.legends
    *markers, bar = [h for h in legend.legend_handles if isinstance(h, Line2D)]
    assert [h.get_markerfacecolor() for h in markers] == ["black", "white"]
    widths = [
        line.get_linewidth()
        for ax in figure.axes
        for line in ax.lines
        if line.get_marker() == "None"
    ]
    assert {*widths, bar.get_linewidth()} == {3.5}  # visible beside the marker, not a hairline
    assert figure.axes[-1].get_xlabel() == "Rank (1 is the\nlowest regret)"


def test_no_label_of_a_leaderboard_is_grey_for_what_it_says() -> None:
    axes = panels_of(board())
    labels = [text for ax in axes for text in ax.get_yticklabels() if text.get_text()]
    assert len(labels) == 3
    assert len({text.get_color() for text in labels}) == 1


# Files of drawing functions ----------------------------------------------------------------------


def test_a_drawing_function_may_have_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text("")
    (tmp_path / "figures" / "style").mkdir(parents=True)
    style = (ROOT / "figures" / "style" / "paper.mplstyle").read_text()
    (tmp_path / "figures" / "style" / "paper.mplstyle").write_text(style)
    (tmp_path / "figures" / "mine.py").write_text("def near(drawing):\n    return 1\n")
    own = tmp_path / "figures" / "mine" / "apart.py"
    own.parent.mkdir()
    own.write_text("def apart(drawing):\n    return 2\n")
    monkeypatch.chdir(tmp_path)
    nothing: Any = None
    drawings: list[Any] = [drawing_function("mine", name)(nothing) for name in ("near", "apart")]
    assert drawings == [1, 2]
    before = plotting.style_digest("mine")
    own.write_text("def apart(drawing):\n    return 3\n")
    assert plotting.style_digest("mine") != before
    with pytest.raises(UserError, match=r"no function 'aparx'; did you mean 'apart'"):
        drawing_function("mine", "aparx")
    own.write_text("import nonesuch\n")
    wanted = "^the drawing of mine: figures/mine/apart.py, line 1: ModuleNotFoundError: No module"
    with pytest.raises(UserError, match=wanted):
        drawing_function("mine", "apart")
