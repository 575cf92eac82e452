"""Figures of azize2025 (Azize et al., NeurIPS 2025), whose algorithms are known from slides."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.drawing.plotting import Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    draw_all_over_time,
    draw_log_over_parameter,
    legend_below,
    panel_grid,
    write_decades,
)
from dpbandits.drawing.styles import style_of, style_of_curve
from dpbandits.tables.series import Series

FIRST_ROUND = 100  # of the figures over time
MEAN: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 3.5, "mfc": "white"}


def four_budgets(drawing: Drawing) -> Figure:
    """Median regret over time at four budgets, log-log, with quartiles and the last mean."""
    figure, axes = panel_grid(drawing, columns=2, height=5.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = _over_time(ax, panel, FIRST_ROUND)
    _show_what_is_seen(axes, drawing, FIRST_ROUND)
    legend_below(figure, [*handles, _mean_handle()], columns=3)
    return figure


def against_budget(drawing: Drawing) -> Figure:
    """Median regret at the horizon against epsilon, log-log, with quartiles and means."""
    figure, axes = panel_grid(drawing, columns=2, height=5.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
        _draw_means(ax, panel, slice(None))
    legend_below(figure, [*handles, _mean_handle()], columns=3)
    return figure


def _over_time(ax: Axes, panel: PanelDrawing, first: float) -> list[Line2D]:
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_time(ax, panel)
    _draw_means(ax, panel, slice(-1, None))
    last = max(series.x[-1] for series in panel.series)
    ax.set_xlim(min(first, last / 100), last)
    write_decades(ax.xaxis)
    write_decades(ax.yaxis)
    return handles


def _mean_handle() -> Line2D:
    return Line2D([], [], **MEAN, color=style_of("bound").colour, label="Mean, with its error")


def _draw_means(ax: Axes, panel: PanelDrawing, part: slice) -> None:
    # Of some points, with their standard errors, which may hide in a marker; a bound has no runs.
    for series in panel.series:
        if series.runs:
            colour, error = style_of_curve(series).colour, series.std / np.sqrt(series.runs)
            points = {"x": series.x[part], "y": series.mean[part], "yerr": error[part]}
            ax.errorbar(**points, **MEAN, color=colour, elinewidth=0.7, clip_on=False, zorder=4)


def _show_what_is_seen(axes: list[Axes], drawing: Drawing, first: float, room: float = 1.5) -> None:
    # The lines from the first round shown; `room` is a factor above them.
    every = [series for panel in drawing.panels for series in panel.series]
    seen = [_seen(series, min(first, series.x[-1] / 100)) for series in every]
    positive = [y for values in seen for y in values if y > 0]
    if positive:
        axes[0].set_ylim(min(positive) / 1.5, room * max(positive))


def _seen(series: Series, first: float) -> list[float]:
    kept: list[float] = series.centre[series.x >= first].tolist()
    return kept
