"""Figures of sajed2019 (Sajed and Sheffet, ICML 2019)."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from dpbandits.drawing.annotations import legend_below
from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    ROUND,
    draw_all_over_parameter,
    draw_log_over_parameter,
    draw_regret_over_time,
    panel_grid,
)


def two_budgets_a_panel(drawing: Drawing) -> Figure:
    """Fig. 1: regret over time, y logarithmic as in the paper; two privacy budgets per panel."""
    figure, axes = panel_grid(drawing, columns=2, height=2.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        draw_regret_over_time(ax, panel)
        # Between the curves of DP-UCB and those of DP-SE, which are far apart.
        ax.legend(loc="center right", fontsize=7, ncols=2, bbox_to_anchor=(1.0, 0.45))
    return figure


def over_time_and_against_arms(drawing: Drawing) -> Figure:
    """Regret over time, a panel for each number of arms K, and last the final regret against K."""
    figure = Figure(figsize=(PAGE, 4.4))
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(2, 3, sharey=True).flat)
    beside = axes.pop()
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_title(f"({panel.letter}) {panel.title}")
    for ax, panel in zip(axes[:-1], drawing.panels[:-1], strict=True):
        draw_regret_over_time(ax, panel)
        ax.set_xlabel(ROUND)  # also above a panel with another x axis
    last, against = axes[-1], drawing.panels[-1]
    last.set_xscale("log")
    handles = draw_all_over_parameter(last, against)
    last.xaxis.set_major_locator(FixedLocator(against.series[0].x.tolist()))
    last.xaxis.set_major_formatter("{x:.0f}")
    last.xaxis.set_minor_locator(NullLocator())
    beside.set_axis_off()
    beside.legend(handles=handles, loc="center")
    return figure


def stopping_rules(drawing: Drawing) -> Figure:
    """Samples that stopping rules use against |mu| and against epsilon, log-log, with the bounds.

    Panels a and b are drawn; the failure counts of panels c and d are written into them.
    """
    figure = Figure(figsize=(PAGE, 4.2))
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(1, 2, sharey=True))
    failures = drawing.panels[2:]
    for ax, panel, failed in zip(axes, drawing.panels[:2], failures, strict=True):
        handles = draw_log_over_parameter(ax, panel)
        ax.set_title(f"({panel.letter}) {panel.title}")
        _write_failures(ax, failed)
    axes[0].set_xlabel(r"$|\mu|$")
    legend_below(figure, handles, columns=3)
    return figure


def _write_failures(ax: Axes, panel: PanelDrawing) -> None:
    # Number of streams on which a rule fails, at the parameter value where it fails most often.
    streams = max(series.runs for series in panel.series)
    lines = [f"Failures in {streams:,} streams, at most"]
    lines += [f"{series.legend}: {series.mean.max() * streams:.0f}" for series in panel.series]
    ax.text(
        0.97,
        0.97,
        "\n".join(lines),
        transform=ax.transAxes,
        horizontalalignment="right",
        verticalalignment="top",
        fontsize=7,
    )
