"""Figures of hu2022 (Hu and Hegde, UAI 2022)."""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import (
    draw_all_over_time,
    draw_published,
    legend_below,
    panel_grid,
    published_handles,
)


def five_budgets(drawing: Drawing) -> Figure:
    """Figs. 1 to 5 and 6 to 10: regret over time, linear axes from 0, a panel for each budget."""
    return _linear(drawing, columns=3, height=4.6)


def three_budgets(drawing: Drawing) -> Figure:
    """Figs. 11 to 13: the same with three budgets."""
    return _linear(drawing, columns=3, height=3.0)


def _linear(drawing: Drawing, columns: int, height: float) -> Figure:
    figure, axes = panel_grid(drawing, columns, height, equal="none", equal_x="all")
    handles: dict[str, Line2D] = {}
    for ax, panel in zip(axes, drawing.panels, strict=True):
        for line in draw_all_over_time(ax, panel):
            line.set(markersize=3, markerfacecolor=line.get_color())  # open: the paper's points
            handles.setdefault(str(line.get_label()), line)
        draw_published(ax, panel)
        ax.set_xlim(left=0.0)
        ax.set_ylim(bottom=0.0)
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.ticklabel_format(style="sci", scilimits=(0, 4), useMathText=True)
    entries = [*handles.values(), *published_handles(drawing.panels)]
    legend_below(figure, entries, columns=3)
    return figure
