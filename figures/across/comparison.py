"""Comparison of algorithms: regret over time, with the lower bound, at one or several budgets."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing
from dpbandits.drawing.shapes import draw_regret_over_time, legend_below, panel_grid

HEIGHT, LEGEND = 2.25, 0.18  # inches: height of a row of panels, and of a row of the legend


def comparison(drawing: Drawing) -> Figure:
    """Regret over time, a panel for each budget; x linear, y logarithmic."""
    columns = min(2, len(drawing.panels))
    rows = -(-len(drawing.panels) // columns)
    width = PAGE if columns > 1 else 1.3 * COLUMN
    entries = 4 if columns > 1 else 2
    lines = -(-len(drawing.panels[0].series) // entries)
    height = HEIGHT * rows + 0.45 + LEGEND * lines
    figure, axes = panel_grid(drawing, columns, height, width)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_regret_over_time(ax, panel)
    legend_below(figure, handles, columns=entries)
    return figure
