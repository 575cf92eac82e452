"""Figures of azize2023 (slides of Azize, Jourdan, Al Marjani and Basu, 2023)."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing, drawing_function


def stopping_times(drawing: Drawing) -> Figure:
    """Stopping times as in azize2024."""
    return drawing_function("azize2024", "stopping_times")(drawing)
