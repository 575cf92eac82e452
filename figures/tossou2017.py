"""The figures of tossou2017 (Tossou and Dimitrakakis, AAAI 2017), and our own of its algorithms."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits.curves import Series
from dpbandits.plotting import COLUMN, Drawing
from dpbandits.shapes import panel_grid
from dpbandits.styles import in_mathtext, style_of_curve

BARS = 12  # error bars a curve, as in the original
FLOOR = "uniform"  # what does not learn: drawn without bars


def over_time(drawing: Drawing) -> Figure:
    """Fig. 1: regret over time with one-sided error bars at a dozen rounds; both axes linear."""
    figure, (ax,) = panel_grid(drawing, columns=1, height=3.1, width=COLUMN)
    (panel,) = drawing.panels
    handles = []
    for order, series in enumerate(panel.series):
        # The bars of several curves stand side by side.
        wanted = series.x[-1] * (np.arange(BARS) + 0.25 + 0.25 * (order % 4)) / BARS
        handles.append(_with_bars(ax, series, np.searchsorted(series.x, wanted)))
    ax.set_xlim(0, panel.series[0].x[-1])
    _show_who_learns(ax, panel.series)
    ax.ticklabel_format(style="sci", scilimits=(0, 4), useMathText=True)
    ax.set_xlabel("Round $t$")
    ax.set_ylabel("Regret")
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def against_epsilon(drawing: Drawing) -> Figure:
    """Regret at the horizon against epsilon with one-sided error bars, log-log."""
    figure, axes = panel_grid(drawing, columns=3, height=4.4)
    for ax, panel in zip(axes, drawing.panels, strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log")
        every = np.arange(panel.series[0].x.size)
        handles = [_with_bars(ax, series, every) for series in panel.series]
        first, last = panel.series[0].x[[0, -1]]
        ax.set_xlim(first / 1.6, last * 1.6)
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
        ax.yaxis.set_minor_formatter(NullFormatter())
    # Under the third panel there is none, but room for the legend.
    for ax in axes[2:]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(r"Privacy budget $\epsilon$")
    for ax in axes[::3]:
        ax.set_ylabel("Regret at the horizon")
    figure.legend(handles=handles, loc=(0.74, 0.16))
    return figure


def _show_who_learns(ax: Axes, series: tuple[Series, ...]) -> None:
    # Uniform play leaves the picture where it is far above all others.
    learning = [s for s in series if s.style != FLOOR] or list(series)
    ax.set_ylim(min(0, *(s.low.min() for s in learning)), 1.1 * max(s.high.max() for s in learning))


def _with_bars(ax: Axes, series: Series, at: np.ndarray) -> Artist:
    # A line with markers and bars at some x; what is above and below it has a length of its own.
    style, label = style_of_curve(series), in_mathtext(series.legend)
    (line,) = ax.plot(series.x, series.centre, color=style.colour, linestyle=style.line)
    if series.style == FLOOR:
        line.set_label(label)
        return line
    centre = series.centre[at]
    line.set(marker=style.marker, markevery=at.tolist(), markerfacecolor="white", label=label)
    ax.errorbar(
        series.x[at],
        centre,
        yerr=(centre - series.low[at], series.high[at] - centre),
        linestyle="none",
        ecolor=style.colour,
        elinewidth=0.8,
        capsize=1.6,
        zorder=line.get_zorder() - 0.1,
    )
    return line
