"""Texts inside the axes of a figure, and legends shared by its panels."""

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.drawing.plotting import PanelDrawing
from dpbandits.drawing.styles import in_mathtext, style_of_curve
from dpbandits.tables.series import Series

LOOK: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7}
HEIGHT = 11.0  # points, of a line of text


def write_at_the_end(ax: Axes, series: Series) -> None:
    """Write the label of a curve beside its last point, in the curve's colour."""
    place, colour = ("axes fraction", "data"), style_of_curve(series).colour
    label, end = in_mathtext(series.label), (1, series.centre[-1])
    ax.annotate(label, end, (3, 0), place, va="center", color=colour, **LOOK)


def write_powers(ax: Axes, panel: PanelDrawing, symbol: str) -> None:
    """Write the fitted power of `symbol` beside the last point of every curve that has one.

    Labels that would touch are moved apart; the y axis must have its scale.
    """
    fitted = (series for series in panel.series if series.slope is not None)
    y = -float("inf")
    for series in sorted(fitted, key=lambda series: float(series.centre[-1])):
        end = float(series.x[-1]), float(series.centre[-1])
        points = ax.transData.transform((1.0, end[1]))[1] * 72 / ax.figure.dpi
        y = max(points, y + HEIGHT)
        power, colour = rf"$\propto {symbol}^{{{series.slope:.1f}}}$", style_of_curve(series).colour
        ax.annotate(power, end, (6, y - points), va="center", color=colour, **LOOK)


def write_slopes(ax: Axes, panel: PanelDrawing, symbol: str, left: bool = False) -> None:
    """Write the fitted log-log slopes as powers of `symbol` in a corner: lower right by default.

    Writes nothing if no curve has a slope, as with fewer than three points.
    """
    if all(series.slope is None for series in panel.series):
        return
    fit = panel.series[0].fit
    lines = [("Least-squares fit" + (f", {fit[0]:g} to {fit[1]:g}" if fit else ""), "black")]
    for series in panel.series:
        power = "no power law"
        if series.slope is not None:
            power = rf"$\propto {symbol}^{{{series.slope:.2f}}}$"
        lines.append((f"{in_mathtext(series.legend)}  {power}", style_of_curve(series).colour))
    x, side = (5, "left") if left else (-4, "right")
    for row, (text, colour) in enumerate(lines):
        corner, offset = (0 if left else 1, 0), (x, HEIGHT * (len(lines) - row) - 7)
        ax.annotate(text, corner, offset, "axes fraction", color=colour, ha=side, **LOOK)


def legend_below(
    figure: Figure, handles: Sequence[Artist], columns: int, by_rows: bool = False
) -> None:
    """Draw one legend for all panels below them, in rows of at most `columns` entries, balanced.

    Entries run down the columns, as in matplotlib, or along the rows with `by_rows`.
    """
    rows = max(1, -(-len(handles) // columns))
    columns = -(-len(handles) // rows)
    if by_rows:
        handles = [handle for column in range(columns) for handle in handles[column::columns]]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
