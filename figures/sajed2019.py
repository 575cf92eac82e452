"""The figures of sajed2019 (Sajed and Sheffet, ICML 2019)."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from dpbandits.plotting import PAGE, Drawing, PanelDrawing
from dpbandits.shapes import draw_over_parameter, draw_regret_over_time, legend_below, panel_grid


def two_budgets_a_panel(drawing: Drawing) -> Figure:
    """Fig. 1: regret over time, x linear, y logarithmic; every curve at two privacy budgets."""
    figure, axes = panel_grid(drawing, columns=2, height=3.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        draw_regret_over_time(ax, panel)
        ax.set_xlabel("Round")
        ax.legend(loc="lower right", fontsize=7)
    axes[0].set_ylim(bottom=10)
    axes[0].set_ylabel("Regret")
    return figure


def over_time_and_against_arms(drawing: Drawing) -> Figure:
    """Regret over time, a panel for each number of arms K, and last the final regret against K."""
    figure = Figure(figsize=(PAGE, 4.4))
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(2, 3, sharey=True).flat)
    for ax, panel in zip(axes, drawing.panels, strict=False):
        ax.set_title(f"({panel.letter}) {panel.title}")
        ax.tick_params(labelbottom=True)
    for ax, panel in zip(axes[:4], drawing.panels[:4], strict=True):
        draw_regret_over_time(ax, panel)
        ax.set_xlabel("Round")
    last, beside = axes[4:]
    last.set_xscale("log")
    handles = [draw_over_parameter(last, series) for series in drawing.panels[4].series]
    last.xaxis.set_major_locator(FixedLocator(drawing.panels[4].series[0].x.tolist()))
    last.xaxis.set_major_formatter("{x:.0f}")
    last.xaxis.set_minor_locator(NullLocator())
    last.set_xlabel("Number of arms $K$")
    beside.set_axis_off()
    beside.legend(handles=handles, loc="center")
    axes[0].set_ylim(bottom=10)
    for ax in (axes[0], axes[3]):
        ax.set_ylabel("Regret")
    return figure


def stopping_rules(drawing: Drawing) -> Figure:
    """Samples that stopping rules use against |mu| and against epsilon, log-log, with the bounds.

    Panels a and b are drawn; c and d, how often the rules fail, are written into them.
    """
    figure = Figure(figsize=(PAGE, 4.0))
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(1, 2, sharey=True))
    failures = drawing.panels[2:]
    names = (r"$|\mu|$", r"Privacy budget $\epsilon$")
    for ax, panel, failed, name in zip(axes, drawing.panels[:2], failures, names, strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"({panel.letter}) {panel.title}")
        rules = [series for series in panel.series if series.style != "bound"]
        bounds = [series for series in panel.series if series.style == "bound"]
        handles = [draw_over_parameter(ax, series) for series in rules]
        handles += [draw_over_parameter(ax, s, again) for again, s in enumerate(bounds)]
        handles[-1].set(dashes=(9, 4), linewidth=2)  # the fifth, of four kinds of lines
        ax.set_xlim(panel.series[0].x[[0, -1]])
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=12))
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(name)
        _write_failures(ax, failed)
    axes[0].set_ylabel("Samples used")
    legend_below(figure, handles, columns=4)
    return figure


def _write_failures(ax: Axes, panel: PanelDrawing) -> None:
    # On how many streams a rule fails, at the value of the parameter where it fails most often.
    streams = panel.series[0].runs
    lines = [f"Most failures of {streams:,} streams"]
    lines += [f"{series.label}: {series.mean.max() * streams:.0f}" for series in panel.series]
    ax.text(
        0.97,
        0.97,
        "\n".join(lines),
        transform=ax.transAxes,
        horizontalalignment="right",
        verticalalignment="top",
        fontsize=7,
    )
