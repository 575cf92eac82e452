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
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from dpbandits.curves.series import Series
from dpbandits.drawing import limits
from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.drawing.styles import LINES, Style, in_mathtext, style_of_curve, symbol
from dpbandits.spec.figure import Shown

ROUND = "Round $t$"  # the x axis of every figure over time

# The x axis over a parameter, by the last part of its key; any other parameter has its own name.
PARAMETERS = {
    "epsilon": r"Privacy budget $\epsilon$",
    "delta": r"Privacy parameter $\delta$",
    "horizon": "Horizon $T$",
    "arms": "Number of arms $K$",
    "mean": r"Mean $\mu$",
    "x": "$x$",
}
# The y axis over a parameter; the other quantities are budgets.
QUANTITIES = {
    Shown.REGRET: "Regret at the horizon",
    Shown.PER_LOG: r"Regret at the horizon / $\log T$",
    Shown.SAMPLES: "Samples used",
    Shown.FAILURES: "Share of failures",
}


def panel_grid(
    drawing: Drawing,
    columns: int,
    height: float,
    width: float = PAGE,
    equal: Literal["all", "row"] = "all",
    equal_x: Literal["all", "row"] | None = None,
) -> tuple[Figure, list[Axes]]:
    """A figure with one pair of axes per panel, equal in all of them or in a row; sizes in inches.

    `equal_x` is for x alone where that differs. Several panels are titled `(a) title`.
    """
    rows = -(-len(drawing.panels) // columns)
    figure = Figure(figsize=(width, height))
    # Room between the panels, where the last tick label of one meets the first of the next.
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(
        figure.subplots(rows, columns, sharex=equal_x or equal, sharey=equal, squeeze=False).flat
    )
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
    """Every curve of a panel over the rounds; x linear from 0 on, y logarithmic.

    The y axis begins at the decade below the lowest curve once the first rounds are over.
    """
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_time(ax, panel)
    limits.over_time(ax, panel)
    ax.ticklabel_format(axis="x", style="sci", useMathText=True)
    write_decades(ax.yaxis)
    return handles


def draw_all_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Every curve of a panel over a parameter, told apart in the same way."""
    again = _again(panel)
    lines = [draw_over_parameter(ax, series, again[i]) for i, series in enumerate(panel.series)]
    if panel.series:
        # The played curves decide: a bound beside them is in their unit.
        first = next((s for s in panel.series if s.runs), panel.series[0])
        alone = first.shows is Shown.REGRET and not first.runs
        y = "Value of the bound" if alone else QUANTITIES.get(first.shows, r"$\epsilon$")
        name_axes(ax, PARAMETERS.get(first.over, symbol(first.over)), y)
    return lines


def draw_log_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """The same with both axes logarithmic; dots outside of the swept values are left out."""
    ax.set_xscale("log", nonpositive="mask")
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_parameter(ax, panel)
    limits.over_parameter(ax, panel)
    write_decades(ax.xaxis)
    write_decades(ax.yaxis)
    return handles


def write_decades(axis: Axis) -> None:
    """Ticks of a logarithmic axis at every decade, labelled there.

    Between them, too, where the axis shows one decade at most: every axis has two labels.
    """
    axis.set_major_locator(LogLocator(base=10, numticks=12))
    axis.set_minor_formatter(limits.BetweenDecades())


def _again(panel: PanelDrawing) -> list[int]:
    # How many curves of the same colour and marker a panel has before each; dots belong to their
    # curves.
    looks = [(series.style, style_of_curve(series)._replace(line="")) for series in panel.series]
    return [0 if look[0] == "transition" else looks[:i].count(look) for i, look in enumerate(looks)]


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
    own_line = style is None and series.look.line is not None
    style = style or style_of_curve(series)
    line = style.line
    if line and not own_line:
        line = LINES[(LINES.index(line) + again) % len(LINES)]
    (drawn,) = ax.plot(
        series.x,
        series.centre,
        linestyle=line,
        color=style.colour,
        marker=style.marker,
        markevery=markevery,
        markerfacecolor=style.colour if again else "white",
        label=in_mathtext(series.legend),
        gid=series.artist_id,
    )
    if np.any(series.low != series.high):
        _band(ax, series, style.colour)
    return drawn


def _band(ax: Axes, series: Series, colour: str) -> None:
    logarithmic = ax.get_yscale() == "log"
    # On a logarithmic axis a band that reaches 0 goes down to the frame, wherever that is.
    low = np.maximum(series.low, np.finfo(float).tiny) if logarithmic else series.low
    there = np.isfinite(low) & np.isfinite(series.high)
    upper, lower = (np.column_stack([series.x, y])[there] for y in (series.high, low))
    border = np.concatenate([lower, upper[::-1]])
    band = PolyCollection([border], facecolor=colour, alpha=0.18, linewidth=0)
    ax.add_collection(band, autolim=False)
    for y in limits.ends(series, logarithmic):
        ax.update_datalim(np.column_stack([series.x, y]))


def write_at_the_end(ax: Axes, series: Series) -> None:
    """The label of a curve beside its last point, in the colour of the curve."""
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


def write_slopes(
    ax: Axes, panel: PanelDrawing, symbol: str, above: bool = False, left: bool = False
) -> None:
    """The fitted log-log slopes, as powers of a symbol, in a corner: the lower right, or another.

    Nothing where no curve has a slope, as of fewer than three points.
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
            (0 if left else 1, 1 if above else 0),
            xycoords="axes fraction",
            xytext=(5 if left else -4, -8 - 11 * row if above else 11 * (len(lines) - row) - 7),
            textcoords="offset points",
            color=colour,
            horizontalalignment="left" if left else "right",
            fontsize=7,
        )


def legend_below(
    figure: Figure, handles: Sequence[Artist], columns: int, by_rows: bool = False
) -> None:
    """One legend for all panels, under them, in rows as equal as can be of `columns` at most.

    Its order is down the columns, as matplotlib has it, or along the rows.
    """
    rows = max(1, -(-len(handles) // columns))
    columns = -(-len(handles) // rows)
    if by_rows:
        handles = [handle for column in range(columns) for handle in handles[column::columns]]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
