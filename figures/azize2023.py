"""Figures of azize2023 (slides of Azize, Jourdan, Al Marjani and Basu, 2023)."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing, drawing_function


def stopping_times(drawing: Drawing) -> Figure:
    """Stopping times against epsilon, with published points, as in figures of several papers."""
    return drawing_function("across", "stopping_times")(drawing)
