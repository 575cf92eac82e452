"""Figures of our own, across papers."""

from collections.abc import Sequence
from itertools import cycle, groupby
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

from dpbandits.curves import Series
from dpbandits.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.ranks import mean_rank, ranks
from dpbandits.shapes import draw_log_over_parameter, draw_over_time, legend_below, panel_grid
from dpbandits.styles import Style, in_mathtext, style_of, style_of_curve


class Look(NamedTuple):
    """How a reading is drawn; readings that end alike must be seen through one another."""

    style: Style
    width: float
    depth: int


# What the other readings of an algorithm take in turn, as far as no algorithm of the row has the
# colour: of Okabe and Ito, each with a marker of its own.
ALTERNATIVES = (
    Style("#0072B2", "^", "--"),
    Style("#D55E00", ">", ":"),
    Style("#009E73", "s", "-."),
    Style("#E69F00", "<", "-."),
)
BEYOND = 2.3  # of the epsilon that is given: what is larger is an arrow
# What is shown of a budget; the bar of what is audited has no marker.
BUDGETS: dict[str, dict[str, Any]] = {
    "audited": {"marker": ""},
    "claimed": {"color": "black", "marker": "|", "markersize": 10, "linestyle": ""},
    "composed": {
        **{"color": "black", "marker": "D", "markersize": 3.5, "linestyle": ""},
        **{"markerfacecolor": "white"},
    },
    "audited, one choice": {"color": "black", "marker": "o", "markersize": 2.5, "linestyle": ""},
}
NOT_PRIVATE = Look(Style("#000000", "x"), width=0.6, depth=5)


def readings_side_by_side(drawing: Drawing) -> Figure:
    """Regret over time, log-log; a row for each algorithm, a curve for each reading of its text.

    The row of a panel is its algorithm; a curve that has no reading is there for comparison.
    """
    rows = [list(panels) for _, panels in groupby(drawing.panels, key=lambda p: p.row)]
    columns = max(len(panels) for panels in rows)
    figure = Figure(figsize=(PAGE, 1.7 * len(rows)))
    figure.set_layout_engine("constrained", w_pad=0.02)
    grid = figure.subplots(len(rows), columns + 1, sharey="row", squeeze=False)
    for panels, axes in zip(rows, grid, strict=True):
        looks = _looks(panels)
        handles: dict[str, Line2D] = {}
        for ax, panel in zip(axes, panels, strict=False):
            handles |= _over_time(ax, panel, looks)
        _show_what_is_seen(axes[0], panels)
        axes[0].set_ylabel("Regret")
        for unused in axes[len(panels) :]:
            unused.set_axis_off()
        axes[-1].legend(
            handles.values(),
            [_in_legend(series) for series in _first_of_label(panels)],
            title=panels[0].row,
            title_fontproperties={"weight": "bold", "size": 7.5},
            alignment="left",
            loc="center left",
            bbox_to_anchor=(0, 0.5),
            borderaxespad=0,
            fontsize=6.5,
        )
    for ax in grid[-1][: len(rows[-1])]:
        ax.set_xlabel("Time step")
    return figure


def against_horizon(drawing: Drawing) -> Figure:
    """Regret over log T against the horizon, log-log, with the lower bound."""
    figure, axes = panel_grid(drawing, columns=2, height=5.0, equal="row")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
        ax.xaxis.set_major_locator(LogLocator(base=10, numticks=12))
        ax.xaxis.set_minor_formatter(NullFormatter())
    for ax in axes[-2:]:
        ax.set_xlabel("Horizon $T$")
    for ax in axes[::2]:
        ax.set_ylabel(r"Regret / $\log T$")
    legend_below(figure, handles, columns=3)
    return figure


def leaderboard(drawing: Drawing) -> Figure:
    """Regret at the horizon and rank, a row per algorithm at every budget, hollow at the largest.

    The row of a panel is a notion of privacy, drawn as a block with the lowest mean rank on top;
    its column is an instance. Panels of the same row and column are drawn as one.
    """
    blocks: dict[str, dict[str, list[Series]]] = {}
    for panel in drawing.panels:
        blocks.setdefault(panel.row, {}).setdefault(panel.column, []).extend(panel.series)
    rows = [len(next(iter(block.values()))) for block in blocks.values()]
    columns = max(len(block) for block in blocks.values())
    figure = Figure(figsize=(PAGE, 0.2 * sum(rows) + 0.35 * len(rows) + 0.7))
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.03, wspace=0.02, hspace=0.0)
    heights = [height for n in rows for height in (1.1, n)]
    ratios = {"height_ratios": heights, "width_ratios": [1.0] * columns + [1.15]}
    grid = figure.subplots(len(heights), columns + 1, squeeze=False, gridspec_kw=ratios)
    every = [s for block in blocks.values() for drawn in block.values() for s in drawn]
    # On a logarithmic axis a regret of 0 is not.
    seen = np.concatenate([s.centre[s.centre > 0] for s in every])
    for (notion, block), above, axes in zip(blocks.items(), grid[::2], grid[1::2], strict=True):
        _heading(above, notion)
        _block(axes, block, (0.7 * seen.min(), 1.4 * seen.max()))
    for ax, name in zip(grid[0], [*next(iter(blocks.values())), "Mean rank"], strict=True):
        ax.set_title(name)
    for ax in grid[1:-1:2, :-1].flat:
        ax.tick_params(labelbottom=False)
    grid[-1][columns // 2].set_xlabel("Regret at the horizon")
    grid[-1][-1].set_xlabel("1: lowest regret")
    x = every[0].x
    handles = [
        Line2D([], [], color="black", marker="o", linestyle="", markerfacecolor=face, label=label)
        for i in range(len(x))
        for face, label in [(_face("black", i, len(x)), rf"$\epsilon = {x[i]:g}$")]
    ]
    legend_below(figure, handles, columns=len(handles))
    return figure


def privacy_audit(drawing: Drawing) -> Figure:
    """What is claimed, composed and audited: a row per algorithm, a column per budget.

    The row of a panel is a notion of privacy, drawn as a block; its column is what it shows. A
    budget beyond the right edge is an arrow.
    """
    blocks: dict[str, dict[str, Sequence[Series]]] = {}
    for panel in drawing.panels:
        blocks.setdefault(panel.row, {})[panel.column] = panel.series
    rows = [len(block["claimed"]) for block in blocks.values()]
    given = drawing.panels[0].series[0].x
    figure = Figure(figsize=(PAGE, 0.18 * sum(rows) + 0.33 * len(rows) + 0.7))
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.03, wspace=0.0, hspace=0.0)
    ratios = {"height_ratios": [height for n in rows for height in (1.1, n)]}
    grid = figure.subplots(2 * len(rows), len(given), squeeze=False, gridspec_kw=ratios)
    for (notion, block), above, axes in zip(blocks.items(), grid[::2], grid[1::2], strict=True):
        _heading(above, notion)
        for i, ax in enumerate(axes):
            _budgets(ax, block, i, BEYOND * given[i])
            ax.xaxis.set_major_locator(FixedLocator([0, given[i], 2 * given[i]]))
        axes[0].set_yticklabels([in_mathtext(s.label) for s in block["claimed"]])
    for ax in grid[1:-1:2].flat:
        ax.tick_params(labelbottom=False)
    for above, below, budget in zip(grid[0], grid[-1], given, strict=True):
        above.set_title(rf"given $\epsilon = {budget:g}$")
        below.set_xlabel(r"$\epsilon$ of one reward")
    legend_below(figure, [_mark(shown) for shown in BUDGETS], columns=len(BUDGETS))
    return figure


def _heading(axes: Sequence[Axes], notion: str) -> None:
    # In the row above a block.
    for unused in axes:
        unused.set_axis_off()
    heading = axes[0].text(0, 0.2, notion, transform=axes[0].transAxes, weight="bold")
    heading.set_in_layout(False)  # it is wider than its column


def _rows(ax: Axes, number: int) -> None:
    # From the top, without labels.
    ax.set_ylim(number - 0.4, -0.6)
    ax.yaxis.set_major_locator(FixedLocator(range(number)))
    ax.set_yticklabels([])
    ax.tick_params(axis="y", length=0)


def _budgets(ax: Axes, block: dict[str, Sequence[Series]], i: int, most: float) -> None:
    # Of every algorithm of a block, at the i-th budget.
    for shown, look in BUDGETS.items():
        for row, series in enumerate(block.get(shown, ())):
            at = float(series.centre[i])
            if shown == "audited":
                ax.barh(row, at, height=0.62, color=style_of_curve(series).colour, alpha=0.55)
            if at > most:
                ax.plot(most, row, **{**look, "marker": ">", "clip_on": False})
            elif look["marker"]:
                ax.plot(at, row, **look)
    ax.set_xlim(0, most)
    _rows(ax, len(block["claimed"]))


def _mark(shown: str) -> Line2D | Patch:
    # For the legend.
    if shown == "audited":
        return Patch(color="#6b6b6b", alpha=0.55, label="audited, all arms: at least")
    label = f"{shown}: at least" if shown.startswith("audited") else shown
    return Line2D([], [], label=label, **BUDGETS[shown])


def _block(axes: Sequence[Axes], block: dict[str, list[Series]], ends: tuple[float, float]) -> None:
    # Per instance and budget, and by the label of a curve, its rank there.
    first = next(iter(block.values()))
    budgets = range(len(first[0].x))
    found = [
        {s.label: rank for s, rank in zip(drawn, ranks(drawn, i), strict=True)}
        for i in budgets
        for drawn in block.values()
    ]
    overall = {s.label: mean_rank([own[s.label] for own in found]) for s in first}
    order = sorted(overall, key=lambda label: overall[label].place)
    styles = {s.label: style_of_curve(s) for s in first}
    for ax, drawn in zip(axes[:-1], block.values(), strict=True):
        ax.set_xscale("log")
        ax.set_xlim(ends)
        for s in drawn:
            for i in budgets:
                bar = s.centre[i], s.low[i], s.high[i]
                _point(ax, order.index(s.label), bar, i, len(budgets), styles[s.label])
        ax.xaxis.set_major_locator(LogLocator(base=10, numticks=9))
        ax.xaxis.set_minor_formatter(NullFormatter())
    for label in order:
        for i in budgets:
            there = found[i * len(block) : (i + 1) * len(block)]
            place, best, worst = mean_rank([own[label] for own in there])
            bar = place, best, worst
            _point(axes[-1], order.index(label), bar, i, len(budgets), styles[label])
    axes[-1].set_xlim(0.5, len(order) + 0.5)
    axes[-1].xaxis.set_major_locator(FixedLocator(range(1, len(order) + 1)))
    for ax in axes:
        _rows(ax, len(order))
    for text in axes[0].set_yticklabels([in_mathtext(label) for label in order]):
        # What is there for comparison, and has its place in another block.
        text.set_color("#6b6b6b" if "(" in text.get_text() else "black")


def _point(
    ax: Axes, row: int, bar: tuple[float, float, float], budget: int, budgets: int, style: Style
) -> None:
    # A number and both ends of its bar; the budgets of a row one below the other.
    number, low, high = bar
    y = row + 0.4 * ((budgets - 1) / 2 - budget) / max(1, budgets - 1)
    ax.plot([low, high], [y, y], color=style.colour, linewidth=1.2)
    ax.plot(
        number,
        y,
        color=style.colour,
        marker=style.marker,
        markersize=3.5,
        markerfacecolor=_face(style.colour, budget, budgets),
    )


def _face(colour: str, budget: int, budgets: int) -> str:
    return "white" if budget == budgets - 1 else colour


def _algorithms(panels: list[PanelDrawing]) -> dict[str, str]:
    # Per label.
    return {series.label: series.style for panel in panels for series in panel.series}


def _start(x: np.ndarray) -> float:
    # The last two decades: before, every reading explores and nearly all curves are one.
    return max(1.0, float(x[-1]) / 100)


def _show_what_is_seen(ax: Axes, panels: list[PanelDrawing]) -> None:
    # On a logarithmic axis a regret of 0 is not.
    series = [series for panel in panels for series in panel.series]
    seen = np.concatenate([s.centre[(s.x >= _start(s.x)) & (s.centre > 0)] for s in series])
    if seen.size:
        ax.set_ylim(0.7 * seen.min(), 1.4 * seen.max())


def _over_time(ax: Axes, panel: PanelDrawing, looks: dict[str, Look]) -> dict[str, Line2D]:
    # The lines per label.
    ax.set_title(f"({panel.letter}) {panel.title}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    lines = {}
    for i, series in enumerate(panel.series):
        look = looks[series.label]
        line = draw_over_time(ax, series, i, style=look.style)
        line.set(linewidth=look.width, zorder=look.depth)
        lines[series.label] = line
    x = panel.series[0].x
    ax.set_xlim(_start(x), x[-1])
    ax.xaxis.set_major_locator(LogLocator(base=10, numticks=9))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
    ax.yaxis.set_minor_formatter(NullFormatter())
    return lines


def _looks(panels: list[PanelDrawing]) -> dict[str, Look]:
    # Per label. The first reading of an algorithm has the algorithm's own style, broad and below
    # the rest; what is not private is black as in every figure, thin and on top.
    algorithms = _algorithms(panels)
    own = {style_of(algorithm).colour for algorithm in algorithms.values()}
    others = cycle([style for style in ALTERNATIVES if style.colour not in own])
    looks: dict[str, Look] = {}
    met = set()
    for label, algorithm in algorithms.items():
        if "not private" in label:
            looks[label] = NOT_PRIVATE
        elif algorithm in met:
            looks[label] = Look(next(others), width=1.2, depth=4)
        else:
            looks[label] = Look(style_of(algorithm), width=2, depth=3)
        met.add(algorithm)
    return looks


def _first_of_label(panels: list[PanelDrawing]) -> list[Series]:
    found: dict[str, Series] = {}
    for panel in panels:
        for series in panel.series:
            found.setdefault(series.label, series)
    return list(found.values())


def _in_legend(series: Series) -> str:
    # In lines; of the algorithm that the row is about, the reading alone.
    if series.reading:
        return in_mathtext(series.reading).replace(", ", ",\n")
    return in_mathtext(series.legend).replace(" (", "\n(")
