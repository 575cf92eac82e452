"""Figures of jourdan2025 (Jourdan and Azize, NeurIPS 2025: the poster)."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing, drawing_function


def stopping_times(drawing: Drawing) -> Figure:
    """Stopping times against epsilon, with published points, as in figures of several papers."""
    return drawing_function("across", "stopping_times")(drawing)
