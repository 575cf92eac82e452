"""Figures of my_paper."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import draw_regret_over_time, legend_below, panel_grid


def budgets(drawing: Drawing) -> Figure:
    """Regret over time, a panel for each privacy budget."""
    figure, axes = panel_grid(drawing, columns=2, height=2.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_regret_over_time(ax, panel)
    legend_below(figure, handles, columns=3)
    return figure
