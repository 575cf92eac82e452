"""Figures of jourdan2025 (Jourdan and Azize, NeurIPS 2025: the poster)."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing, drawing_function


def stopping_times(drawing: Drawing) -> Figure:
    """Stopping times as in azize2024."""
    return drawing_function("azize2024", "stopping_times")(drawing)
