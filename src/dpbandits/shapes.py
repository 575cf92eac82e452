"""Shapes that the figures of all papers share: grids of panels, curves over time or a parameter.

A shape draws what it is given and computes nothing. It sets labels, limits and ticks that need no
further help; a drawing function may change them afterwards.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits.curves import Series
from dpbandits.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.styles import LINES, Style, in_mathtext, style_of_curve

ROUND = "Round $t$"  # the x axis of every figure over time


def panel_grid(
    drawing: Drawing,
    columns: int,
    height: float,
    width: float = PAGE,
    equal: Literal["all", "row"] = "all",
) -> tuple[Figure, list[Axes]]:
    """A figure with one pair of axes per panel, equal in all of them or in a row; sizes in inches.

    Where there are several, they are titled `(a) title`.
    """
    rows = -(-len(drawing.panels) // columns)
    figure = Figure(figsize=(width, height))
    # Room between the panels, where the last tick label of one meets the first of the next.
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(rows, columns, sharex=equal, sharey=equal, squeeze=False).flat)
    for unused in axes[len(drawing.panels) :]:
        unused.remove()
    axes = axes[: len(drawing.panels)]
    for ax, panel in zip(axes, drawing.panels, strict=True):
        letter = f"({panel.letter})" if len(drawing.panels) > 1 else ""
        ax.set_title(f"({panel.letter}) {panel.title}".strip() if letter else panel.title)
    for ax in axes[-columns:]:
        ax.tick_params(labelbottom=True)  # also above a place that has no panel
    return figure, axes


def name_axes(ax: Axes, x: str, y: str) -> None:
    """The names of both axes, x below the lowest panel of a column, y beside the first of a row."""
    place = ax.get_subplotspec()
    others = [other.get_subplotspec() for other in ax.figure.axes if other is not ax]
    if place is None:
        ax.set(xlabel=x, ylabel=y)
        return
    beside = [other for other in others if other is not None]
    below = any(
        o.rowspan.start > place.rowspan.start and o.colspan.start == place.colspan.start
        for o in beside
    )
    if not below:
        ax.set_xlabel(x)
    if place.is_first_col():
        ax.set_ylabel(y)


def draw_all_over_time(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Every curve of a panel over the rounds; of one algorithm, the second and so on dashed."""
    again = _again(panel)
    lines = [draw_over_time(ax, series, i, again[i]) for i, series in enumerate(panel.series)]
    name_axes(ax, ROUND, "Regret")
    return lines


def draw_regret_over_time(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Every curve of a panel over the rounds; x linear, y logarithmic with every decade written."""
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_time(ax, panel)
    ax.set_xlim(0, panel.series[0].x[-1])
    ax.ticklabel_format(axis="x", style="sci", useMathText=True)
    write_decades(ax.yaxis)
    return handles


def draw_all_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Every curve of a panel over a parameter, told apart in the same way."""
    again = _again(panel)
    return [draw_over_parameter(ax, series, again[i]) for i, series in enumerate(panel.series)]


def draw_log_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """The same with both axes logarithmic, from the first value to the last; y has every decade."""
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_parameter(ax, panel)
    ax.set_xlim(panel.series[0].x[0], panel.series[0].x[-1])
    write_decades(ax.yaxis)
    return handles


def write_decades(axis: Axis) -> None:
    """Ticks of a logarithmic axis at every decade, with labels there alone."""
    axis.set_major_locator(LogLocator(base=10, numticks=12))
    axis.set_minor_formatter(NullFormatter())


def _again(panel: PanelDrawing) -> list[int]:
    # How many curves of the same algorithm a panel has before each; dots belong to their curves.
    styles = [series.style for series in panel.series]
    return [0 if s == "transition" else styles[:i].count(s) for i, s in enumerate(styles)]


def draw_over_time(
    ax: Axes, series: Series, order: int, again: int = 0, style: Style | None = None
) -> Line2D:
    """A line over the rounds, its band where it has one, some markers; `order` staggers them.

    `again`: how many curves of the same algorithm the panel has before this one; `style`: another
    than the algorithm's own.
    """
    # In equal steps of the axis; markers of curves that run together stand side by side.
    steps, last = (np.arange(8) + 0.2 + 0.2 * (order % 4)) / 8, series.x[-1]
    wanted = last**steps if ax.get_xscale() == "log" else last * steps
    return _line(ax, series, np.searchsorted(series.x, wanted).tolist(), again, style)


def draw_over_parameter(ax: Axes, series: Series, again: int = 0) -> Line2D:
    """A line with a marker at every value of a parameter, its band where it has one."""
    return _line(ax, series, None, again)


def _line(
    ax: Axes,
    series: Series,
    markevery: list[int] | None,
    again: int = 0,
    style: Style | None = None,
) -> Line2D:
    style = style or style_of_curve(series)
    (line,) = ax.plot(
        series.x,
        series.centre,
        linestyle=LINES[(LINES.index(style.line) + again) % len(LINES)] if style.line else "",
        color=style.colour,
        marker=style.marker,
        markevery=markevery,
        markerfacecolor=style.colour if again else "white",
        label=in_mathtext(series.legend),
    )
    if np.any(series.low != series.high):
        _band(ax, series, style.colour)
    return line


def _band(ax: Axes, series: Series, colour: str) -> None:
    logarithmic = ax.get_yscale() == "log"
    # On a logarithmic axis a band that reaches 0 goes down to the frame, wherever that is: the
    # lower end must not decide the limits.
    low = np.maximum(series.low, np.finfo(float).tiny) if logarithmic else series.low
    limits = ax.dataLim.frozen()
    ax.fill_between(series.x, low, series.high, color=colour, alpha=0.18, linewidth=0)
    if logarithmic:
        ax.dataLim.set(limits)
        ax.update_datalim(np.column_stack([series.x, series.high])[series.high > 0])


def write_at_the_end(ax: Axes, series: Series) -> None:
    """The label of a curve beside its last point."""
    ax.annotate(
        in_mathtext(series.label),
        (1, series.centre[-1]),
        xycoords=("axes fraction", "data"),
        xytext=(3, 0),
        textcoords="offset points",
        verticalalignment="center",
        fontsize=7,
    )


def write_slopes(ax: Axes, panel: PanelDrawing, symbol: str, above: bool = False) -> None:
    """The fitted log-log slopes, as powers of a symbol, in the lower or the upper right corner."""
    fit = panel.series[0].fit
    lines = [("Least-squares fit" + (f", {fit[0]:g} to {fit[1]:g}" if fit else ""), "black")]
    for series in panel.series:
        text = rf"{in_mathtext(series.label)}  $\propto {symbol}^{{{series.slope:.2f}}}$"
        lines.append((text, style_of_curve(series).colour))
    for row, (text, colour) in enumerate(lines):
        ax.text(
            0.98,
            (0.94 if above else 0.03 + 0.075 * (len(lines) - 1)) - 0.075 * row,
            text,
            color=colour,
            transform=ax.transAxes,
            horizontalalignment="right",
            fontsize=7,
        )


def legend_below(figure: Figure, handles: Sequence[Artist], columns: int) -> None:
    """One legend for all panels, under them."""
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
