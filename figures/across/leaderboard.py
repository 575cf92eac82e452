"""Leaderboard of private algorithms, by privacy notion: regret at the horizon, and rank."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

from dpbandits.checks.comparisons import Rank, mean_rank, ranks
from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import blocks_of_rows, legend_below, name_rows
from dpbandits.drawing.styles import Style, style_of_curve
from dpbandits.tables.series import Series

# Broad and pale, so that it is visible beside its marker; a shorter bar is hidden by the marker.
BAR: dict[str, Any] = {"linewidth": 3.5, "alpha": 0.4, "solid_capstyle": "butt"}
MOST_RANKS = 9  # with a label each; more would touch


def leaderboard(drawing: Drawing) -> Figure:
    """Regret at the horizon and rank, a row per algorithm at every budget, hollow at the largest.

    The row of a panel is a notion of privacy, drawn as a block with the lowest mean rank on top;
    its column is an instance. Panels of the same row and column are drawn as one.
    """
    blocks: dict[str, dict[str, list[Series]]] = {}
    for panel in drawing.panels:
        blocks.setdefault(panel.row, {}).setdefault(panel.column, []).extend(panel.series)
    rows = {notion: len(next(iter(block.values()))) for notion, block in blocks.items()}
    instances = [*next(iter(blocks.values()))]
    widths = [1.0] * len(instances) + [1.15]
    figure, axes = blocks_of_rows(rows, [*instances, "Mean rank"], widths, row=0.2)
    every = [s for block in blocks.values() for drawn in block.values() for s in drawn]
    # A regret of 0 is off a logarithmic axis.
    seen = np.concatenate([s.centre[s.centre > 0] for s in every])
    for own, block in zip(axes, blocks.values(), strict=True):
        _block(own, block, (0.6 * seen.min(), 1.7 * seen.max()))
    for own in axes[:-1]:
        for ax in own[:-1]:
            ax.tick_params(labelbottom=False)
    axes[-1][len(instances) // 2].set_xlabel("Regret at the horizon")
    axes[-1][-1].set_xlabel("Rank (1 is the\nlowest regret)")
    x = every[0].x
    handles = [
        Line2D([], [], color="black", marker="o", linestyle="", markerfacecolor=face, label=label)
        for i in range(len(x))
        for face, label in [(_face("black", i, len(x)), rf"$\epsilon = {x[i]:g}$")]
    ]
    bar = Line2D(
        [], [], color="black", label="spread; of a rank: the ranks that noise leaves open", **BAR
    )
    legend_below(figure, [*handles, bar], columns=len(handles) + 1)
    return figure


def _block(axes: Sequence[Axes], block: dict[str, list[Series]], ends: tuple[float, float]) -> None:
    # `found` holds the ranks by label, for each budget and instance.
    first = next(iter(block.values()))
    budgets = range(len(first[0].x))
    all_ranks = [
        {s.label: rank for s, rank in zip(drawn, ranks(drawn, i), strict=True)}
        for i in budgets
        for drawn in block.values()
    ]
    overall = {s.label: mean_rank([own[s.label] for own in all_ranks]) for s in first}
    order = sorted(overall, key=lambda label: overall[label].place)
    styles = {s.label: style_of_curve(s) for s in first}
    for ax, drawn in zip(axes[:-1], block.values(), strict=True):
        ax.set_xscale("log")
        ax.set_xlim(ends)
        for s in drawn:
            for i in budgets:
                bar = Rank(s.centre[i], s.low[i], s.high[i])
                _point(ax, order.index(s.label), bar, i, len(budgets), styles[s.label])
        ax.xaxis.set_major_locator(LogLocator(base=10, numticks=9))
        ax.xaxis.set_minor_formatter(NullFormatter())
    for label in order:
        for i in budgets:
            there = all_ranks[i * len(block) : (i + 1) * len(block)]
            bar = mean_rank([own[label] for own in there])
            _point(axes[-1], order.index(label), bar, i, len(budgets), styles[label])
    axes[-1].set_xlim(0.5, len(order) + 0.5)
    step = 2 if len(order) > MOST_RANKS else 1
    axes[-1].xaxis.set_major_locator(FixedLocator(range(1, len(order) + 1, step)))
    legends = {s.label: s.legend for s in first}
    name_rows(axes[0], [legends[label] for label in order])


def _point(
    ax: Axes, row: int, bar: tuple[float, float, float], budget: int, budgets: int, style: Style
) -> None:
    # A value with the ends of its bar; the budgets of a row are stacked.
    number, low, high = bar
    y = row + 0.4 * ((budgets - 1) / 2 - budget) / max(1, budgets - 1)
    ax.plot([low, high], [y, y], color=style.colour, **BAR)
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
