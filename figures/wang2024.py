"""Figures of wang2024 (Wang and Zhu, JMLR 2024)."""

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    draw_all_over_parameter,
    draw_log_over_parameter,
    draw_regret_over_time,
    legend_below,
    panel_grid,
    write_slopes,
)
from dpbandits.drawing.styles import in_mathtext, style_of_curve

# The CDFs ----------------------------------------------------------------------------------------

ORIGINAL, NEIGHBOUR = "#000000", "#0072B2"
REGION = "#D55E00"


def cdfs(drawing: Drawing) -> Figure:
    """Figs. 1 to 3: F, the neighbour's F' and the region where F' may lie, three panels a row.

    Annotated, a panel states the smallest delta at which Lemma 8 holds, whatever was observed.
    """
    rows = -(-len(drawing.panels) // 3)
    figure = Figure(figsize=(PAGE, 0.5 + 2.1 * rows))
    figure.set_layout_engine("constrained", w_pad=0.08)
    axes = list(figure.subplots(rows, 3, sharey=True, squeeze=False).flat)
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        _draw_cdfs(ax, panel, drawing.annotated)
        ax.set_title(f"({panel.letter}) {panel.title}")
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


def _draw_cdfs(ax: Axes, panel: PanelDrawing, annotated: bool) -> None:
    # In the order of the configuration: F, F', the region's edges, the smallest delta.
    original, neighbour, low, high, smallest = panel.series
    ax.fill_between(low.x, low.centre, high.centre, color=REGION, alpha=0.3, linewidth=0)
    ids = original.artist_id, neighbour.artist_id
    ax.plot(original.x, original.centre, color=ORIGINAL, linewidth=1, gid=ids[0])
    ax.plot(neighbour.x, neighbour.centre, color=NEIGHBOUR, linestyle="--", linewidth=1, gid=ids[1])
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.ticklabel_format(axis="x", scilimits=(-3, 3), useMathText=True)
    ax.set_xlim(original.x[0], original.x[-1])
    ax.set_ylim(-0.03, 1.03)
    if annotated:
        needed = f"Lemma 8 needs\n$\\delta \\geq {_number(smallest.centre[0])}$"
        ax.text(0.96, 0.06, needed, transform=ax.transAxes, horizontalalignment="right", fontsize=7)


def _number(value: float) -> str:
    # Two digits, in mathtext.
    digits, _, power = f"{value:.2g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


# Regret ------------------------------------------------------------------------------------------


def over_time(drawing: Drawing) -> Figure:
    """Figs. 4 and 5: regret over time, x linear and y logarithmic; a row for each instance."""
    figure, axes = panel_grid(drawing, columns=2, height=4.7, equal="row", equal_x="all")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_regret_over_time(ax, panel)
    legend_below(figure, handles, columns=4, by_rows=True)
    return figure


def against_delta(drawing: Drawing) -> Figure:
    """Fig. 6: final regret against delta, log-log; annotated, with the fitted slopes."""
    return _against(drawing, r"\delta")


def against_epsilon(drawing: Drawing) -> Figure:
    """Fig. 7: final regret against epsilon, log-log; annotated, with the fitted slopes."""
    return _against(drawing, r"\epsilon")


def _against(drawing: Drawing, symbol: str) -> Figure:
    figure = Figure(figsize=(PAGE, 3.1))
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(1, len(drawing.panels), sharey=True, squeeze=False).flat)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
        ax.set_title(f"({panel.letter}) {panel.title}")
        if drawing.annotated:
            played = tuple(series for series in panel.series if series.runs)
            write_slopes(ax, replace(panel, series=played), symbol, left=True)
    if drawing.annotated:
        # A start phase of a few pulls may be cut off; the slopes need the space below the curves.
        lowest = min(s.centre.min() for p in drawing.panels for s in p.series if s.runs)
        axes[0].set_ylim(bottom=lowest / 20)
    legend_below(figure, handles, columns=4)
    return figure


def against_horizon(drawing: Drawing) -> Figure:
    """Section 7: final regret against the horizon, log-log, with the bounds.

    A bound far below the curves is written as numbers at the lower edge of the frame.
    """
    figure, axes = panel_grid(drawing, columns=2, height=4.7, equal="row", equal_x="all")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
    lowest = [min(s.centre.min() for s in panel.series if s.runs) for panel in drawing.panels]
    below: set[str] = set()
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        frame = min(lowest[i - i % 2 :][:2]) / 8  # the same for both panels of a row
        ax.set_ylim(bottom=frame)
        below |= _write_below(ax, panel, frame)
    in_frame = [handle for handle in handles if handle.get_label() not in below]
    legend_below(figure, in_frame, columns=3)
    return figure


def extra_against_horizon(drawing: Drawing) -> Figure:
    """Extra regret against the horizon, x logarithmic; a panel for each algorithm."""
    figure, axes = panel_grid(drawing, columns=2, height=6.4, equal="none", equal_x="all")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        draw_all_over_parameter(ax, panel)
        ax.set_xscale("log")
        ax.axhline(0.0, color="#6b6b6b", linewidth=0.6, zorder=0, gid="zero")
        ax.margins(y=0.2)
    return figure


def sequence_loss(drawing: Drawing) -> Figure:
    """Privacy loss of the sequence of arms against the horizon, log-log."""
    figure, (ax,) = panel_grid(drawing, columns=1, height=3.6, width=COLUMN)
    handles = draw_log_over_parameter(ax, drawing.panels[0])
    ax.set_ylabel(r"$\epsilon$ of the sequence of arms")
    legend_below(figure, handles, columns=1)
    return figure


def _write_below(ax: Axes, panel: PanelDrawing, frame: float) -> set[str]:
    # Writes curves below the frame as their first and last values; returns their labels.
    below = [series for series in panel.series if series.centre.max() < frame]
    for series in below:
        first, last = series.centre[[0, -1]]
        ax.annotate(
            f"$\\downarrow$ {in_mathtext(series.legend)}: {first:.2g} to {last:.2g}",
            (0.5, 0),
            xycoords="axes fraction",
            xytext=(0, 5),
            textcoords="offset points",
            horizontalalignment="center",
            fontsize=7,
            color=style_of_curve(series).colour,
        )
    return {in_mathtext(series.legend) for series in below}
