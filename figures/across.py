"""Figures of our own, across papers."""

from itertools import cycle, groupby
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits.plotting import (
    PAGE,
    Drawing,
    PanelDrawing,
    Style,
    draw_log_over_parameter,
    draw_over_time,
    in_mathtext,
    legend_below,
    panel_grid,
    style_of,
)


class Look(NamedTuple):
    """How a reading is drawn; readings that end alike must be seen through one another."""

    style: Style
    width: float
    depth: int


# What the other readings of an algorithm take in turn, as far as no algorithm of the row has the
# colour: of Okabe and Ito, each with a marker of its own.
ALTERNATIVES = (
    Style("#0072B2", "^", "--"),
    Style("#D55E00", ">", ":"),
    Style("#009E73", "s", "-."),
    Style("#E69F00", "<", "-."),
)
NOT_PRIVATE = Look(Style("#000000", "x"), width=0.6, depth=5)


def readings_side_by_side(drawing: Drawing) -> Figure:
    """Regret over time, log-log; a row for each algorithm, a curve for each reading of its text.

    The title of a panel is `<row>: <panel>`, the label of a curve `<algorithm> (<reading>)`.
    """
    rows = [list(panels) for _, panels in groupby(drawing.panels, key=_row)]
    columns = max(len(panels) for panels in rows)
    figure = Figure(figsize=(PAGE, 1.7 * len(rows)))
    figure.set_layout_engine("constrained", w_pad=0.02)
    grid = figure.subplots(len(rows), columns + 1, sharey="row", squeeze=False)
    for panels, axes in zip(rows, grid, strict=True):
        looks = _looks(panels)
        handles: dict[str, Line2D] = {}
        for ax, panel in zip(axes, panels, strict=False):
            handles |= _over_time(ax, panel, looks)
        _show_what_is_seen(axes[0], panels)
        axes[0].set_ylabel("Regret")
        for unused in axes[len(panels) :]:
            unused.set_axis_off()
        axes[-1].legend(
            handles.values(),
            [_in_legend(label, panels) for label in handles],
            title=_row(panels[0]),
            title_fontproperties={"weight": "bold", "size": 7.5},
            alignment="left",
            loc="center left",
            bbox_to_anchor=(0, 0.5),
            borderaxespad=0,
            fontsize=6.5,
        )
    for ax in grid[-1][: len(rows[-1])]:
        ax.set_xlabel("Time step")
    return figure


def against_horizon(drawing: Drawing) -> Figure:
    """Regret over log T against the horizon, log-log, with the lower bound."""
    figure, axes = panel_grid(drawing, columns=2, height=5.0, equal="row")
    for ax, panel in zip(axes, drawing.panels, strict=True):
        handles = draw_log_over_parameter(ax, panel)
        ax.xaxis.set_major_locator(LogLocator(base=10, numticks=12))
        ax.xaxis.set_minor_formatter(NullFormatter())
    for ax in axes[-2:]:
        ax.set_xlabel("Horizon $T$")
    for ax in axes[::2]:
        ax.set_ylabel(r"Regret / $\log T$")
    legend_below(figure, handles, columns=3)
    return figure


def _row(panel: PanelDrawing) -> str:
    return panel.title.partition(": ")[0]


def _algorithms(panels: list[PanelDrawing]) -> dict[str, str]:
    # Per label.
    return {series.label: series.style for panel in panels for series in panel.series}


def _start(x: np.ndarray) -> float:
    # The last two decades: before, every reading explores and nearly all curves are one.
    return max(1.0, float(x[-1]) / 100)


def _show_what_is_seen(ax: Axes, panels: list[PanelDrawing]) -> None:
    # On a logarithmic axis a regret of 0 is not.
    series = [series for panel in panels for series in panel.series]
    seen = np.concatenate([s.centre[(s.x >= _start(s.x)) & (s.centre > 0)] for s in series])
    if seen.size:
        ax.set_ylim(0.7 * seen.min(), 1.4 * seen.max())


def _over_time(ax: Axes, panel: PanelDrawing, looks: dict[str, Look]) -> dict[str, Line2D]:
    # The lines per label.
    ax.set_title(f"({panel.letter}) {panel.title.partition(': ')[2]}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    lines = {}
    for i, series in enumerate(panel.series):
        look = looks[series.label]
        line = draw_over_time(ax, series, i, style=look.style)
        line.set(linewidth=look.width, zorder=look.depth)
        lines[series.label] = line
    x = panel.series[0].x
    ax.set_xlim(_start(x), x[-1])
    ax.xaxis.set_major_locator(LogLocator(base=10, numticks=9))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
    ax.yaxis.set_minor_formatter(NullFormatter())
    return lines


def _looks(panels: list[PanelDrawing]) -> dict[str, Look]:
    # Per label. The first reading of an algorithm has the algorithm's own style, broad and below
    # the rest; what is not private is black as in every figure, thin and on top.
    algorithms = _algorithms(panels)
    own = {style_of(algorithm).colour for algorithm in algorithms.values()}
    others = cycle([style for style in ALTERNATIVES if style.colour not in own])
    looks: dict[str, Look] = {}
    met = set()
    for label, algorithm in algorithms.items():
        if "not private" in label:
            looks[label] = NOT_PRIVATE
        elif algorithm in met:
            looks[label] = Look(next(others), width=1.2, depth=4)
        else:
            looks[label] = Look(style_of(algorithm), width=2, depth=3)
        met.add(algorithm)
    return looks


def _in_legend(label: str, panels: list[PanelDrawing]) -> str:
    # In lines; of the algorithm that the row is about, the reading alone.
    reading = label.removesuffix(")").partition(" (")[2]
    if reading and _algorithms(panels)[label] == panels[0].series[0].style:
        return in_mathtext(reading).replace(", ", ",\n")
    return in_mathtext(label).replace(" (", "\n(")
