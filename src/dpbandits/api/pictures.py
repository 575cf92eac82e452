"""Pictures of results in the house style."""

from collections.abc import Sequence

import matplotlib.style
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.curves.series import Series
from dpbandits.drawing import plotting
from dpbandits.drawing.plotting import PanelDrawing
from dpbandits.drawing.shapes import draw_all_over_time
from dpbandits.factory.produce import drawing
from dpbandits.spec.figure import FigureSpec


def of_play(series: Series, ax: Axes | None) -> Axes:
    """Draw one curve over time on the axes, or on those of a new figure, and return them."""
    with matplotlib.style.context(plotting.style_file(), after_reset=ax is None):
        if ax is None:
            _, ax = pyplot.subplots(figsize=(plotting.COLUMN, 2.6), layout="constrained")
        draw_all_over_time(ax, PanelDrawing("a", "", (series,)))
        ax.set(xlabel="Round $t$", ylabel="Regret")
        ax.legend()
    return ax


def of_figure(spec: FigureSpec, series: Sequence[Series]) -> Figure:
    """Draw a figure as its drawing function does, and return it."""
    draw = plotting.drawing_function(spec.paper, spec.draw)
    with matplotlib.style.context(plotting.style_file(), after_reset=True):
        figure = draw(drawing(spec, series))
        figure.draw_without_rendering()
    return figure
