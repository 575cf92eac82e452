"""Figures of azize2022 (Azize and Basu, NeurIPS 2022), and our own of its algorithms."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import (
    FixedLocator,
    LogLocator,
    MaxNLocator,
    MultipleLocator,
    NullFormatter,
    NullLocator,
)

from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import (
    ROUND,
    draw_all_over_parameter,
    draw_all_over_time,
    draw_curve,
    draw_published,
    draw_regret_over_time,
    legend_below,
    panel_grid,
    published_handles,
    write_at_the_end,
    write_decades,
    write_powers,
)
from dpbandits.drawing.styles import style_of
from dpbandits.kernel.errors import UserError

FAR = 50  # times the largest value, an upper limit of the original belongs to another game
CLOSE = 10  # an inset shows curves up to so many times the lowest
DECADES = 3  # of the rounds, in an inset
ABOUT_INSET = "Inset: the lowest curves, regret linear, $t$ logarithmic"
BESIDE, BELOW = 0.04, 0.03  # fractions of a panel: from its axes to the frame of an inset
DOTTED = "Lower bound of Azize et al. 2025 (slides)"
MEET = "Regimes of privacy meet: two terms of the bound are equal"


def _limits(axes: list[Axes], drawing: Drawing, low: float, high: float) -> None:
    # Those of the original, for its own game: elsewhere the curves set them, as in a changed figure
    # or in one that extends it.
    largest = max(series.high.max() for panel in drawing.panels for series in panel.series)
    for ax in axes if not drawing.changes and high / FAR < largest <= high else ():
        ax.set_ylim(low, high)


def headline(drawing: Drawing) -> Figure:
    """Fig. 2: regret over time; x linear, y logarithmic, 0.1 to 10^5."""
    figure, (ax,) = panel_grid(drawing, columns=1, height=3.6, width=COLUMN)
    (panel,) = drawing.panels
    handles = draw_regret_over_time(ax, panel)
    _limits([ax], drawing, 0.1, 3e5)
    legend_below(figure, handles, columns=1)
    if drawing.annotated:
        _draw_insets(figure, [ax], drawing)
    return figure


def improvement(drawing: Drawing) -> Figure:
    """Regret over time on four instances; x linear, y logarithmic."""
    figure, axes = panel_grid(drawing, columns=2, height=5.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_regret_over_time(ax, panel)
    legend_below(figure, handles, columns=3)
    return figure


def four_budgets(drawing: Drawing) -> Figure:
    """Figs. 4, 5 and 7: regret over time at four privacy budgets; x linear, y log, 1 to 10^6."""
    return _four_budgets(drawing, ticks=100, highest=2e6)


def four_budgets_every_decade(drawing: Drawing) -> Figure:
    """Fig. 6: as Figs. 4, 5 and 7, but with a y axis from 1 to 10^7 and a label at every decade."""
    return _four_budgets(drawing, ticks=10, highest=1e7)


def _four_budgets(drawing: Drawing, ticks: int, highest: float) -> Figure:
    figure, axes = panel_grid(drawing, columns=2, height=5.6)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_regret_over_time(ax, panel)
        ax.yaxis.set_major_locator(LogLocator(base=ticks, numticks=9))
        ax.yaxis.set_minor_locator(LogLocator(base=10, numticks=9))
        ax.yaxis.set_minor_formatter(NullFormatter())  # as in the original
    _limits(axes, drawing, 1, highest)
    legend_below(figure, handles, columns=4)
    if drawing.annotated:
        _draw_insets(figure, axes, drawing)
    return figure


def _draw_insets(figure: Figure, axes: list[Axes], drawing: Drawing) -> None:
    # The lowest curves again, where the original leaves its panels empty.
    room = min(_room(ax, panel) for ax, panel in zip(axes, drawing.panels, strict=True))
    for ax, panel in zip(axes, drawing.panels, strict=True):
        lowest = min(series.centre[-1] for series in panel.series)
        close = [series.centre[-1] <= CLOSE * lowest for series in panel.series]
        if sum(close) > 1 and room > 0.4:
            inset = _empty_inset(ax, room, panel.series[0].x[-1])
            for order, series in enumerate(panel.series):
                if close[order]:
                    draw_curve(inset, series, order=order)
            for line in inset.lines:
                line.set_gid(None)  # the lines of the panel carry the ids of the curves
            inset.set_ylim(0, 1.12 * inset.dataLim.ymax)
            figure.legends[0].set_title(ABOUT_INSET, FontProperties(size=7))


def _room(ax: Axes, panel: PanelDrawing) -> float:
    # Height, as a fraction of the panel's, up to which no curve meets an inset.
    first = BESIDE * panel.series[0].x[-1]
    lowest = min(series.centre[series.x >= first].min() for series in panel.series)
    low, high = np.log(ax.get_ylim())
    return float(min(0.65, (np.log(max(lowest, 1e-9)) - low) / (high - low)))


def _empty_inset(ax: Axes, room: float, last: float) -> Axes:
    frame = Rectangle((BESIDE, BELOW), 0.95, room - BELOW - 0.03, transform=ax.transAxes)
    frame.set(facecolor="white", edgecolor="#c8c8c8", linewidth=0.5, zorder=3)
    ax.add_artist(frame)
    inset = ax.inset_axes((0.19, 0.135, 0.77, room - 0.19), zorder=4)
    inset.set_xscale("log")
    inset.set_xlim(last / 10**DECADES, last)
    write_decades(inset.xaxis)
    inset.yaxis.set_major_locator(MaxNLocator(3))
    inset.yaxis.set_major_formatter("{x:,g}")
    inset.tick_params(labelsize=7, pad=2)
    return inset


def published_curves(drawing: Drawing) -> Figure:
    """Our curves and the paper's own: open markers are vertices of the published ones.

    Over time x is logarithmic and y linear, over the budget both are logarithmic.
    """
    figure, axes = panel_grid(drawing, columns=2, height=7.0, equal="none", equal_x=None)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        over_time = panel.series[0].over == "t"
        handles = (draw_all_over_time if over_time else draw_all_over_parameter)(ax, panel)
        for line in handles:
            line.set(markersize=0)  # the markers are the paper's points
        draw_published(ax, panel, size=3, clip=True)
        ax.set_xscale("log")
        if over_time:
            ax.set_xlim(left=1e-4 * panel.series[0].x[-1])
            ax.set_ylim(0, 1.25 * ax.get_ylim()[1])  # room for the legend
        else:
            ax.set_yscale("log")
            ax.set_xlabel(r"Privacy budget $\epsilon$")
        entries = [*handles, *published_handles([panel])]
        ax.legend(handles=entries, loc="upper left" if over_time else "upper right", fontsize=7)
    return figure


def two_alphas(drawing: Drawing) -> Figure:
    """Fig. 8: regret over time for two values of alpha; both axes linear, y from 0 to 6000."""
    figure, (ax,) = panel_grid(drawing, columns=1, height=3.1, width=COLUMN)
    (panel,) = drawing.panels
    handles = draw_all_over_time(ax, panel)
    ax.set_xlim(0, panel.series[0].x[-1])
    _limits([ax], drawing, 0, 6600)
    ax.ticklabel_format(axis="x", style="sci", useMathText=True)
    ax.yaxis.set_major_locator(MultipleLocator(1000))
    legend_below(figure, handles, columns=2)
    return figure


def against_arms(drawing: Drawing) -> Figure:
    """Final regret against the number of arms, a panel per privacy budget; log-log."""
    figure, axes = panel_grid(drawing, columns=2, height=3.0)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        write_decades(ax.yaxis)
        handles = draw_all_over_parameter(ax, panel)
        ax.xaxis.set_major_locator(FixedLocator(panel.series[0].x.tolist()))
        ax.xaxis.set_major_formatter("{x:.0f}")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("Number of arms $K$")
    axes[0].set_ylabel("Regret at the horizon")
    legend_below(figure, handles, columns=5)
    figure.draw_without_rendering()  # labels are moved apart by their places on the page
    for ax, panel in zip(axes, drawing.panels, strict=True):
        write_powers(ax, panel, symbol="K")
    return figure


def against_budget(drawing: Drawing) -> Figure:
    """Fig. 3: regret at the horizon against epsilon, log-log, with the two regimes of privacy."""
    figure, (ax,) = panel_grid(drawing, columns=1, height=3.3, width=COLUMN)
    ax.set_xscale("log")
    ax.set_yscale("log")
    (panel,) = drawing.panels
    handles, dots = _without_dots(panel, draw_all_over_parameter(ax, panel))
    for line in handles:
        line.set_markerfacecolor(line.get_color())  # open: the paper's points
    draw_published(ax, panel)
    _limits([ax], drawing, 15, 2e4)
    write_decades(ax.yaxis)
    for dot in dots:  # where the last arm changes regime
        _write_regions(ax, float(np.asarray(dot.get_xdata())[-1]))
        dot.set_visible(drawing.annotated)
    ax.set_xlabel(r"Privacy budget $\epsilon$")
    ax.set_ylabel("Regret at the horizon")
    legend_below(figure, [*handles, *published_handles([panel])], columns=1)
    return figure


def _write_regions(ax: Axes, border: float) -> None:
    # Shades the range below the point where the last arm changes regime, and names both sides.
    left, right = ax.get_xlim()
    ax.axvspan(left, border, color=style_of("transition").colour, alpha=0.12, linewidth=0)
    ax.set_xlim(left, right)
    for text, side, step in (("High privacy", "right", -5), ("Low privacy", "left", 5)):
        ax.annotate(
            text,
            (border, 1),
            xycoords=("data", "axes fraction"),
            xytext=(step, -2),
            textcoords="offset points",
            horizontalalignment=side,
            verticalalignment="top",
        )


def table_of_bounds(drawing: Drawing) -> Figure:
    """Table 2: the lower bounds against epsilon, log-log, a row for each kind of bound."""
    figure, axes = panel_grid(drawing, columns=2, height=5.6, equal="row")
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        ax.set_xscale("log")
        ax.set_yscale("log")
        _, dots = _without_dots(panel, draw_all_over_parameter(ax, panel))
        first, last = panel.series[0].x[[0, -1]]
        # In the second row everything is proportional to 1/epsilon below 0.01.
        ax.set_xlim(0.01 if i >= 2 and first < 0.01 < last else first, last)
        ax.set_xlabel(r"Privacy budget $\epsilon$")
        for series in panel.series:
            if series.style != "transition" and series.look.line is None:  # the line of a pair
                write_at_the_end(ax, series)
    for row in range(0, len(axes), 2):
        left = axes[row].get_xlim()[0]
        panels = drawing.panels[row : row + 2]
        visible = [s.centre[s.x >= left] for panel in panels for s in panel.series]
        axes[row].set_ylim(0.6 * np.concatenate(visible).min(), 1.6 * np.concatenate(visible).max())
        axes[row].set_ylabel("Lower bound on the regret")
    if dots:
        # One legend entry for the dots of all colours.
        dot = Line2D([], [], linestyle="", marker=dots[0].get_marker(), label=MEET)
        dot.set(color=style_of("transition").colour, markerfacecolor="white")
        legend_below(figure, [dot, *_dotted(drawing)], columns=2)
    return figure


def _dotted(drawing: Drawing) -> list[Line2D]:
    # One legend entry for the dotted bounds of all colours, if there are any.
    if not any(series.look.line == ":" for panel in drawing.panels for series in panel.series):
        return []
    return [Line2D([], [], linestyle=":", color=style_of("bound").colour, label=DOTTED)]


def _without_dots(panel: PanelDrawing, handles: list[Line2D]) -> tuple[list[Line2D], list[Line2D]]:
    # Splits the handles into lines and the dots where regimes meet.
    dotted = [series.style == "transition" for series in panel.series]
    return (
        [handle for handle, dot in zip(handles, dotted, strict=True) if not dot],
        [handle for handle, dot in zip(handles, dotted, strict=True) if dot],
    )


CONTIGUOUS = 14  # number of first rounds that the grid `log` records without gaps
MARKED = 4  # episode at whose start the paper computes indexes


def episodes(drawing: Drawing) -> Figure:
    """Fig. 1: the arm of every round, in episodes that double the pulls of their arm.

    Dark cells are the rewards that the indexes use when an episode begins: those of each arm's last
    episode before it. Raises UserError if there are too few or too many steps to draw.
    """
    (panel,) = drawing.panels
    pulls = np.array([series.centre for series in panel.series])
    arms, steps = pulls.shape
    if panel.series[0].x[-1] > steps or steps <= arms:
        raise UserError(
            f"{drawing.title}: the picture has room for {arms + 1} to {CONTIGUOUS} steps"
        )
    played_episodes = _episodes(pulls)
    marked = min(MARKED, len(played_episodes) - arms)
    begin = played_episodes[arms + marked - 1][0]
    read = {
        arm: (first, end) for first, end, arm in played_episodes if end <= begin
    }  # each arm's last
    figure = Figure(figsize=(PAGE, 0.9 + 0.3 * arms))
    figure.set_layout_engine("constrained")
    ax = figure.subplots()
    colours = [style_of(name).colour for name in ("adap-ucb", "adap-klucb", "dp-se", "dp-ucb")]
    for number, (first, end, arm) in enumerate(played_episodes):
        box = Rectangle((first + 0.04, arm + 0.1), end - first - 0.08, 0.8, linewidth=0)
        box.set_facecolor(colours[arm % len(colours)])
        box.set_alpha(0.6 if read.get(arm) == (first, end) else 0.2)
        ax.add_patch(box)
        for t in range(first, end):
            ax.text(t + 0.5, arm + 0.5, f"$r_{{{t + 1}}}$", ha="center", va="center")
        if number >= arms:
            ax.axvline(first, color="#6b6b6b", linewidth=0.8, linestyle=":")
            ax.text(first, -0.05, f"$t_{{{number - arms + 1}}}$", ha="center", va="bottom")
    ax.set_xlim(0, steps)
    ax.set_ylim(arms, 0)
    ax.set_xticks(np.arange(steps) + 0.5, [str(t + 1) for t in range(steps)])
    ax.set_yticks(np.arange(arms) + 0.5, [series.label for series in panel.series])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    means = ", ".join(_mean_of(arm, *read[arm]) for arm in sorted(read))
    used = f"Dark: the rewards that the indexes use at $t_{{{marked}}}$, as {means}"
    ax.set_xlabel(f"{ROUND}\n{used}")
    return figure


def _episodes(pulls: np.ndarray) -> list[tuple[int, int, int]]:
    # Every episode as (first step, step after its last, arm); the first ones pull each arm once.
    played = np.diff(pulls, axis=1, prepend=0).argmax(axis=0)
    arms, steps = pulls.shape
    played_episodes = [(t, t + 1, int(played[t])) for t in range(arms)]
    while (first := played_episodes[-1][1]) < steps:
        arm = int(played[first])
        length = int(pulls[arm, first]) - 1  # as often as the arm had been pulled before
        played_episodes.append((first, min(first + length, steps), arm))
    return played_episodes


def _mean_of(arm: int, first: int, end: int) -> str:
    # The private mean of the rewards of an episode.
    mean, scale = "+".join(f"r_{{{t + 1}}}" for t in range(first, end)), r"\epsilon"
    if (m := end - first) > 1:
        mean, scale = f"({mean})/{m}", rf"({m}\epsilon)"
    return rf"${mean} + \mathrm{{Lap}}(1/{scale})$ (arm {arm + 1})"
