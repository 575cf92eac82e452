"""Texts inside the axes of a figure, and legends shared by its panels."""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.drawing.plotting import PanelDrawing
from dpbandits.drawing.styles import in_mathtext, style_of_curve
from dpbandits.tables.series import Series


def write_at_the_end(ax: Axes, series: Series) -> None:
    """Write the label of a curve beside its last point, in the curve's colour."""
    ax.annotate(
        in_mathtext(series.label),
        (1, series.centre[-1]),
        xycoords=("axes fraction", "data"),
        xytext=(3, 0),
        textcoords="offset points",
        verticalalignment="center",
        fontsize=7,
        color=style_of_curve(series).colour,
    )


def write_powers(ax: Axes, panel: PanelDrawing, symbol: str) -> None:
    """Write the fitted power of `symbol` beside the last point of every curve that has one.

    Labels that would touch are moved apart; the y axis must have its scale.
    """
    ends = sorted(
        (s for s in panel.series if s.slope is not None), key=lambda s: float(s.centre[-1])
    )
    height = 11.0  # points, of a label
    below = -float("inf")
    for series in ends:
        value = float(series.centre[-1])
        axes_y = ax.transData.transform((1.0, value))[1] * 72 / ax.figure.dpi
        at = max(axes_y, below + height)
        below = at
        ax.annotate(
            rf"$\propto {symbol}^{{{series.slope:.1f}}}$",
            (float(series.x[-1]), value),
            xytext=(6, at - axes_y),
            textcoords="offset points",
            verticalalignment="center",
            fontsize=7,
            color=style_of_curve(series).colour,
        )


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
        text = f"{in_mathtext(series.legend)}  {power}"
        lines.append((text, style_of_curve(series).colour))
    for row, (text, colour) in enumerate(lines):
        ax.annotate(
            text,
            (0 if left else 1, 0),
            xycoords="axes fraction",
            xytext=(5 if left else -4, 11 * (len(lines) - row) - 7),
            textcoords="offset points",
            color=colour,
            horizontalalignment="left" if left else "right",
            fontsize=7,
        )


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
