"""The figures of sajed2019 (Sajed and Sheffet, ICML 2019)."""

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits.plotting import Drawing, draw_all_over_time, panel_grid


def two_budgets_a_panel(drawing: Drawing) -> Figure:
    """Fig. 1: regret over time, x linear, y logarithmic; every curve at two privacy budgets."""
    figure, axes = panel_grid(drawing, columns=2, height=3.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_yscale("log")
        draw_all_over_time(ax, panel)
        ax.set_xlim(0, panel.series[0].x[-1])
        ax.ticklabel_format(axis="x", style="sci", useMathText=True)
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("Round")
        ax.legend(loc="lower right", fontsize=7)
    axes[0].set_ylim(bottom=10)
    axes[0].set_ylabel("Regret")
    return figure
