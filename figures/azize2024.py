"""Figures of azize2024 (Azize and Basu, SaTML 2024), as in the first author's thesis."""

from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.drawing.plotting import Drawing, drawing_function
from dpbandits.drawing.shapes import (
    draw_all_over_parameter,
    draw_all_over_time,
    draw_published,
    panel_grid,
    write_decades,
)

FROM = 10_000  # share of the rounds after which the price of linear bandits is drawn


def price(drawing: Drawing) -> Figure:
    """Fig. 5.4: extra regret against rho, x logarithmic; price of privacy over time, x linear.

    Annotated, the y axis of the extra regret fits the curves.
    """
    figure, axes = _price(drawing)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        # As in the original, with room for what is about 0.
        if all(series.over == "t" for series in panel.series):
            if not drawing.changes:
                ax.set_ylim(-0.05, 1)
        elif not (drawing.annotated or drawing.changes):
            ax.set_ylim(-15, 300)
    return figure


def linear_price(drawing: Drawing) -> Figure:
    """Figs. 5.5 and 5.6: the same of linear bandits; time is logarithmic, after its first decades.

    Both twins begin with the same actions, so that an early price is a ratio of few pulls.
    """
    figure, axes = _price(drawing, loc="best", clip=True)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        if all(series.over == "t" for series in panel.series):
            end = max(series.x[-1] for series in panel.series)
            ax.set_xscale("log")
            ax.set_xlim(end / FROM, end)
            write_decades(ax.xaxis)
            shown = [s.centre[s.x >= end / FROM] for s in panel.series]
            ax.set_ylim(min(0.0, *map(min, shown)) - 0.02, 1.2 * max(map(max, shown)))
    return figure


def _price(
    drawing: Drawing, loc: Literal["upper right", "best"] = "upper right", clip: bool = False
) -> tuple[Figure, list[Axes]]:
    columns = len(drawing.panels)
    figure, axes = panel_grid(drawing, columns=columns, height=2.7, equal="none")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        over_time = all(series.over == "t" for series in panel.series)
        lines = (draw_all_over_time if over_time else draw_all_over_parameter)(ax, panel)
        if over_time:
            ax.ticklabel_format(axis="x", style="sci", useMathText=True)
        else:
            ax.set_xscale("log")
            write_decades(ax.xaxis)
        for line in lines:
            line.set(markersize=3, markerfacecolor=line.get_color())  # open: the paper's points
        draw_published(ax, panel, size=3, clip=clip)
        ax.axhline(0.0, color="#6b6b6b", linewidth=0.6, zorder=0, gid="zero")
        ax.legend(handles=lines, loc=loc)
    return figure, axes


def stopping_times(drawing: Drawing) -> Figure:
    """Stopping times against epsilon, with published points, as in figures of several papers."""
    return drawing_function("across", "stopping_times")(drawing)
