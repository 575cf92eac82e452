"""Figures of azize2024 (Azize and Basu, SaTML 2024), as in the first author's thesis."""

from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing, drawing_function
from dpbandits.drawing.shapes import (
    draw_all_over_parameter,
    draw_all_over_time,
    draw_published,
    panel_grid,
    write_decades,
)


def price(drawing: Drawing) -> Figure:
    """Fig. 5.4: extra regret against rho, x logarithmic; price of privacy over time, x linear.

    Annotated, the y axis of the extra regret fits the curves.
    """
    figure, axes = panel_grid(drawing, columns=2, height=2.7, equal="none")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        over_time = all(series.over == "t" for series in panel.series)
        lines = (draw_all_over_time if over_time else draw_all_over_parameter)(ax, panel)
        if over_time:
            ax.ticklabel_format(axis="x", style="sci", useMathText=True)
            if not drawing.changes:
                ax.set_ylim(-0.05, 1)  # as in the original, with room for a price of about 0
        else:
            ax.set_xscale("log")
            write_decades(ax.xaxis)
            if not (drawing.annotated or drawing.changes):
                ax.set_ylim(
                    -15, 300
                )  # as in the original, with room for an extra regret of about 0
        for line in lines:
            line.set(markersize=3, markerfacecolor=line.get_color())  # open: the paper's points
        draw_published(ax, panel, size=3)
        ax.axhline(0.0, color="#6b6b6b", linewidth=0.6, zorder=0, gid="zero")
        ax.legend(handles=lines, loc="upper right")
    return figure


def stopping_times(drawing: Drawing) -> Figure:
    """Stopping times against epsilon, with published points, as in figures of several papers."""
    return drawing_function("across", "stopping_times")(drawing)
