"""The figures of wang2024 (Wang and Zhu, JMLR 2024)."""

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from dpbandits.curves import Series
from dpbandits.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.shapes import (
    draw_all_over_parameter,
    draw_log_over_parameter,
    draw_regret_over_time,
    legend_below,
    panel_grid,
    write_slopes,
)

# The CDFs ----------------------------------------------------------------------------------------

ORIGINAL, NEIGHBOUR = "#000000", "#0072B2"
REGION = "#D55E00"


def cdfs(drawing: Drawing) -> Figure:
    """Figs. 1 to 3: F, the neighbour's F' and the region where F' may lie, three panels a row.

    Written into a panel is the smallest delta at which Lemma 8 holds there, whatever was observed.
    """
    rows = -(-len(drawing.panels) // 3)
    figure = Figure(figsize=(PAGE, 0.5 + 2.1 * rows))
    figure.set_layout_engine("constrained")
    axes = list(figure.subplots(rows, 3, sharey=True, squeeze=False).flat)
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        _draw_cdfs(ax, panel)
        ax.set_title(f"({panel.letter}) {panel.title}", fontsize=8)
        if i >= 3 * (rows - 1):
            ax.set_xlabel("$x$")
    for ax in axes[::3]:
        ax.set_ylabel("CDF")
    handles = [
        Line2D([], [], color=ORIGINAL, label="$F(x)$"),
        Line2D([], [], color=NEIGHBOUR, linestyle="--", label="$F'(x)$, one observation changed"),
        Patch(facecolor=REGION, alpha=0.3, label="Where $F'$ may lie (Lemma 8)"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def _draw_cdfs(ax: Axes, panel: PanelDrawing) -> None:
    # The order of the configuration: F, F', the region's edges, the smallest delta.
    original, neighbour, low, high, smallest = panel.series
    ax.fill_between(low.x, low.centre, high.centre, color=REGION, alpha=0.3, linewidth=0)
    ax.plot(original.x, original.centre, color=ORIGINAL, linewidth=1)
    ax.plot(neighbour.x, neighbour.centre, color=NEIGHBOUR, linestyle="--", linewidth=1)
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.ticklabel_format(axis="x", scilimits=(-3, 3), useMathText=True)
    ax.set_xlim(original.x[0], original.x[-1])
    ax.set_ylim(-0.03, 1.03)
    ax.text(
        0.96,
        0.06,
        f"holds from\n$\\delta = {_number(smallest.centre[0])}$ on",
        transform=ax.transAxes,
        horizontalalignment="right",
        fontsize=7,
    )


def _number(value: float) -> str:
    # Two digits, in mathtext.
    digits, _, power = f"{value:.2g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


# Regret ------------------------------------------------------------------------------------------


def over_time(drawing: Drawing) -> Figure:
    """Figs. 4 and 5: regret over time with its standard deviation; x linear, y logarithmic."""
    figure, axes = panel_grid(drawing, columns=2, height=4.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_regret_over_time(ax, panel)
    # A band that reaches down to 0 must not decide the range.
    axes[0].set_ylim(100, 1.5 * max(s.high.max() for p in drawing.panels for s in p.series))
    for ax in axes[-2:]:
        ax.set_xlabel("Round $t$")
    for ax in axes[::2]:
        ax.set_ylabel("Regret")
    legend_below(figure, handles, columns=3)
    return figure


def against_delta(drawing: Drawing) -> Figure:
    """Fig. 6: final regret against delta, log-log, with the slopes where they were fitted."""
    return _against(drawing, r"$\delta$", r"\delta")


def against_epsilon(drawing: Drawing) -> Figure:
    """Fig. 7: final regret against epsilon, log-log, with the slopes where they were fitted."""
    return _against(drawing, r"$\epsilon$", r"\epsilon")


def _against(drawing: Drawing, name: str, symbol: str) -> Figure:
    figure = Figure(figsize=(PAGE, 3.3))
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(1, len(drawing.panels), sharey=True))
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"({panel.letter}) {panel.title}")
        handles = draw_all_over_parameter(ax, panel)
        ax.set_xlim(panel.series[0].x[0], panel.series[0].x[-1])
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(f"Privacy parameter {name}")
        _write_slopes(ax, panel, symbol)
    # Room for the slopes, above the curves.
    axes[0].set_ylim(30, 20 * max(s.high.max() for p in drawing.panels for s in p.series))
    axes[0].set_ylabel("Regret at the horizon")
    legend_below(figure, handles, columns=3)
    return figure


def _write_slopes(ax: Axes, panel: PanelDrawing, symbol: str) -> None:
    # Of the algorithms alone.
    played: tuple[Series, ...] = tuple(s for s in panel.series if s.runs)
    write_slopes(ax, replace(panel, series=played), symbol, above=True)


def against_horizon(drawing: Drawing) -> Figure:
    """Section 7: final regret against the horizon, log-log, with the bounds."""
    figure, axes = panel_grid(drawing, columns=2, height=4.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
    for ax in axes[-2:]:
        ax.set_xlabel("Horizon $T$")
    for ax in axes[::2]:
        ax.set_ylabel("Regret at the horizon")
    legend_below(figure, handles, columns=3)
    return figure
