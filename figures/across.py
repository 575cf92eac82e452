"""Figures of our own, across papers."""

from collections.abc import Sequence
from itertools import groupby
from math import inf
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from dpbandits.checks.comparisons import Rank, mean_rank, ranks
from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    PARAMETERS,
    blocks_of_rows,
    draw_all_over_parameter,
    draw_linear_regret,
    draw_log_over_parameter,
    draw_published,
    draw_regret_over_time,
    legend_below,
    linear_over_time,
    name_rows,
    panel_grid,
    published_handles,
    write_decades,
    write_powers,
)
from dpbandits.drawing.styles import Style, in_mathtext, style_of, style_of_curve
from dpbandits.experiments.audit import AUDITED, CLAIMED, COMPOSED, ONE_CHOICE
from dpbandits.tables.series import Series

ABREAST, ROW = 7, 1.15  # small panels side by side, and their height in inches
HEAD = 0.25  # height of the heading of a block, in rows
ROOM = 1.5  # factor between the outermost dots of `variants` and the ends of their axis
REST = "#cccccc"  # colour of the other algorithms in a small panel


def variants(drawing: Drawing) -> Figure:
    """Regret at the horizon over the mean of the first variant: filled median, hollow mean.

    The row of a panel is the heading of a block with a row for each curve; its column is a game.
    """
    rows = [(row, list(panels)) for row, panels in groupby(drawing.panels, key=lambda p: p.row)]
    titles = [panel.column for panel in rows[0][1]]
    blocks = {row: len(panels[0].series) for row, panels in rows}
    figure, axes = blocks_of_rows(blocks, titles, [1.0] * len(titles), row=0.175)
    for row_axes, (_, panels) in zip(axes, rows, strict=True):
        for ax, panel in zip(row_axes, panels, strict=True):
            _variants(ax, panel.series)
            ax.tick_params(labelbottom=row_axes is axes[-1])
        name_rows(row_axes[0], [series.variant or series.legend for series in panels[0].series])
        row_axes[0].get_yticklabels()[0].set_fontweight("bold")
    for column in zip(*axes, strict=True):  # the games of a column share their limits
        ends = np.array([ax.get_xlim() for ax in column])
        for ax in column:
            ax.set_xlim(ends[:, 0].min() / ROOM, ends[:, 1].max() * ROOM)
    legend_below(figure, [_dot("black", "median of the runs"), _dot("white", "mean")], columns=2)
    figure.legends[0].set_title("Regret at the horizon / mean regret of the variant in bold")
    return figure


def _variants(ax: Axes, curves: tuple[Series, ...]) -> None:
    unit = curves[0].mean[-1]
    ax.set_xscale("log")
    ax.axvline(1.0, color=style_of("bound").colour, linewidth=0.6, zorder=0)
    for row, series in enumerate(curves):
        style: dict[str, Any] = {"color": style_of_curve(series).colour, "markersize": 4}
        median, mean = series.median[-1] / unit, series.mean[-1] / unit
        ax.plot([median, mean], [row, row], linewidth=1.6, alpha=0.5, **style)
        ax.plot(median, row, marker="o", **style)
        ax.plot(mean, row, marker="o", markerfacecolor="white", **style)
    ax.text(1.0, -0.45, f"{unit:,.0f}", horizontalalignment="center", fontsize=7, color="#6b6b6b")
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0.5), max(high, 2.0))  # so that there is a tick beside 1
    ax.xaxis.set_major_locator(LogLocator(base=10, numticks=4))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _dot(face: str, label: str) -> Line2D:
    return Line2D([], [], color="black", marker="o", ls="", markerfacecolor=face, label=label)


def against_horizon(drawing: Drawing) -> Figure:
    """Regret over log T against the horizon, log-log, with the lower bound."""
    figure, axes = panel_grid(drawing, columns=2, height=5.0, equal="row")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
    legend_below(figure, handles, columns=3)
    return figure


def against_dimension(drawing: Drawing) -> Figure:
    """Regret, and what privacy adds to it, against the dimension of linear bandits; log-log."""
    figure, axes = panel_grid(drawing, columns=2, height=4.6, equal="none")
    handles = [draw_log_over_parameter(*pair) for pair in zip(axes, drawing.panels, strict=True)]
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.xaxis.set_major_locator(FixedLocator(panel.series[0].x.tolist()))
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.xaxis.set_minor_locator(NullLocator())
    legend_below(figure, handles[0], columns=4)
    figure.draw_without_rendering()  # labels are moved apart by their places on the page
    for ax, panel in zip(axes, drawing.panels, strict=True):
        write_powers(ax, panel, symbol="d")
    return figure


def leaderboard_view(drawing: Drawing) -> Figure:
    """Regret against a parameter, log-log; a row per notion of privacy, its legend beside it."""
    columns = 2
    rows = -(-len(drawing.panels) // columns)
    figure, axes = panel_grid(drawing, columns, height=0.3 + 2.3 * rows, equal="row")
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        handles = draw_log_over_parameter(ax, panel)
        ax.set_title(ax.get_title(), size=8)
        if i % columns == columns - 1:
            ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1), fontsize=7)
    return figure


def small_multiples(drawing: Drawing) -> Figure:
    """Regret against a parameter, log-log: a block for each panel, in it a small panel per curve.

    A small panel has its curve in colour, all others of the block in grey, and the factors between
    the curve and the lowest one at either end: a dash in a start phase that never ends. The curves
    nearest to the lowest come first.
    """
    rows = [-(-len(panel.series) // ABREAST) for panel in drawing.panels]
    figure = Figure(figsize=(PAGE, ROW * (sum(rows) + HEAD * len(rows)) + 0.3))
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.02)
    heights = [lines + HEAD for lines in rows]
    parts = figure.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, panel, lines in zip(parts, drawing.panels, rows, strict=True):
        part.suptitle(panel.title, x=0.01, horizontalalignment="left", weight="bold", size=8)
        axes = part.subplots(lines, ABREAST, sharex=True, sharey=True, squeeze=False)
        _small_multiples(list(axes.flat), panel)
        for ax in axes[:, 0]:
            ax.set_ylabel("Regret", size=7)
    parts[-1].supxlabel(PARAMETERS.get(drawing.panels[0].series[0].over, ""), size=8)
    return figure


def _small_multiples(axes: list[Axes], panel: PanelDrawing) -> None:
    # A regret of 0, of a start phase that never ends, is off a logarithmic axis.
    centres = np.array([np.where(s.centre > 0, s.centre, np.nan) for s in panel.series])
    factors = centres / np.nanmin(centres, axis=0)
    order = np.argsort(np.nanmean(np.log(factors), axis=1))
    for ax, i in zip(axes, order, strict=False):
        curve, (first, *_, last) = panel.series[i], factors[i]
        ax.set(xscale="log", yscale="log")
        for series, centre in zip(panel.series, centres, strict=True):
            ax.plot(series.x, centre, color=REST, linewidth=0.6)
        ax.plot(curve.x, centres[i], color=style_of_curve(curve).colour, linewidth=1.8)
        ax.set_title(f"{in_mathtext(curve.legend)}\n× {_factor(first)} to {_factor(last)}", size=7)
        for axis in (ax.xaxis, ax.yaxis):
            write_decades(axis)
            axis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_locator(LogLocator(base=100))  # more labels would touch
        ax.tick_params(labelsize=7)
    for unused in axes[len(order) :]:
        unused.remove()


def _factor(value: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def regret_by_gaps_and_rewards(drawing: Drawing) -> Figure:
    """Mean regret with its band over the rounds, a panel for each regret; both axes linear."""
    return linear_over_time(drawing, height=3.2, entries=4)


HEIGHT, LEGEND = 2.25, 0.18  # inches: height of a row of panels, and of a row of the legend
LINEAR_UP_TO = 10.0  # factor between final regrets up to which their axis is linear
BELOW = 4.0  # factor between the lowest of them and the end of a logarithmic axis


def comparison(drawing: Drawing) -> Figure:
    """Regret over time, a panel for each budget; x linear, y too if the final regrets are near."""
    columns = min(2, len(drawing.panels))
    rows = -(-len(drawing.panels) // columns)
    width = PAGE if columns > 1 else 1.3 * COLUMN
    entries = 4 if columns > 1 else 2
    lines = -(-len(drawing.panels[0].series) // entries)
    height = HEIGHT * rows + 0.45 + LEGEND * lines
    figure, axes = panel_grid(drawing, columns, height, width)
    ends = [s.centre[-1] for panel in drawing.panels for s in panel.series if s.runs]
    is_linear = max(ends, default=0.0) <= LINEAR_UP_TO * min(ends, default=0.0)
    draw = draw_linear_regret if is_linear else draw_regret_over_time
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw(ax, panel)
    if not is_linear:  # a start phase, as of an algorithm that still favours one arm, may leave it
        lowest = min(s.centre[-1] for p in drawing.panels for s in p.series if s.centre[-1] > 0)
        axes[0].set_ylim(bottom=max(axes[0].get_ylim()[0], lowest / BELOW))
    legend_below(figure, handles, columns=entries)
    return figure


def stopping_times(drawing: Drawing) -> Figure:
    """Stopping times over the swept value, both axes logarithmic; of a single one, a row each.

    Axes of shares are linear. Published points are open markers. An arrow stands for a median that
    is not known, as half of the runs or more are undecided.
    """
    if drawing.panels[0].series[0].x.size == 1:
        return _rows_of_times(drawing)
    columns, rows = min(2, len(drawing.panels)), -(-len(drawing.panels) // 2)
    width = PAGE if columns == 2 else 1.3 * COLUMN
    figure, axes = panel_grid(drawing, columns, 0.9 + HEIGHT * rows, width, equal="none")
    handles = dict[str, Line2D]()
    for ax, panel in zip(axes, drawing.panels, strict=True):
        if any(series.shows.is_share for series in panel.series):
            lines = draw_all_over_parameter(ax, panel)
            ax.set_xscale("log")
        else:
            lines = draw_log_over_parameter(ax, panel)
        handles |= {str(line.get_label()): line for line in lines}
        draw_published(ax, panel, size=3.5)
    entries = [*handles.values(), *published_handles(drawing.panels)]
    legend_below(figure, entries, columns=1 + columns)
    return figure


def _rows_of_times(drawing: Drawing) -> Figure:
    series = drawing.panels[0].series
    figure, (ax,) = panel_grid(drawing, 1, 0.8 + LEGEND * len(series), 1.3 * COLUMN)
    ends = np.concatenate([[s.low[0], s.centre[0], s.high[0]] for s in series])
    ends = ends[np.isfinite(ends)]
    first, last = (ends.min() / 1.3, ends.max() * 1.3) if ends.size else (1.0, 10.0)
    for row, curve in enumerate(series):
        style = style_of_curve(curve)
        low, centre, high = (min(y[0], last) for y in (curve.low, curve.centre, curve.high))
        ax.plot([low, high], [row, row], color=style.colour, **BAR)
        marker = style.marker if centre < last else ">"
        ax.plot([centre], [row], style.colour, marker=marker, gid=curve.artist_id, clip_on=False)
    ax.set(xscale="log", xlabel=series[0].shows.label, xlim=(first, last))
    ax.set_ylim(len(series) - 0.5, -0.5)
    ax.yaxis.set_major_locator(FixedLocator(range(len(series))))
    name_rows(ax, [curve.legend for curve in series])
    write_decades(ax.xaxis)
    return figure


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
    every = [s for block in blocks.values() for curves in block.values() for s in curves]
    # A regret of 0 is off a logarithmic axis.
    seen = np.concatenate([s.centre[s.centre > 0] for s in every])
    for row_axes, block in zip(axes, blocks.values(), strict=True):
        _block(row_axes, block, (0.6 * seen.min(), 1.7 * seen.max()))
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
    # `all_ranks` holds the ranks by label, for each budget and instance.
    first = next(iter(block.values()))
    budgets = range(len(first[0].x))
    all_ranks = [
        {s.label: rank for s, rank in zip(curves, ranks(curves, i), strict=True)}
        for i in budgets
        for curves in block.values()
    ]
    overall = {s.label: mean_rank([ranking[s.label] for ranking in all_ranks]) for s in first}
    order = sorted(overall, key=lambda label: overall[label].midrank)
    styles = {s.label: style_of_curve(s) for s in first}
    for ax, curves in zip(axes[:-1], block.values(), strict=True):
        ax.set_xscale("log")
        ax.set_xlim(ends)
        for s in curves:
            for i in budgets:
                bar = Rank(s.centre[i], s.low[i], s.high[i])
                _point(ax, order.index(s.label), bar, i, len(budgets), styles[s.label])
        ax.xaxis.set_major_locator(LogLocator(base=10, numticks=9))
        ax.xaxis.set_minor_formatter(NullFormatter())
    for label in order:
        for i in budgets:
            there = all_ranks[i * len(block) : (i + 1) * len(block)]
            bar = mean_rank([ranking[label] for ranking in there])
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


NEAR = 0.3  # of the axis: a composed epsilon below it would cover the 0 of an audit
BEYOND = 2.3  # times the given epsilon: larger values are written at the edge
BAR_OF_AUDIT: dict[str, Any] = {"height": 0.62, "alpha": 0.55}
MARK: dict[str, Any] = {"color": "black", "linestyle": "", "zorder": 3, "clip_on": False}
MARKS: dict[str, dict[str, Any]] = {
    CLAIMED: {"marker": "|", "markersize": 10},
    COMPOSED: {"marker": "D", "markersize": 3.5, "markerfacecolor": "white"},
    ONE_CHOICE: {"marker": "o", "markersize": 2.5},
}
ARROW: dict[str, Any] = {"marker": ">", "markersize": 3.5, "markerfacecolor": "white"}


def privacy_audit(drawing: Drawing) -> Figure:
    """Claimed, composed and audited epsilon: a row per algorithm, a column per budget.

    The row of a panel is a notion of privacy, drawn as a block. A composed epsilon beyond the right
    edge is an arrow there with its value. An audited bound beyond it is a full bar with its value,
    and a bound of 0 is written as 0.
    """
    blocks: dict[str, dict[str, Sequence[Series]]] = {}
    for panel in drawing.panels:
        blocks.setdefault(panel.row, {})[panel.series[0].shows.name] = panel.series
    budgets = drawing.panels[0].series[0].x
    rows = {notion: len(block[CLAIMED]) for notion, block in blocks.items()}
    titles = [rf"given $\epsilon = {budget:g}$" for budget in budgets]
    figure, axes = blocks_of_rows(rows, titles, [1.0] * len(budgets), row=0.175)
    for row_axes, block in zip(axes, blocks.values(), strict=True):
        for i, ax in enumerate(row_axes):
            _budgets(ax, block, i, BEYOND * budgets[i])
            ticks = [0, budgets[i], 2 * budgets[i]]
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.tick_params(labelbottom=row_axes is axes[-1])
            if row_axes is axes[-1]:
                ax.set_xlabel(r"privacy loss $\epsilon$")
        name_rows(row_axes[0], [series.legend for series in block[CLAIMED]])
    legend_below(figure, _marks(), columns=3)
    return figure


def _budgets(ax: Axes, block: dict[str, Sequence[Series]], i: int, most: float) -> None:
    # The epsilons of all algorithms of a block, at the i-th budget.
    ax.set_xlim(0, most)
    for row, series in enumerate(block[AUDITED]):
        composed = float(block[COMPOSED][row].centre[i])
        beside = composed if composed < NEAR * most else 0.0
        _audited(ax, row, float(series.centre[i]), (beside, most), style_of_curve(series).colour)
    for shows, style in MARKS.items():
        for row, series in enumerate(block.get(shows, ())):
            value = float(series.centre[i])
            if value <= most:
                ax.plot(value, row, **MARK, **style)
            else:
                ax.plot(most, row, **MARK, **ARROW)
                _write(ax, r"$\infty$" if value == inf else f"{value:.3g}", (most, row), 4)


def _audited(ax: Axes, row: int, least: float, ends: tuple[float, float], colour: str) -> None:
    # A bar; a bound of 0 is written to the right of the first end, one beyond the second as it is.
    beside, most = ends
    ax.barh(row, min(least, most), color=colour, **BAR_OF_AUDIT)
    if least > most:
        _write(ax, rf"{least:.3g}$\,\rightarrow$", (most, row), -5, alignment="right")
    elif least == 0:
        _write(ax, "0", (beside, row), 5)


def _write(
    ax: Axes, text: str, point: tuple[float, float], offset: float, alignment: str = "left"
) -> None:
    ax.annotate(
        text,
        point,
        xytext=(offset, 0),
        textcoords="offset points",
        horizontalalignment=alignment,
        verticalalignment="center_baseline",
        fontsize=7,
        annotation_clip=False,
    )


def _marks() -> list[Line2D | Patch]:
    # For the legend, column by column.
    bar = Patch(color="#6b6b6b", alpha=BAR_OF_AUDIT["alpha"], label="audited, all arms: at least")
    texts = {
        ONE_CHOICE: "audited, one choice: at least",
        CLAIMED: "claimed",
        COMPOSED: "composed",
    }
    marks = [Line2D([], [], label=text, **MARK, **MARKS[shows]) for shows, text in texts.items()]
    beyond = r"composed, beyond the axis ($\infty$: no bound known)"
    return [bar, *marks, Line2D([], [], label=beyond, **MARK, **ARROW)]


def undecided_shares(drawing: Drawing) -> Figure:
    """Share of undecided or wrong answers against epsilon."""
    figure, axes = panel_grid(drawing, columns=2, height=5.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_all_over_parameter(ax, panel)
        ax.set_xscale("log")
        write_decades(ax.xaxis)
    axes[0].set_ylim(bottom=0)
    legend_below(figure, handles, columns=2)
    return figure


def identification_regimes(drawing: Drawing) -> Figure:
    """Median stopping time over the lower bound against epsilon; below it the share undecided.

    The first half of the panels has the times, the second half the undecided runs of each.
    """
    number = len(drawing.panels) // 2
    figure = Figure(figsize=(PAGE, 5.6))
    figure.set_layout_engine("constrained", w_pad=0.1)
    ratios = [2.4, 0.8] * (number // 3)
    grid = figure.subplots(len(ratios), 3, sharex=True, gridspec_kw={"height_ratios": ratios})
    upper, lower = grid[::2].flat, grid[1::2].flat
    for ax, below, panel, undecided in zip(
        upper, lower, drawing.panels[:number], drawing.panels[number:], strict=True
    ):
        ax.set_title(f"({panel.letter}) {panel.title}")
        ax.set_ylabel("Time / bound" if below.get_subplotspec().is_first_col() else "")
        *played, bound = panel.series  # the last curve is the bound
        handles = []
        for series in played:
            unit = bound.centre[np.searchsorted(bound.x, series.x)]
            style = style_of_curve(series)
            handles += ax.plot(
                series.x,
                series.centre / unit,
                color=style.colour,
                marker=style.marker,
                markersize=3,
                label=series.legend,
                gid=series.artist_id,
            )
        ax.set(xscale="log", yscale="log")
        ax.axhline(1.0, color=style_of("bound").colour, linewidth=0.6, zorder=0)
        draw_all_over_parameter(below, undecided)
        below.set(ylim=(-0.05, 1.05), title="", yticks=[0, 1])
        below.set_ylabel("Undecided" if below.get_subplotspec().is_first_col() else "")
        write_decades(below.xaxis)
    legend_below(figure, handles, columns=4)
    return figure


AT_RIGHT = 120.0  # factor between the highest median or quartile and the right edge, for texts


def identification_leaderboard(drawing: Drawing) -> Figure:
    """Median stopping time over the lower bound: a block per budget, a row per algorithm.

    A column is an instance, the last one the geometric mean over them, which orders the rows. The
    first half of the panels has the times, whose last curve is the bound; the second half has the
    undecided runs. An infinite median is an arrow at the edge, and a bar to it ends there.
    """
    number = len(drawing.panels) // 2
    times, undecided = drawing.panels[:number], drawing.panels[number:]
    *played, bound = times[0].series
    titles = [*(f"({panel.letter}) {panel.column}" for panel in times), "Geometric mean"]
    blocks = {rf"$\epsilon = {x:g}$": len(played) for x in bound.x}
    figure, axes = blocks_of_rows(blocks, titles, [1.0] * number + [1.25], row=0.2)
    # Shapes (instance, algorithm, low to high, budget) and (instance, algorithm, budget).
    ratios = np.array(
        [[[s.low, s.centre, s.high] / p.series[-1].centre for s in p.series[:-1]] for p in times]
    )
    shares = np.array([[series.centre for series in panel.series] for panel in undecided])
    seen = ratios[np.isfinite(ratios)]
    ends = min(1.0, *seen) / ROOM, AT_RIGHT * max(1.0, *seen)
    for i, row_axes in enumerate(axes):
        means = np.exp(np.log(ratios[:, :, 1, i]).mean(axis=0))
        order = np.argsort(means, kind="stable")
        for ax in row_axes:
            ax.set(xscale="log", xlim=ends)
            ax.axvline(1.0, color=style_of("bound").colour, linewidth=0.6, zorder=0)
            ax.set_xticks([1, 100], ["1", "100"])
            ax.xaxis.set_minor_locator(FixedLocator([10, 1000]))
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.tick_params(labelbottom=row_axes is axes[-1])
        for row, k in enumerate(order):
            style = style_of_curve(played[k])
            for ax, bar, share in zip(
                row_axes[:-1], ratios[:, k, :, i], shares[:, k, i], strict=True
            ):
                _time(ax, row, bar, style, f"{100 * share:.3g} %" if share else "")
            medians = np.isfinite(ratios[:, k, 1, i]).sum()
            text = f"{means[k]:.3g}" if medians == number else f"{medians} of {number}"
            _time(row_axes[-1], row, [means[k]] * 3, style, text)
        name_rows(row_axes[0], [played[k].legend for k in order])
    axes[-1][number // 2].set_xlabel("Median stopping time / lower bound")
    legend_below(figure, _time_marks(), columns=4)
    return figure


def _time(ax: Axes, row: int, bar: Sequence[float], style: Style, text: str) -> None:
    # A median between its quartiles, any of which may be beyond the edge, and a text there.
    edge = ax.get_xlim()[1]
    low, number, high = (value if np.isfinite(value) else edge for value in bar)
    ax.plot([low, high], [row, row], color=style.colour, **BAR)
    mark = {"marker": style.marker, "markersize": 4} if number < edge else MARK | ARROW
    ax.plot(number, row, **(mark | {"color": style.colour}))
    _write(ax, text, (edge, row), -5, alignment="right")


def _time_marks() -> list[Line2D]:
    return [
        Line2D([], [], color="black", marker="o", markersize=4, linestyle="", label="median"),
        Line2D([], [], color="black", label="quartiles", **BAR),
        Line2D([], [], label="no median", **MARK, **ARROW),
        Line2D([], [], linestyle="", color="black", label="12 %: undecided runs"),
    ]
