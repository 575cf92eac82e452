"""The figures of tossou2016 (Tossou and Dimitrakakis, AAAI 2016)."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.shapes import draw_all_over_time


def two_budgets(drawing: Drawing) -> Figure:
    """Fig. 2: regret over time at two privacy budgets, log-log; below, what the runs end with."""
    figure = Figure(figsize=(PAGE, 4.6))
    figure.set_layout_engine("constrained")
    grid = figure.subplots(2, len(drawing.panels), height_ratios=(3.2, 1), squeeze=False)
    above, below = list(grid[0]), list(grid[1])
    for i, (ax, panel) in enumerate(zip(above, drawing.panels, strict=True)):
        ax.sharey(above[0])
        ax.set_title(f"({panel.letter}) {panel.title}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        draw_all_over_time(ax, panel)
        ax.set_xlim(1, panel.series[0].x[-1])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("Time step")
        ax.legend(loc="upper left", fontsize=6.5)
        ax.tick_params(labelleft=i == 0)
    above[0].set_ylabel("Regret")
    for ax, panel in zip(below, drawing.panels, strict=True):
        _table_of_runs(ax, panel)
    return figure


def _table_of_runs(ax: Axes, panel: PanelDrawing) -> None:
    # Section 4 speaks of the best and the worst of the runs, and of how far they lie apart.
    ax.set_axis_off()
    rows = [
        (s.label, f"{s.min[-1]:,.1f}", f"{s.max[-1]:,.1f}", f"{s.max[-1] - s.min[-1]:,.1f}")
        for s in panel.series
    ]
    table = ax.table(
        rows,
        colLabels=("", "best run", "worst run", "their gap"),
        colWidths=(0.34, 0.22, 0.22, 0.22),
        cellLoc="right",
        loc="upper center",
        edges="horizontal",
    )
    table.auto_set_font_size(False)
    table.set_fontsize(6.5)
    for (_, column), cell in table.get_celld().items():
        cell.set_linewidth(0.4)
        if column == 0:
            cell.get_text().set_horizontalalignment("left")
