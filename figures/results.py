"""Figures of results of our own: questions that no paper asks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    draw_log_over_parameter,
    legend_below,
    name_rows,
    write_decades,
)
from dpbandits.drawing.styles import Style, in_mathtext, style_of_curve
from dpbandits.tables.series import Series

GREY = "#6b6b6b"
BAR: dict[str, Any] = {"linewidth": 3.5, "alpha": 0.4, "solid_capstyle": "butt"}
STEPS = {1.0: ("white", r"$\alpha = 1$"), 3.1: ("black", r"$\alpha = 3.1$")}  # of the ingredients
FREE = 1.1  # times the regret without privacy
ERRORS = 2.0  # standard errors of a bar


def _named(axes: Sequence[Axes], panels: Sequence[PanelDrawing]) -> None:
    for ax, panel in zip(axes, panels, strict=True):
        ax.set_title(f"({panel.letter}) {panel.title}", size=8)
        ax.tick_params(labelsize=7)


def constants(drawing: Drawing) -> Figure:
    """Regret over its lower bound: against the horizon, by ingredient, and against the ratio."""
    *instances, ingredients, ratios = drawing.panels
    figure = Figure(figsize=(PAGE, 4.9))
    figure.set_layout_engine("constrained", w_pad=0.03, h_pad=0.05)
    upper, lower = figure.subfigures(2, 1, squeeze=False)[:, 0]
    axes = [*upper.subplots(1, len(instances), sharey=True)]
    steps, against_ratio = lower.subplots(1, 2, width_ratios=[1.6, 1.0])
    _named([*axes, steps, against_ratio], drawing.panels)
    handles = []
    for ax, panel in zip(axes, instances, strict=True):
        handles = _over_bound(ax, panel)
        ax.set(xlabel="Horizon $T$", ylim=(0.3, 1e4))
        ax.xaxis.set_major_locator(FixedLocator([1e4, 1e8, 1e12]))
    axes[0].set_ylabel("Regret / lower bound")
    _over_bound(against_ratio, ratios)
    against_ratio.set(xlabel="Ratio $r$", xscale="linear", yscale="linear", ylim=(0.9, 2.4))
    bound = next(s for s in ratios.series if s.style == "bound").centre[0]
    for row, series in enumerate(ingredients.series):
        for x, *values in zip(series.x, series.low, series.centre, series.high, strict=True):
            low, centre, high = np.array(values) / bound
            steps.plot([low, high], [row, row], color=GREY, **BAR)
            steps.plot(centre, row, "o", color="black", markerfacecolor=STEPS[x][0])
    steps.set(xscale="log", xlabel="Regret / lower bound", xlim=(1, 30))
    steps.set_ylim(len(ingredients.series) - 0.5, -0.5)
    steps.yaxis.set_major_locator(FixedLocator(range(len(ingredients.series))))
    name_rows(steps, [series.legend for series in ingredients.series])
    marks = [_mark("o", face, label) for face, label in STEPS.values()]
    legend_below(figure, [*handles, _mark("x", GREY, "mean"), *marks], columns=5)
    return figure


def _mark(marker: str, face: str, label: str) -> Line2D:
    look: dict[str, Any] = {"color": GREY if marker == "x" else "black", "markerfacecolor": face}
    return Line2D([], [], linestyle="", marker=marker, label=label, **look)


def _over_bound(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    # Medians over the first bound of the panel, with crosses at the means.
    bound = next(s for s in panel.series if s.style == "bound")
    handles = []
    for series in (s for s in panel.series if s is not bound):
        style, unit = style_of_curve(series), bound.centre[np.searchsorted(bound.x, series.x)]
        look: dict[str, Any] = {"color": style.colour, "marker": style.marker, "markersize": 3}
        label = in_mathtext(series.legend)
        handles += ax.plot(
            series.x, series.centre / unit, style.line, label=label, gid=series.artist_id, **look
        )
        if series.runs:
            band: dict[str, Any] = {"color": style.colour, "alpha": 0.25, "linewidth": 0}
            ax.fill_between(series.x, series.low / unit, series.high / unit, **band)
            ax.plot(series.x, series.mean / unit, "x", color=style.colour, markersize=4)
    ax.set(xscale="log", yscale="log")
    ax.axhline(1.0, color="black", linewidth=0.6, zorder=0)
    return handles


def free_budgets(drawing: Drawing) -> Figure:
    """The budgets from which privacy is free: a row of each game for every algorithm."""
    figure = Figure(figsize=(PAGE, 6.0))
    figure.set_layout_engine("constrained", w_pad=0.05)
    grid = figure.subplots(-(-len(drawing.panels) // 2), 2, sharex=True)
    axes = [*grid.T.flat]
    _named(axes, drawing.panels)
    handles: dict[str, Line2D] = {}
    for ax, panel in zip(axes, drawing.panels, strict=True):
        curves = [series for series in panel.series if series.runs]
        seen = curves[0].x[:-1]  # the last one stands for no privacy
        for row, series in enumerate(curves):
            style = style_of_curve(series)
            look: dict[str, Any] = {"color": style.colour, "marker": style.marker}
            low, centre, high = (min(e, seen[-1] * 1.15) for e in free_from(series))
            ax.plot([low, high], [row, row], color=style.colour, **BAR)
            look |= {"marker": ">"} if centre > seen[-1] else {}
            ax.plot(centre, row, markersize=4, gid=series.artist_id, **look)
            look |= {"marker": style.marker, "linestyle": "", "label": series.legend}
            handles.setdefault(series.legend, Line2D([], [], **look))
        for series in (s for s in panel.series if not s.runs):
            look = {"colors": style_of_curve(series).colour, "linewidth": 0.8}
            ax.vlines(series.x, -0.5, len(curves) - 0.5, **look)
            line = Line2D([], [], color=look["colors"], linewidth=0.8, label=series.legend)
            handles.setdefault(series.legend, line)
        ax.set(xscale="log", xlim=(seen[0] / 1.2, seen[-1] * 1.3))
        ax.set_ylim(len(curves) - 0.5, -0.5)
        ax.yaxis.set_major_locator(NullLocator())
        write_decades(ax.xaxis)
    for ax in grid[-1]:
        ax.set_xlabel(r"Privacy budget $\epsilon$ from which privacy is free")
    legend_below(figure, [*handles.values()], columns=4)
    return figure


def free_from(series: Series) -> tuple[float, float, float]:
    """Return the smallest x from which the mean is at most FREE times its last value.

    It stands between those that ERRORS standard errors of the two means leave open; a
    value that is not reached is infinite.
    """
    error = (series.high - series.low) / 2
    ratio = series.mean / series.mean[-1]
    spread = ERRORS * ratio * np.hypot(error / series.mean, error[-1] / series.mean[-1])
    low, centre, high = (_settled(series.x, y) for y in (ratio - spread, ratio, ratio + spread))
    return low, centre, high


def _settled(x: np.ndarray, ratio: np.ndarray) -> float:
    above = np.flatnonzero(ratio[:-1] > FREE)
    if not above.size:
        return float(x[0])
    return float(x[above[-1] + 1]) if above[-1] + 1 < len(x) - 1 else np.inf


AXES = {
    "alpha": (r"$\alpha$", [0.25, 1.0, 2.0, 3.1]),
    "last": ("Worse mean", [0.35, 0.55, 0.7]),
    "epsilon": (r"$\epsilon$", []),
    "horizon": ("$T$", [1e4, 1e6, 1e8]),
}
LEAST = 3e-6  # share at the edge of an axis, where a triangle stands for no lost run


def tails(drawing: Drawing) -> Figure:
    """Shares of lost runs, and regret in the mean, the median and the worst runs, on four axes."""
    *shown, on_alpha, on_epsilon, on_horizon, on_gap = drawing.panels
    worst = dict(zip("efgh", (on_alpha, on_epsilon, on_horizon, on_gap), strict=True))
    figure = Figure(figsize=(PAGE, 7.0))
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.05)
    axes = [*figure.subplots(3, 4).flat]
    _named(axes, shown)
    handles: dict[str, Line2D] = {}
    for ax, panel in zip(axes, shown, strict=True):
        ax.set(xscale="log", yscale="log")
        if panel.letter in "ijk":
            _at_base(ax, panel)
            continue
        name, ticks = AXES[panel.series[0].over]
        ax.set_xlabel(name)
        for series in panel.series:
            handles[series.legend] = _with_bars(ax, series)
        for series in worst[panel.letter].series if panel.letter in worst else ():
            ax.plot(series.x, series.centre, ":", color=style_of_curve(series).colour)
        if panel.series[0].over in ("alpha", "last"):
            ax.set_xscale("linear")
        if ticks:
            ax.xaxis.set_major_locator(FixedLocator(ticks))
            ax.xaxis.set_minor_locator(NullLocator())
        if panel.series[0].shows.is_share:
            ax.set_ylim(LEAST, 1.3)
    axes[0].set_ylabel("Share of lost runs")
    axes[4].set_ylabel("Regret")
    marks = [_mark("x", GREY, "median"), _mark("v", "black", "no lost run")]
    marks.append(Line2D([], [], linestyle=":", color=GREY, label="worst 1 % of the runs"))
    legend_below(figure, [*handles.values(), *marks], columns=5)
    return figure


def _with_bars(ax: Axes, series: Series) -> Line2D:
    # A mean with its errors and crosses at medians; a triangle at the edge for a share of 0.
    style, there = style_of_curve(series), series.centre > 0
    look: dict[str, Any] = {"color": style.colour, "marker": style.marker, "markersize": 4}
    names: dict[str, Any] = {"label": in_mathtext(series.legend), "gid": series.artist_id}
    (line,) = ax.plot(series.x[there], series.centre[there], style.line, **look, **names)
    ends = np.maximum(series.low, LEAST)[there], series.high[there]
    ax.vlines(series.x[there], *ends, colors=style.colour, alpha=0.5)
    if not there.all():
        none = np.full(np.count_nonzero(~there), LEAST)
        ax.plot(series.x[~there], none, "v", color=style.colour, markersize=4, clip_on=False)
    if not series.shows.is_share:
        ax.plot(series.x, series.median, "x", color=style.colour, markersize=4)
    return line


def _at_base(ax: Axes, panel: PanelDrawing) -> None:
    for row, series in enumerate(panel.series):
        style = style_of_curve(series)
        low, centre, high = (max(e[0], LEAST) for e in (series.low, series.centre, series.high))
        ax.plot([low, high], [row, row], color=style.colour, **BAR)
        marker = style.marker if centre > LEAST else "<"
        ax.plot(centre, row, color=style.colour, marker=marker, clip_on=False)
        if not (series.shows.is_share or series.shows.by_mean):
            ax.plot(series.median[0], row, "x", color=style.colour, markersize=4)
    ax.set_yscale("linear")
    ax.set_ylim(len(panel.series) - 0.5, -0.5)
    ax.yaxis.set_major_locator(FixedLocator(range(len(panel.series))))
    name_rows(ax, [s.legend for s in panel.series] if panel.letter == "i" else [])
    if panel.series[0].shows.is_share:
        ax.set_xlim(LEAST, 1.0)


def equal_privacy(drawing: Drawing) -> Figure:
    """Regret against alpha, and of every algorithm as published and at equal privacy."""
    tuning, instances = drawing.panels[:2], drawing.panels[2:]
    figure = Figure(figsize=(PAGE, 7.6))
    figure.set_layout_engine("constrained", w_pad=0.03)
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[1.0, 2.9])[:, 0]
    for ax, panel in zip(upper.subplots(1, 2, sharey=True), tuning, strict=True):
        handles = draw_log_over_parameter(ax, panel)
        ax.set(title=f"({panel.letter}) {panel.title}", xlabel=r"$\alpha$")
    upper.legend(handles=handles, loc="outside right center")
    budgets = instances[0].series[0].x
    shared: dict[str, Any] = {"sharey": True, "sharex": "row", "squeeze": False}
    axes = lower.subplots(len(budgets), len(instances), **shared)
    for i, row_axes in enumerate(axes):
        for ax, panel in zip(row_axes, instances, strict=True):
            names = _pairs(ax, panel.series, i)
            ax.set_xscale("log")
            if i == 0:
                ax.set_title(f"({panel.letter}) {panel.title}")
        row_axes[0].set_ylim(len(names) - 0.5, -0.5)
        row_axes[0].yaxis.set_major_locator(FixedLocator(range(len(names))))
        name_rows(row_axes[0], names)
        row_axes[0].set_ylabel(rf"$\epsilon = {budgets[i]:g}$")
    axes[-1][len(instances) // 2].set_xlabel("Regret at the horizon")
    marks = [_mark("o", "white", "as published"), _mark("o", "black", "at equal privacy")]
    figure.legend(handles=marks, loc="outside lower center", ncols=2)
    return figure


def _pairs(ax: Axes, curves: Sequence[Series], i: int) -> list[str]:
    # A row per algorithm: hollow as published, filled at equal privacy. Returns their names.
    names: list[str] = []
    equal = {s.curve.removeprefix("equal-"): s for s in curves if s.curve.startswith("equal-")}
    for series in (s for s in curves if s.curve not in {e.curve for e in equal.values()}):
        row, style = len(names), style_of_curve(series)
        names.append(series.legend)
        _value(ax, series, i, row, style, "white" if series.curve in equal else style.colour)
        if after := equal.get(series.curve):
            ax.plot([series.centre[i], after.centre[i]], [row, row], color=style.colour, lw=0.8)
            _value(ax, after, i, row, style, style.colour)
    return names


def _value(ax: Axes, series: Series, i: int, row: int, style: Style, face: str) -> None:
    ax.plot([series.low[i], series.high[i]], [row, row], color=style.colour, **BAR)
    look: dict[str, Any] = {"marker": "o", "markersize": 4, "markerfacecolor": face}
    ax.plot(series.centre[i], row, color=style.colour, gid=f"{series.artist_id}-{i}", **look)
