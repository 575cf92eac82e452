"""Figures of our own, across papers; figures/across/ has those with a file of their own."""

import re
from itertools import cycle, groupby
from textwrap import fill
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits.curves.series import Series
from dpbandits.drawing.annotations import legend_below
from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    ROUND,
    draw_all_over_time,
    draw_log_over_parameter,
    draw_over_time,
    name_axes,
    panel_grid,
)
from dpbandits.drawing.styles import Style, in_mathtext, style_of_curve


class Stroke(NamedTuple):
    """Look of a reading; readings that end alike must remain visible under one another."""

    style: Style
    width: float
    depth: int


# Looks of the other readings of an algorithm, taken in turn unless an algorithm of the row has the
# colour: colours of Okabe and Ito and of Tol, each with its own marker.
ALTERNATIVES = (
    Style("#0072B2", "^", "--"),
    Style("#D55E00", ">", ":"),
    Style("#009E73", "s", "-."),
    Style("#E69F00", "<", "-."),
    Style("#332288", "v", "--"),
    Style("#999933", "p", ":"),
    Style("#56B4E9", "h", "-."),
    Style("#882255", "8", "--"),
)
LINE = 0.16  # inches: height of a text line above a row
BOLD, PLAIN, HANDLE = 96, 108, 9  # characters per line of a heading and a legend; per handle
UNBROKEN, BREAKABLE = {32: "\xa0", 45: "\u2011"}, {0xA0: " ", 0x2011: "-"}  # for textwrap


def readings_side_by_side(drawing: Drawing) -> Figure:
    """Regret over the last two decades of rounds, log-log, with a legend for each row of panels.

    The legend is above the panels, below the row's heading. With a single row, its panels are
    arranged two by two.
    """
    rows = [list(panels) for _, panels in groupby(drawing.panels, key=lambda p: p.row)]
    columns = max(map(len, rows)) if len(rows) > 1 else min(2, len(rows[0]))
    inner = 1.15 if len(rows) > 1 else 1.6
    heights: list[float] = []
    for panels in rows:
        texts = _legend_texts(panels)
        lines = _heading(panels).count("\n") + 1 + -(-len(texts) // _legend_columns(texts))
        heights += [LINE * (lines + 0.7), *[inner] * -(-len(panels) // columns)]
    figure = Figure(figsize=(PAGE, sum(heights) + 0.42 * (len(heights) - len(rows)) + 0.2))
    figure.set_layout_engine("constrained", h_pad=0.02, w_pad=0.03)
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    row = 0
    for panels in rows:
        strokes, handles = _strokes(panels), dict[str, Line2D]()
        above = figure.add_subplot(grid[row, :])
        first: Axes | None = None
        for i, panel in enumerate(panels):
            place = grid[row + 1 + i // columns, i % columns]
            ax = figure.add_subplot(place, sharey=first)
            ax.tick_params(labelleft=i % columns == 0)
            ax.set_title(f"({panel.letter}) {panel.title}", size=8 if columns <= 2 else 7)
            handles |= _last_decades(ax, panel, strokes)
            first = first or ax
        if first:
            _show_what_is_seen(first, panels)
        _legend_of_row(above, panels, handles)
        row += 1 + -(-len(panels) // columns)
    for ax in figure.axes:
        if ax.axison:
            name_axes(ax, ROUND, "Regret")
    return figure


def _legend_of_row(above: Axes, panels: list[PanelDrawing], handles: dict[str, Line2D]) -> None:
    above.set_axis_off()
    texts = _legend_texts(panels)
    legend = above.legend(
        handles.values(),
        texts,
        title=_heading(panels),
        title_fontproperties={"weight": "bold", "size": 8},
        alignment="left",
        loc="center left",
        borderaxespad=0,
        borderpad=0,
        ncols=_legend_columns(texts),
    )
    legend.set_in_layout(False)


def _heading(panels: list[PanelDrawing]) -> str:
    # Lines are broken at spaces and hyphens, but not within a formula.
    row = re.sub(r"\$[^$]*\$", lambda formula: formula[0].translate(UNBROKEN), panels[0].row)
    return in_mathtext(fill(row, BOLD).translate(BREAKABLE))


def _legend_texts(panels: list[PanelDrawing]) -> list[str]:
    # Curves of the row's own algorithm are named by their reading alone.
    return [in_mathtext(s.reading or s.legend) for s in _first_of_label(panels)]


def _legend_columns(texts: list[str]) -> int:
    # As many columns as fit beside one another; matplotlib fills a legend column by column.
    for columns in range(len(texts), 1, -1):
        widest = [max(map(len, column)) for column in np.array_split(texts, columns)]
        if sum(widest) + HANDLE * columns <= PLAIN:
            return columns
    return 1


def _last_decades(ax: Axes, panel: PanelDrawing, strokes: dict[str, Stroke]) -> dict[str, Line2D]:
    # The lines by label.
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="mask")
    lines = {}
    for i, series in enumerate(panel.series):
        stroke = strokes[series.label]
        line = draw_over_time(ax, series, i, style=stroke.style)
        line.set(linewidth=stroke.width, zorder=stroke.depth)
        lines[series.label] = line
    x = panel.series[0].x
    ax.set_xlim(_start(x), x[-1])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(base=10, numticks=9))
        axis.set_minor_formatter(NullFormatter())
    return lines


def _start(x: np.ndarray) -> float:
    # Before the last two decades every reading explores, and nearly all curves coincide.
    return max(1.0, float(x[-1]) / 100)


def _show_what_is_seen(ax: Axes, panels: list[PanelDrawing]) -> None:
    # A regret of 0 is off a logarithmic axis.
    series = [series for panel in panels for series in panel.series]
    seen = np.concatenate([s.centre[(s.x >= _start(s.x)) & (s.centre > 0)] for s in series])
    if seen.size:
        ax.set_ylim(0.7 * seen.min(), 1.4 * seen.max())


def _strokes(panels: list[PanelDrawing]) -> dict[str, Stroke]:
    # By label. The first curve has its algorithm's own style, broad and below the rest. A curve
    # whose look is set in the figure's file is thin and on top.
    curves = _first_of_label(panels)
    own = {style_of_curve(series).colour for series in curves}
    others = cycle([style for style in ALTERNATIVES if style.colour not in own])
    strokes: dict[str, Stroke] = {}
    met: set[str] = set()
    for series in curves:
        if series.look.colour:
            stroke = Stroke(style_of_curve(series), width=0.7, depth=5)
        elif series.style in met:
            stroke = Stroke(next(others), width=1.2, depth=4)
        elif met:
            stroke = Stroke(style_of_curve(series), width=1.2, depth=3)
        else:
            stroke = Stroke(style_of_curve(series), width=2.4, depth=3)
        strokes[series.label] = stroke
        met.add(series.style)
    return strokes


def _first_of_label(panels: list[PanelDrawing]) -> list[Series]:
    series_by_label: dict[str, Series] = {}
    for panel in panels:
        for series in panel.series:
            series_by_label.setdefault(series.label, series)
    return list(series_by_label.values())


def against_horizon(drawing: Drawing) -> Figure:
    """Regret over log T against the horizon, log-log, with the lower bound."""
    figure, axes = panel_grid(drawing, columns=2, height=5.0, equal="row")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
    legend_below(figure, handles, columns=3)
    return figure


def leaderboard_view(drawing: Drawing) -> Figure:
    """Regret against a parameter, log-log; a row per notion of privacy, its legend beside it."""
    columns = 2
    rows = -(-len(drawing.panels) // columns)
    figure, axes = panel_grid(drawing, columns, height=0.3 + 2.3 * rows, equal="row")
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        handles = draw_log_over_parameter(ax, panel)
        ax.set_title(ax.get_title(), size=8)
        if i % columns == columns - 1:
            ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1), fontsize=6)
    return figure


def regret_by_gaps_and_rewards(drawing: Drawing) -> Figure:
    """Mean regret with its band over the rounds, a panel for each regret; both axes linear."""
    figure, axes = panel_grid(drawing, columns=2, height=3.2)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_all_over_time(ax, panel)
        ax.set_xlim(0, panel.series[0].x[-1])
        ax.ticklabel_format(axis="x", style="sci", scilimits=(0, 4), useMathText=True)
    legend_below(figure, handles, columns=4)
    return figure
