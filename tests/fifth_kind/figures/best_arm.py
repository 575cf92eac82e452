"""Figures of best_arm."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import draw_log_over_parameter, legend_below, panel_grid


def stopping_times(drawing: Drawing) -> Figure:
    """What is shown over the budget, a panel each."""
    figure, axes = panel_grid(drawing, columns=2, height=2.8, equal="none")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
    legend_below(figure, handles, columns=3)
    return figure
