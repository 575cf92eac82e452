"""Figures of azize2025 (Azize et al., NeurIPS 2025), whose algorithms are known from slides."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.curves.series import Series
from dpbandits.drawing.annotations import legend_below
from dpbandits.drawing.plotting import Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    draw_all_over_time,
    draw_log_over_parameter,
    panel_grid,
    write_decades,
)
from dpbandits.drawing.styles import in_mathtext, style_of, style_of_curve

FIRST_ROUND = 100  # of the figures over time


def four_budgets(drawing: Drawing) -> Figure:
    """Regret over time at four privacy budgets, log-log: means, quartiles and medians."""
    figure, axes = panel_grid(drawing, columns=2, height=5.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = _over_time(ax, panel, FIRST_ROUND)
    _show_what_is_seen(axes, drawing, FIRST_ROUND)
    legend_below(figure, [*handles, _median_handle()], columns=3)
    return figure


def against_budget(drawing: Drawing) -> Figure:
    """Regret at the horizon against epsilon, log-log: means, quartiles and medians."""
    figure, axes = panel_grid(drawing, columns=2, height=5.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
        _draw_medians(ax, panel)
    legend_below(figure, [*handles, _median_handle()], columns=3)
    return figure


def readings(drawing: Drawing) -> Figure:
    """Mean and median regret over the last two decades of rounds, log-log, a legend a panel."""
    rows = -(-len(drawing.panels) // 2)
    figure, axes = panel_grid(drawing, columns=2, height=0.3 + 1.9 * rows)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = _over_time(ax, panel, panel.series[0].x[-1] / 100)
        texts = [in_mathtext(series.reading or series.legend) for series in panel.series]
        ax.legend(handles, texts, loc="upper left", fontsize=6, ncols=2)
    _show_what_is_seen(axes, drawing, drawing.panels[0].series[0].x[-1] / 100, room=4)
    return figure


def _over_time(ax: Axes, panel: PanelDrawing, first: float) -> list[Line2D]:
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_time(ax, panel)
    _draw_medians(ax, panel)
    last = max(series.x[-1] for series in panel.series)
    ax.set_xlim(min(first, last / 100), last)
    write_decades(ax.xaxis)
    write_decades(ax.yaxis)
    return handles


def _median_handle() -> Line2D:
    colour = style_of("bound").colour
    return Line2D([], [], linestyle="--", linewidth=0.7, color=colour, label="Medians, thin")


def _draw_medians(ax: Axes, panel: PanelDrawing) -> None:
    # Below the means; a bound has no runs.
    for series in panel.series:
        if series.runs:
            colour = style_of_curve(series).colour
            ax.plot(series.x, series.median, "--", color=colour, linewidth=0.7, zorder=1.5)


def _show_what_is_seen(axes: list[Axes], drawing: Drawing, first: float, room: float = 1.5) -> None:
    # The means from the first round shown; `room` is a factor above them, for a legend.
    every = [series for panel in drawing.panels for series in panel.series]
    seen = [_seen(series, min(first, series.x[-1] / 100)) for series in every]
    positive = [y for values in seen for y in values if y > 0]
    if positive:
        axes[0].set_ylim(min(positive) / 1.5, room * max(positive))


def _seen(series: Series, first: float) -> list[float]:
    kept: list[float] = series.centre[series.x >= first].tolist()
    return kept
