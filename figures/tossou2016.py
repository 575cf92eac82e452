"""Figures of tossou2016 (Tossou and Dimitrakakis, AAAI 2016)."""

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.drawing.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    ROUND,
    draw_all_over_parameter,
    draw_all_over_time,
    draw_log_over_parameter,
    legend_below,
    panel_grid,
    write_decades,
)

PARTS = ("centre", "low", "high")


def two_budgets(drawing: Drawing) -> Figure:
    """Fig. 2: regret over time at two privacy budgets, log-log.

    Annotated, it has a table of the best and the worst run below.
    """
    figure = Figure(figsize=(PAGE, 4.6 if drawing.annotated else 3.3))
    figure.set_layout_engine("constrained")
    ratios = (3.2, 1) if drawing.annotated else (1,)
    grid = figure.subplots(len(ratios), len(drawing.panels), height_ratios=ratios, squeeze=False)
    above = list(grid[0])
    for i, (ax, panel) in enumerate(zip(above, drawing.panels, strict=True)):
        ax.sharey(above[0])
        ax.set_title(f"({panel.letter}) {panel.title}")
        ax.set_xscale("log")
        # The axis has no place for a regret of 0 in the first rounds: a curve begins where it is
        # positive.
        ax.set_yscale("log", nonpositive="mask")
        draw_all_over_time(ax, panel)
        ax.set_xlim(1, panel.series[0].x[-1])
        write_decades(ax.xaxis)
        write_decades(ax.yaxis)
        ax.set_xlabel(ROUND)  # also above a table
        _legend(ax, panel)
        ax.tick_params(labelleft=i == 0)
    above[0].set_ylabel("Regret")
    for below in grid[1:]:
        for ax, panel in zip(below, drawing.panels, strict=True):
            _table_of_runs(ax, panel)
    return figure


def against_the_worse_mean(drawing: Drawing) -> Figure:
    """Section 4: pulls of the worse arm against its mean, y logarithmic."""
    figure, axes = panel_grid(drawing, columns=2, height=3.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_all_over_parameter(ax, panel)
        ax.set_yscale("log")
        ax.set_xlabel(r"Mean $\mu_2$ of the worse arm")
    legend_below(figure, handles, columns=4)
    return figure


def error_of_counters(drawing: Drawing) -> Figure:
    """Errors of the counters over the bound (2.2), against the number of items, log-log."""
    figure, axes = panel_grid(drawing, columns=3, height=2.9)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        bound = panel.series[0].centre
        over = (
            replace(s, **{part: getattr(s, part) / bound for part in PARTS}) for s in panel.series
        )
        handles = draw_log_over_parameter(ax, replace(panel, series=tuple(over)))
        for line in handles:
            line.set_gid(None)  # no curve of the table
        ax.set_xlabel("Number of items $n$")
    axes[0].set_ylabel("Error of the released sum / bound")
    legend_below(figure, handles, columns=3)
    return figure


def _legend(ax: Axes, panel: PanelDrawing) -> None:
    # As in the original, the legend has the input epsilon of a private algorithm in parentheses.
    has_inputs = any(series.legend != series.label for series in panel.series)
    legend = ax.legend(
        loc="upper left",
        fontsize=7,
        title=r"In parentheses: the input $\epsilon$" if has_inputs else None,
        title_fontsize=7,
    )
    legend.set_alignment("left")


def _table_of_runs(ax: Axes, panel: PanelDrawing) -> None:
    # Section 4 compares the best and the worst of the runs.
    ax.set_axis_off()
    rows = [
        (s.label, f"{s.min[-1]:,.1f}", f"{s.max[-1]:,.1f}", f"{s.max[-1] - s.min[-1]:,.1f}")
        for s in panel.series
    ]
    table = ax.table(
        rows,
        colLabels=("Regret at the horizon", "best run", "worst run", "difference"),
        colWidths=(0.37, 0.21, 0.21, 0.21),
        cellLoc="right",
        loc="upper center",
        edges="horizontal",
    )
    table.auto_set_font_size(False)
    table.set_fontsize(7)
    for (_, column), cell in table.get_celld().items():
        cell.set_linewidth(0.4)
        if column == 0:
            cell.get_text().set_horizontalalignment("left")
