"""Shapes shared by the figures of all papers: grids of panels, curves, axes, texts, legends.

A shape draws its input and computes nothing. It sets labels, limits and ticks that suit most
figures; a drawing function may change them afterwards.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogFormatterSciNotation, LogLocator

from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.drawing.styles import (
    LINES,
    PUBLISHED_ID,
    PUBLISHED_LABEL,
    in_mathtext,
    style_of_curve,
    symbol,
)
from dpbandits.spec.figure import Points
from dpbandits.tables.series import Series

ROUND = "Round $t$"  # the x axis of every figure over time
SETTLED = 0.02  # of the horizon: before it, a curve over linear time is nearly vertical
HEADING = 1.1  # height of the heading of a block of rows, in rows
LOOK: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7}  # of a text in the axes
FRAME = np.finfo(float)  # the ends of a band that reaches the frame of a logarithmic axis
LINE_HEIGHT = 11.0  # points, of a line of text

# Label of the x axis by the last part of the parameter's key; other parameters use their name.
PARAMETERS = {
    "epsilon": r"Privacy budget $\epsilon$",
    "delta": r"Privacy parameter $\delta$",
    "rho": r"Privacy budget $\rho$",
    "horizon": "Horizon $T$",
    "arms": "Number of arms $K$",
    "dimension": "Dimension $d$",
    "mean": r"Mean $\mu$",
    "x": "$x$",
}


def panel_grid(
    drawing: Drawing,
    columns: int,
    height: float,
    width: float = PAGE,
    equal: Literal["all", "row", "none"] = "all",
    equal_x: Literal["all", "row"] | None = None,
) -> tuple[Figure, list[Axes]]:
    """Create a figure with one axes per panel; `width` and `height` are in inches.

    `equal` selects which panels share axis limits: all, those of a row, or none. `equal_x`
    overrides it for the x axis. With several panels, titles read `(a) title`.
    """
    number = len(drawing.panels)
    figure = Figure(figsize=(width, height))
    # Space between panels, where the last tick label of one meets the first of the next.
    figure.set_layout_engine("constrained", w_pad=0.1)
    shared: dict[str, Any] = {"sharex": equal_x or equal, "sharey": equal}
    grid = figure.subplots(-(-number // columns), columns, squeeze=False, **shared)
    axes, unused = [*grid.flat[:number]], grid.flat[number:]
    for ax in unused:
        ax.remove()
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_title(f"({panel.letter}) {panel.title}".strip() if number > 1 else panel.title)
    for ax in axes[-columns:]:
        ax.tick_params(labelbottom=True)  # also above a place without a panel
    return figure, axes


def blocks_of_rows(
    blocks: Mapping[str, int], titles: Sequence[str], widths: Sequence[float], row: float
) -> tuple[Figure, list[list[Axes]]]:
    """Create a figure with a block of rows under every heading; `row` is a row's height in inches.

    `blocks` gives the number of rows by heading. Returns the figure and one list of axes for each
    block, with one axes for each title in `titles`; `widths` are the relative column widths.
    """
    height = (row + 0.005) * sum(blocks.values()) + 0.35 * len(blocks) + 0.75
    figure = Figure(figsize=(PAGE, height))
    figure.set_layout_engine("constrained", w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.0)
    heights = [part for rows in blocks.values() for part in (HEADING, rows)]
    ratios = {"height_ratios": heights, "width_ratios": widths}
    grid = figure.subplots(len(heights), len(titles), squeeze=False, gridspec_kw=ratios)
    for ax, title in zip(grid[0], titles, strict=True):
        ax.set_title(title)
    for above, heading in zip(grid[::2], blocks, strict=True):
        for unused in above:
            unused.set_axis_off()
        text = above[0].text(0, 0.2, heading, transform=above[0].transAxes, weight="bold")
        text.set_in_layout(False)  # wider than its column
    for axes, rows in zip(grid[1::2], blocks.values(), strict=True):
        for ax in axes:
            ax.set_ylim(rows - 0.4, -0.6)
            ax.yaxis.set_major_locator(FixedLocator(range(rows)))
            ax.set_yticklabels([])
            ax.tick_params(axis="y", length=0)
    return figure, [list(axes) for axes in grid[1::2]]


def name_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Label the rows of a block, from the top, left of its first column."""
    ax.set_yticklabels([in_mathtext(label) for label in labels])


def name_axes(ax: Axes, x: str, y: str) -> None:
    """Label x below the lowest panel of each column, and y beside the first panel of each row.

    Another panel of the row has a label of its own if it shows something else.
    """
    cell = ax.get_subplotspec()
    others = [other.get_subplotspec() for other in ax.figure.axes]
    if cell is None or not any(
        other
        and other.rowspan.start > cell.rowspan.start
        and other.colspan.start == cell.colspan.start
        for other in others
    ):
        ax.set_xlabel(x)
    firsts = (
        other.get_ylabel()
        for other, there in zip(ax.figure.axes, others, strict=True)
        if cell and there and there.is_first_col() and there.rowspan.start == cell.rowspan.start
    )
    if cell is None or cell.is_first_col() or next(firsts, y) not in ("", y):
        ax.set_ylabel(y)


def draw_all_over_time(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Draw every curve of a panel over the rounds and return the lines.

    The second and later curves of one algorithm are dashed, dotted and so on (LINES).
    """
    again = _again(panel)
    lines = [draw_curve(ax, series, again[i], i) for i, series in enumerate(panel.series)]
    name_axes(ax, ROUND, ", ".join(dict.fromkeys(s.shows.over_time for s in panel.series)))
    return lines


def linear_over_time(
    drawing: Drawing, height: float, entries: int, equal: Literal["all", "row", "none"] = "all"
) -> Figure:
    """Draw every panel over the rounds, two side by side, both axes linear; one legend below.

    `entries` is the number of entries in a row of the legend.
    """
    figure, axes = panel_grid(drawing, columns=2, height=height, equal=equal)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_linear_regret(ax, panel)
    legend_below(figure, handles, columns=entries)
    return figure


def draw_linear_regret(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Draw every curve of a panel over the rounds, both axes linear, and return the lines."""
    lines = draw_all_over_time(ax, panel)
    ax.set_xlim(0, panel.series[0].x[-1])
    ax.ticklabel_format(axis="x", style="sci", scilimits=(0, 4), useMathText=True)
    return lines


def draw_published(ax: Axes, panel: PanelDrawing, size: float = 5.0, clip: bool = False) -> None:
    """Draw points of the paper's own curves as open markers; curves may share them.

    Without `clip` they are whole at the edge of the panel, also at a regret of about 0.
    """
    marker: dict[str, Any] = {"linestyle": "", "markersize": size, "markerfacecolor": "white"}
    first: dict[Points, Series] = {}
    for series in panel.series:
        if series.published:
            first.setdefault(series.published, series)
    for series in reversed(first.values()):  # where two meet, the first curve is on top
        style, points = style_of_curve(series), np.transpose(series.published)
        name = f"{PUBLISHED_ID}{series.artist_id}"
        marker |= {"marker": style.marker, "markeredgecolor": style.colour, "gid": name}
        ax.plot(*points, zorder=3, clip_on=clip, **marker)


def published_handles(panels: Sequence[PanelDrawing]) -> list[Line2D]:
    """Return the entry of a legend for points of `draw_published`, if there are any."""
    if not any(series.published for panel in panels for series in panel.series):
        return []
    look: dict[str, Any] = {"marker": "o", "color": "#6b6b6b", "markerfacecolor": "white"}
    return [Line2D([], [], linestyle="", label=PUBLISHED_LABEL, **look)]


def draw_regret_over_time(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Draw every curve of a panel over the rounds; x is linear from 0, y logarithmic.

    The y axis begins at the decade below the lowest curve after the first 2 % of the rounds.
    """
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_time(ax, panel)
    settled = [_extent(s, s.x >= SETTLED * s.x[-1]) for s in panel.series]
    lowest = min((values.min() for values in settled if values.size), default=1.0)
    highest = max((_extent(s).max(initial=lowest) for s in panel.series), default=10.0)
    last = max((s.x[-1] for s in panel.series), default=1.0)
    # Set as data limits, so that axes that share limits cover the data of all their panels.
    ax.ignore_existing_data_limits = True
    ax.update_datalim([(0, 10 ** math.floor(math.log10(lowest))), (last, highest)])
    ax.margins(x=0, y=0.05)
    ax.ticklabel_format(axis="x", style="sci", useMathText=True)
    write_decades(ax.yaxis)
    return handles


def draw_all_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Draw every curve of a panel over a parameter and return the lines.

    The second and later curves of one algorithm are dashed, dotted and so on (LINES).
    """
    again = _again(panel)
    lines = [draw_curve(ax, series, again[i]) for i, series in enumerate(panel.series)]
    if panel.series:
        # The played curves decide: a bound beside them has the same unit.
        deciding = [s for s in panel.series if s.runs] or panel.series
        y = ", ".join(dict.fromkeys(series.shows.label for series in deciding))
        name_axes(ax, PARAMETERS.get(deciding[0].over, symbol(deciding[0].over)), y)
    return lines


def draw_log_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Draw every curve of a panel over a parameter, with both axes logarithmic.

    The limits ignore dots where the regimes of a bound meet: they may be far from swept values.
    """
    ax.set_xscale("log", nonpositive="mask")
    ax.set_yscale("log", nonpositive="mask")
    handles = draw_all_over_parameter(ax, panel)
    swept = [series for series in panel.series if series.style != "transition"] or panel.series
    x = np.concatenate([series.x for series in swept] or [np.array([])])
    y = np.concatenate([_extent(series) for series in swept] or [np.array([])])
    ax.ignore_existing_data_limits = True
    if x[x > 0].size and y.size:
        ax.update_datalim([(x[x > 0].min(), y.min()), (x.max(), y.max())])
    write_decades(ax.xaxis)
    write_decades(ax.yaxis)
    return handles


def _again(panel: PanelDrawing) -> list[int]:
    # Number of curves with the same colour and marker that precede each curve in the panel. Dots
    # count as part of their curves.
    marks = [(series.style, style_of_curve(series)._replace(line="")) for series in panel.series]
    return [0 if mark[0] == "transition" else marks[:i].count(mark) for i, mark in enumerate(marks)]


def draw_curve(ax: Axes, series: Series, again: int = 0, order: int | None = None) -> Line2D:
    """Draw a line with its markers, and its band if it has one.

    `again` is the number of earlier curves of the same algorithm in the panel. Over a parameter,
    every value has a marker; over the rounds, some have, which `order` staggers between curves.
    """
    style = style_of_curve(series)
    line, marked = style.line, list[int]()
    if line and series.look.line is None:
        line = LINES[(LINES.index(line) + again) % len(LINES)]
    if order is not None:
        # Equal steps along the axis; markers of curves that coincide are placed side by side.
        steps, last = (np.arange(8) + 0.2 + 0.2 * (order % 4)) / 8, series.x[-1]
        wanted = last**steps if ax.get_xscale() == "log" else last * steps
        marked = np.searchsorted(series.x, wanted).tolist()
    (artist,) = ax.plot(
        series.x,
        series.centre,
        linestyle=line,
        linewidth=style.width,
        color=style.colour,
        marker=style.marker,
        markevery=marked or None,
        markerfacecolor=style.colour if again else "white",
        label=in_mathtext(series.legend),
        gid=series.artist_id,
    )
    if np.any(series.low != series.high):
        logarithmic = ax.get_yscale() == "log"
        low, high = series.low, series.high
        if logarithmic:  # a band that reaches 0 or infinity extends to the frame, wherever that is
            low, high = np.maximum(low, FRAME.tiny), np.minimum(high, FRAME.max)
        lower, upper = (np.column_stack([series.x, y]) for y in (low, high))
        there = np.isfinite(low) & np.isfinite(high)
        parts = np.split(np.arange(low.size), np.flatnonzero(np.diff(there)) + 1)  # gaps between
        borders = [np.concatenate([lower[i], upper[i[::-1]]]) for i in parts if there[i[0]]]
        band = PolyCollection(borders, facecolor=style.colour, alpha=0.18, linewidth=0)
        ax.add_collection(band, autolim=False)
        for y in _band_ends(series, logarithmic):
            ax.update_datalim(np.column_stack([series.x, y]))
    return artist


def _band_ends(series: Series, logarithmic: bool) -> list[np.ndarray]:
    # The lower and upper ends of a band, nan where the axis limits may leave them out. On a
    # logarithmic axis, where mean - std may come near 0, a lower end counts only if it is at least
    # a tenth of its curve.
    if not logarithmic:
        return [series.low, series.high]
    near = (series.low > 0) & (series.low >= series.centre / 10)
    return [np.where(near, series.low, np.nan), np.where(series.high > 0, series.high, np.nan)]


def _extent(series: Series, part: Any = slice(None)) -> np.ndarray:
    # Values of part of a curve and of its band that the limits of a logarithmic axis must include.
    values = np.concatenate([y[part] for y in (series.centre, *_band_ends(series, True))])
    return values[np.isfinite(values) & (values > 0)]


def write_decades(axis: Axis) -> None:
    """Put a labelled tick at every decade of a logarithmic axis.

    Ticks between decades are labelled too if the axis spans at most one decade, so that every axis
    has two labels.
    """
    axis.set_major_locator(LogLocator(base=10, numticks=12))
    axis.set_minor_formatter(BetweenDecades(minor_thresholds=(1, 0.6)))


class BetweenDecades(LogFormatterSciNotation):
    """Formatter that labels ticks between decades as 20, if at most one decade is in view."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick."""
        text = super().__call__(x, pos)
        return f"{x:g}" if text and 0.001 <= x < 10_000 else text


def write_at_the_end(ax: Axes, series: Series) -> None:
    """Write the label of a curve beside its last point, in the curve's colour."""
    coordinates, colour = ("axes fraction", "data"), style_of_curve(series).colour
    label, end = in_mathtext(series.label), (1, series.centre[-1])
    ax.annotate(label, end, (3, 0), coordinates, va="center", color=colour, **LOOK)


def write_powers(ax: Axes, panel: PanelDrawing, symbol: str) -> None:
    """Write the fitted power of `symbol` beside the last point of every curve that has one.

    Labels that would touch are moved apart; the y axis must have its scale.
    """
    fitted = (series for series in panel.series if series.slope is not None)
    y = -float("inf")
    for series in sorted(fitted, key=lambda series: float(series.centre[-1])):
        end = float(series.x[-1]), float(series.centre[-1])
        points = ax.transData.transform((1.0, end[1]))[1] * 72 / ax.figure.dpi
        y = max(points, y + LINE_HEIGHT)
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
        corner, offset = (0 if left else 1, 0), (x, LINE_HEIGHT * (len(lines) - row) - 7)
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
