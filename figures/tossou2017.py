"""Figures of tossou2017 (Tossou and Dimitrakakis, AAAI 2017), and our own of its algorithms."""

from dataclasses import replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    ROUND,
    draw_all_over_parameter,
    draw_log_over_parameter,
    legend_below,
    linear_over_time,
    panel_grid,
    write_decades,
    write_slopes,
)
from dpbandits.drawing.styles import in_mathtext, style_of_curve
from dpbandits.tables.series import Series

BARS = 12  # error bars per curve, as in the original
FLOOR = "uniform"  # does not learn: cut off by the frame if far above all others
FAR = 1.5  # times the highest bar of the learning algorithms


def over_time(drawing: Drawing) -> Figure:
    """Fig. 1: regret over time with one-sided error bars at a dozen rounds; both axes linear.

    A panel is as wide as a column, several share a page.
    """
    columns, is_alone = min(3, len(drawing.panels)), len(drawing.panels) == 1
    height, width = (3.1, COLUMN) if is_alone else (0.5 + 2.1 * -(-len(drawing.panels) // 3), PAGE)
    figure, axes = panel_grid(drawing, columns, height, width, equal="none")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = _draw_over_time(ax, panel)
        ax.set_ylabel("Regret" if ax in axes[::columns] else "")
    legend_below(figure, handles, columns=2 if is_alone else len(handles))
    return figure


def _draw_over_time(ax: Axes, panel: PanelDrawing) -> list[Artist]:
    handles = []
    for order, series in enumerate(panel.series):
        # The bars of different curves are side by side, and no marker hides a bar: markers are
        # midway between the bars of every second pair.
        steps = np.arange(BARS) + 0.125 + 0.25 * (order % 4)
        bars, markers = (
            np.searchsorted(series.x, series.x[-1] * position / BARS)
            for position in (steps, steps[::2] + 0.5)
        )
        handles.append(_with_bars(ax, series, bars, markers))
    ax.set_xlim(0, panel.series[0].x[-1])
    _show_who_learns(ax, panel.series)
    ax.ticklabel_format(axis="x", style="sci", scilimits=(0, 4), useMathText=True)
    ax.ticklabel_format(axis="y", style="plain")  # the same notation for every adversary
    ax.set_xlabel(ROUND)
    return handles


def against_epsilon(drawing: Drawing) -> Figure:
    """Regret at the horizon against epsilon with one-sided error bars, log-log."""
    figure, axes = panel_grid(drawing, columns=3, height=4.9)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log", nonpositive="mask")
        every = np.arange(panel.series[0].x.size)
        handles = [_with_bars(ax, series, every, every) for series in panel.series]
        first, last = panel.series[0].x[[0, -1]]
        ax.set_xlim(first / 1.6, last * 1.6)
        write_decades(ax.yaxis)
        # The rows have unequal lengths, so every panel has its own x label.
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(r"Privacy budget $\epsilon$")
    for ax in axes[::3]:
        ax.set_ylabel("Regret at the horizon")
    figure.legend(handles=handles, loc=(0.74, 0.16))
    return figure


def against_memory(drawing: Drawing) -> Figure:
    """Regret at the horizon against the memory of the adversary, x logarithmic."""
    figure, (ax,) = panel_grid(drawing, columns=1, height=3.8, width=COLUMN)
    handles = draw_log_over_parameter(ax, drawing.panels[0])
    ax.set_xlabel("Memory $m$ of the adversary")
    legend_below(figure, handles, columns=1)
    return figure


def several_bases(drawing: Drawing) -> Figure:
    """Regret over time of base algorithms and of DP-Λ-Lap with them; both axes linear."""
    return linear_over_time(drawing, height=3.4, entries=3, equal="none")


def against_horizon(drawing: Drawing) -> Figure:
    """Regret at the horizon against the horizon, log-log, with fitted slopes."""
    figure, axes = panel_grid(drawing, columns=2, height=3.2)
    handles = dict[str, Artist]()  # by label: each panel has a bound of its own
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles |= {str(line.get_label()): line for line in draw_log_over_parameter(ax, panel)}
        ax.set_title(f"({panel.letter}) {panel.title}")
        played = tuple(series for series in panel.series if series.runs)
        write_slopes(ax, replace(panel, series=played), symbol="T")
    lowest = min(s.centre.min() for p in drawing.panels for s in p.series if s.runs)
    axes[0].set_ylim(bottom=lowest / 20)  # room for the slopes, below the curves
    legend_below(figure, list(handles.values()), columns=3)
    return figure


def privacy_loss_of_exp3(drawing: Drawing) -> Figure:
    """Theorems on a privacy loss beside the loss of a game, against gamma (linear) or tau (log)."""
    figure = Figure(figsize=(PAGE, 3.0))
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(1, len(drawing.panels), squeeze=False).flat)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_title(f"({panel.letter}) {panel.title}")
        ax.set_yscale("log", nonpositive="mask")
        if panel.series[0].over == "tau":
            ax.set_xscale("log")
        handles = draw_all_over_parameter(ax, panel)
        if panel.series[0].over == "tau":
            ax.set_xlabel(r"Rounds per batch $\tau$")
        write_decades(ax.yaxis)
    axes[0].set_ylabel(r"Privacy loss $\epsilon$")
    legend_below(figure, handles, columns=3)
    return figure


def _show_who_learns(ax: Axes, series: tuple[Series, ...]) -> None:
    learning = [s for s in series if s.style != FLOOR] or list(series)
    far = FAR * max(s.high.max() for s in learning)
    visible = [s for s in series if s in learning or s.centre.max() <= far]
    ax.set_ylim(min(0, *(s.low.min() for s in visible)), 1.1 * max(s.high.max() for s in visible))
    for other in series:
        if other not in visible:
            _write_where_it_leaves(ax, other)


def _write_where_it_leaves(ax: Axes, series: Series) -> None:
    # The final value, beside the point where a curve crosses the upper edge.
    beyond = np.argmax(series.centre > ax.get_ylim()[1])
    ax.annotate(
        f"\N{UPWARDS ARROW} {in_mathtext(series.label)}: {series.centre[-1]:,.0f} at the horizon",
        (series.x[beyond], 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, -1),
        textcoords="offset points",
        verticalalignment="top",
        fontsize=7,
        color=style_of_curve(series).colour,
    )


def _with_bars(ax: Axes, series: Series, bars: np.ndarray, markers: np.ndarray) -> Artist:
    # A line with bars and markers at some of its points; bars may extend differently above and
    # below.
    style = style_of_curve(series)
    (line,) = ax.plot(
        series.x,
        series.centre,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        markevery=markers.tolist(),
        markerfacecolor="white",
        label=in_mathtext(series.legend),
        gid=series.artist_id,
    )
    centre = series.centre[bars]
    ax.errorbar(
        series.x[bars],
        centre,
        yerr=(centre - series.low[bars], series.high[bars] - centre),
        linestyle="none",
        ecolor=style.colour,
        elinewidth=0.8,
        capsize=1.8,
        zorder=line.get_zorder() + 0.1,  # so that a short bar is visible on its marker
    )
    return line
