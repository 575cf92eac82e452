"""The figures of azize2022 (Azize and Basu, NeurIPS 2022), and our own of its algorithms."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from dpbandits.plotting import (
    COLUMN,
    Drawing,
    draw_over_parameter,
    draw_over_time,
    legend_below,
    panel_grid,
    write_slopes,
)


def _show_at_least(axes: list[Axes], drawing: Drawing, low: float, high: float) -> None:
    # This range, and the curves where they end above it (a longer horizon, a smaller epsilon).
    largest = max(series.high.max() for panel in drawing.panels for series in panel.series)
    for ax in axes:
        ax.set_ylim(low, high if largest <= high else 2 * largest)


def headline(drawing: Drawing) -> Figure:
    """Fig. 2: regret over time; x linear, y logarithmic, 0.1 to 10^5."""
    figure, (ax,) = panel_grid(drawing, columns=1, height=3.1, width=COLUMN)
    ax.set_yscale("log")
    (panel,) = drawing.panels
    handles = [draw_over_time(ax, series, i) for i, series in enumerate(panel.series)]
    ax.set_xlim(0, panel.series[0].x[-1])
    _show_at_least([ax], drawing, 0.1, 3e5)
    ax.ticklabel_format(axis="x", style="sci", useMathText=True)
    ax.yaxis.set_major_locator(LogLocator(base=10, numticks=8))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("Step $t$")
    ax.set_ylabel("Regret")
    legend_below(figure, handles, columns=2)
    return figure


def four_budgets(drawing: Drawing) -> Figure:
    """Figs. 4-7: regret over time at four privacy budgets; x linear, y logarithmic, 1 to 10^6."""
    figure, axes = panel_grid(drawing, columns=2, height=4.6)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_yscale("log")
        handles = [draw_over_time(ax, series, i) for i, series in enumerate(panel.series)]
        ax.set_xlim(0, panel.series[0].x[-1])
        ax.ticklabel_format(axis="x", style="sci", useMathText=True)
        ax.yaxis.set_major_locator(LogLocator(base=100))
        ax.yaxis.set_minor_locator(LogLocator(base=10))
        ax.yaxis.set_minor_formatter(NullFormatter())
    _show_at_least(axes, drawing, 1, 2e6)
    for ax in axes[-2:]:
        ax.set_xlabel("Step $t$")
    for ax in axes[::2]:
        ax.set_ylabel("Regret")
    legend_below(figure, handles, columns=4)
    return figure


def against_arms(drawing: Drawing) -> Figure:
    """Final regret against the number of arms, a panel per privacy budget; log-log."""
    figure, axes = panel_grid(drawing, columns=2, height=3.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=8))
        handles = [draw_over_parameter(ax, series) for series in panel.series]
        ax.xaxis.set_major_locator(FixedLocator(panel.series[0].x.tolist()))
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("Number of arms $K$")
        write_slopes(ax, panel, symbol="K")
    _show_at_least(axes, drawing, 1, 1e7)  # room for the slopes, below the curves
    axes[0].set_ylabel("Regret at the horizon")
    legend_below(figure, handles, columns=5)
    return figure
