"""Figures of sajed2019 (Sajed and Sheffet, ICML 2019)."""

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from dpbandits.drawing.plotting import PAGE, Drawing
from dpbandits.drawing.shapes import (
    draw_all_over_parameter,
    draw_log_over_parameter,
    draw_regret_over_time,
    legend_below,
    panel_grid,
    write_decades,
)
from dpbandits.drawing.styles import in_mathtext, style_of, style_of_curve

CLAIMED = 5  # section 5: how many times lower the regret of DP-SE is than that of DP-UCB
TERMS, LOWER = ("t_0", "t_1", "t_2"), "Theorem 3.4, with the constant of its proof"


def two_budgets_a_panel(drawing: Drawing) -> Figure:
    """Fig. 1: regret over time, y logarithmic as in the paper; two privacy budgets per panel."""
    figure, axes = panel_grid(drawing, columns=2, height=2.8)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        draw_regret_over_time(ax, panel)
        # Between the curves of DP-UCB and those of DP-SE, which are far apart.
        ax.legend(loc="center right", fontsize=7, ncols=2, bbox_to_anchor=(1.0, 0.45))
    return figure


def against_arms(drawing: Drawing) -> Figure:
    """Final regret against the number of arms, log-log, and how many times that of DP-SE it is."""
    figure = Figure(figsize=(PAGE, 2.8))
    figure.set_layout_engine("constrained", w_pad=0.1)
    regret, ratio = figure.subplots(1, 2)
    (panel,) = drawing.panels
    handles = draw_log_over_parameter(regret, panel)
    (base,) = [series for series in panel.series if series.style == "dp-se"]
    for line, series in zip(handles, panel.series, strict=True):
        if series is not base:
            options = {"color": line.get_color(), "marker": line.get_marker()}
            ratio.plot(series.x, series.mean / base.mean, markerfacecolor="white", **options)
    ratio.set_yscale("log")
    for factor in (1, CLAIMED):
        ratio.axhline(factor, color=style_of("bound").colour, linewidth=0.6, zorder=0)
    ratio.set(xscale="log", xlabel=regret.get_xlabel(), ylabel="Regret / regret of DP-SE")
    ratio.yaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]))
    ratio.yaxis.set_major_formatter("{x:g}")
    for ax in (regret, ratio):
        ax.xaxis.set_major_locator(FixedLocator(panel.series[0].x.tolist()))
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.xaxis.set_minor_locator(NullLocator())
    ratio.yaxis.set_minor_locator(NullLocator())
    legend_below(figure, handles, columns=3)
    return figure


def stopping_rules(drawing: Drawing) -> Figure:
    """Samples over the order of Theorem 3.3 and shares of failures, against |mu| and epsilon.

    The order, t_0 + t_1 + t_2, is the bound of the theorem without its constant.
    """
    figure = Figure(figsize=(PAGE, 4.6))
    figure.set_layout_engine("constrained", w_pad=0.1)
    grid = figure.subplots(2, 2, sharey="row", sharex="col", height_ratios=(2, 1))
    for ax, panel in zip(grid[0], drawing.panels[:2], strict=True):
        order = sum(series.centre for series in panel.series if series.label in TERMS)
        ax.set_title(f"({panel.letter}) {panel.title}")
        ax.set(xscale="log", yscale="log")
        handles = []
        for series in panel.series:
            if series.runs or series.label == LOWER:
                style = style_of_curve(series)
                options = {"color": style.colour, "marker": style.marker, "linestyle": style.line}
                handles += ax.plot(
                    series.x,
                    series.centre / order,
                    markerfacecolor="white",
                    label=in_mathtext(series.legend),
                    **options,
                )
        write_decades(ax.yaxis)
    for ax, panel in zip(grid[1], drawing.panels[2:], strict=True):
        lines = draw_all_over_parameter(ax, panel)
        for line in lines:
            line.set_clip_on(False)  # at 0
        for band in ax.collections:
            band.remove()  # a share has no deviation to show
        ax.set_title(f"({panel.letter}) {panel.title}")
        ax.set(xscale="log", ylabel="", ylim=(0, None))
        write_decades(ax.xaxis)
    grid[0][0].set_ylabel("Samples / $(t_0 + t_1 + t_2)$")
    grid[1][0].set(xlabel=r"$|\mu|$", ylabel="Share of failures")
    legend_below(figure, [*handles, lines[-1]], columns=3)
    return figure
