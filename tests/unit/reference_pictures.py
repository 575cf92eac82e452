"""Figures drawn from their committed references, for tests that inspect artists."""

from functools import cache

import matplotlib.style
import numpy as np
from composed import load
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from dpbandits.curves import references
from dpbandits.drawing.plotting import Drawing, drawing_function, style_file
from dpbandits.factory import produce
from dpbandits.spec.figure import FigureSpec


@cache
def specified(name: str) -> tuple[FigureSpec, Drawing]:
    """Return an annotated figure as its file specifies it, with the numbers of its reference."""
    spec, _ = load(name, ["figure.annotated=true"])
    return spec, produce.drawing(spec, references.read(spec, references.PAPER))


@cache
def picture(name: str) -> Figure:
    """Return the figure drawn from its reference, laid out, once for all tests that look at it."""
    return laid_out(name, specified(name)[1])


def laid_out(name: str, drawing: Drawing) -> Figure:
    """Return the figure drawn from the given numbers, laid out."""
    spec, _ = specified(name)
    with matplotlib.style.context(style_file(), after_reset=True):
        figure = drawing_function(spec.paper, spec.draw)(drawing)
        figure.draw_without_rendering()
    return figure


def insets(figure: Figure) -> list[Axes]:
    """Return the insets of all panels."""
    children = (ax for panel in figure.axes for ax in panel.child_axes)
    return [ax for ax in children if isinstance(ax, Axes)]


def overlap(one: Text, other: Text) -> bool:
    """Return whether two texts overlap."""
    return bool(one.get_window_extent().overlaps(other.get_window_extent()))


def inside(ax: Axes, points: np.ndarray) -> np.ndarray:
    """Return which points, shape (n, 2), lie within the frame of the axes; shape (n,), bool."""
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    return np.all((low <= points) & (points <= high), axis=1)
