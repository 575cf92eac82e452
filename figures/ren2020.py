"""Figures of the algorithms of ren2020 (Ren, Zhou, Liu and Shroff, 2020); all are our own."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import draw_all_over_time, legend_below, panel_grid, write_decades

FIRST = 100  # round at which x begins


def local_budgets(drawing: Drawing) -> Figure:
    """Regret over time, log-log, a panel for each local budget."""
    figure, axes = panel_grid(drawing, columns=3, height=3.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log", nonpositive="mask")
        handles = draw_all_over_time(ax, panel)
        last = max(series.x[-1] for series in panel.series)
        ax.set_xlim(min(FIRST, last / 10), last)
        if not drawing.changes:
            ax.set_ylim(10, None)
        write_decades(ax.xaxis)
        write_decades(ax.yaxis)
    legend_below(figure, handles, columns=4)
    return figure
