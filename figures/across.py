"""Figures of our own, across papers; figures/across/ has those with a file of their own."""

from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    PARAMETERS,
    blocks_of_rows,
    draw_log_over_parameter,
    legend_below,
    linear_over_time,
    name_rows,
    panel_grid,
    write_decades,
)
from dpbandits.drawing.styles import in_mathtext, style_of, style_of_curve
from dpbandits.tables.series import Series

ABREAST, ROW = 7, 1.15  # small panels side by side, and their height in inches
HEAD = 0.25  # height of the heading of a block, in rows
REST = "#cccccc"  # colour of the other algorithms in a small panel


def variants(drawing: Drawing) -> Figure:
    """Regret at the horizon over the mean of the first variant: filled median, hollow mean.

    The row of a panel is the heading of a block with a row for each curve; its column is a game.
    """
    rows = [(row, list(panels)) for row, panels in groupby(drawing.panels, key=lambda p: p.row)]
    titles = [panel.column for panel in rows[0][1]]
    blocks = {row: len(panels[0].series) for row, panels in rows}
    figure, axes = blocks_of_rows(blocks, titles, [1.0] * len(titles), row=0.175)
    for own, (_, panels) in zip(axes, rows, strict=True):
        for ax, panel in zip(own, panels, strict=True):
            _variants(ax, panel.series)
            ax.tick_params(labelbottom=own is axes[-1])
        name_rows(own[0], [series.reading or series.legend for series in panels[0].series])
        own[0].get_yticklabels()[0].set_weight("bold")
    for column in zip(*axes, strict=True):  # the games of a column share their limits
        ends = np.array([ax.get_xlim() for ax in column])
        for ax in column:
            ax.set_xlim(ends[:, 0].min(), ends[:, 1].max())
    legend_below(figure, [_dot("black", "median of the runs"), _dot("white", "mean")], columns=2)
    figure.legends[0].set_title("Regret at the horizon / mean regret of the variant in bold")
    return figure


def _variants(ax: Axes, curves: tuple[Series, ...]) -> None:
    unit = curves[0].mean[-1]
    ax.set_xscale("log")
    ax.axvline(1.0, color=style_of("bound").colour, linewidth=0.6, zorder=0)
    for row, series in enumerate(curves):
        look = {"color": style_of_curve(series).colour, "markersize": 4}
        median, mean = series.median[-1] / unit, series.mean[-1] / unit
        ax.plot([median, mean], [row, row], linewidth=1.6, alpha=0.5, **look)
        ax.plot(median, row, marker="o", **look)
        ax.plot(mean, row, marker="o", markerfacecolor="white", **look)
    ax.text(1.0, -0.45, f"{unit:,.0f}", horizontalalignment="center", fontsize=5.5, color="#6b6b6b")
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0.5), max(high, 2.0))  # so that there is a tick beside 1
    ax.xaxis.set_major_locator(LogLocator(base=10, numticks=5))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _dot(face: str, label: str) -> Line2D:
    look = {"color": "black", "marker": "o", "linestyle": ""}
    return Line2D([], [], markerfacecolor=face, label=label, **look)


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


def small_multiples(drawing: Drawing) -> Figure:
    """Regret against a parameter, log-log: a block for each panel, in it a small panel per curve.

    A small panel has its curve in colour, all others of the block in grey, and the factors between
    the curve and the lowest one at either end: a dash in a start phase that never ends. The curves
    nearest to the lowest come first.
    """
    rows = [-(-len(panel.series) // ABREAST) for panel in drawing.panels]
    figure = Figure(figsize=(PAGE, ROW * (sum(rows) + HEAD * len(rows)) + 0.3))
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.02)
    heights = [lines + HEAD for lines in rows]
    parts = figure.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, panel, lines in zip(parts, drawing.panels, rows, strict=True):
        part.suptitle(panel.title, x=0.01, horizontalalignment="left", weight="bold", size=8)
        axes = part.subplots(lines, ABREAST, sharex=True, sharey=True, squeeze=False)
        _small_multiples(list(axes.flat), panel)
        for ax in axes[:, 0]:
            ax.set_ylabel("Regret", size=7)
    parts[-1].supxlabel(PARAMETERS.get(drawing.panels[0].series[0].over, ""), size=8)
    return figure


def _small_multiples(axes: list[Axes], panel: PanelDrawing) -> None:
    # A regret of 0, of a start phase that never ends, is off a logarithmic axis.
    centres = np.array([np.where(s.centre > 0, s.centre, np.nan) for s in panel.series])
    factors = centres / np.nanmin(centres, axis=0)
    order = np.argsort(np.nanmean(np.log(factors), axis=1))
    for ax, i in zip(axes, order, strict=False):
        own, (first, *_, last) = panel.series[i], factors[i]
        ax.set(xscale="log", yscale="log")
        for series, centre in zip(panel.series, centres, strict=True):
            ax.plot(series.x, centre, color=REST, linewidth=0.6)
        ax.plot(own.x, centres[i], color=style_of_curve(own).colour, linewidth=1.8)
        ax.set_title(f"{in_mathtext(own.legend)}\n× {_factor(first)} to {_factor(last)}", size=6.5)
        for axis in (ax.xaxis, ax.yaxis):
            write_decades(axis)
            axis.set_minor_formatter(NullFormatter())
        ax.tick_params(labelsize=6)
    for unused in axes[len(order) :]:
        unused.remove()


def _factor(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def regret_by_gaps_and_rewards(drawing: Drawing) -> Figure:
    """Mean regret with its band over the rounds, a panel for each regret; both axes linear."""
    return linear_over_time(drawing, height=3.2, entries=4)
