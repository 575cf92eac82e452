"""Forest plots: how far comparisons are from turning, each with its interval, in groups."""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.drawing.plotting import house_style

WIDEST = math.log(30)  # farther points lie at the edge
TICKS = {1 / 30: "30", 1 / 10: "10", 1 / 3: "3", 1: "just true", 3: "3", 10: "10", 30: "30"}
VARIANTS = "other variants"  # the open circles, in legend and captions
HOLLOW: dict[str, Any] = {"linestyle": "", "marker": "o", "markerfacecolor": "none"}


class Row(NamedTuple):
    """One line of the plot, in logarithms of factors: at most 0 where a comparison holds."""

    label: str
    colour: str
    estimate: float
    low: float
    high: float
    others: Sequence[float]  # estimates of other variants, factors alone
    difference: str = ""  # the two sides in words, if they have no factor: it has no place then


def picture(
    legend: Mapping[str, str], groups: Mapping[str, Sequence[Row]], title: str, labelled: bool
) -> bytes:
    """Return the plot as SVG: a label for every row if `labelled`, else one for every group.

    `legend` holds colours with their meaning. The same rows give the same bytes.
    """
    with house_style(None, {"svg.hashsalt": title}):
        figure, buffer = plot(legend, groups, labelled), io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Title": title})
        return buffer.getvalue()


def plot(legend: Mapping[str, str], groups: Mapping[str, Sequence[Row]], labelled: bool) -> Figure:
    """Draw the plot; a style must be in use."""
    number = sum(map(len, groups.values()))
    height = 0.9 + (0.21 * number if labelled else 0.07 * (number + len(groups)))
    size, y, labels = 3.6 if labelled else 2.2, 0, dict[float, str]()
    figure = Figure(figsize=(6.75, height), layout="constrained")
    axes = figure.subplots()
    for i, (name, rows) in enumerate(groups.items()):
        if not labelled:
            labels[y + (len(rows) - 1) / 2] = name
            if i % 2 == 0:
                axes.axhspan(y - 1, y + len(rows), color="#f2f2ee", zorder=0, linewidth=0)
        for row in rows:
            _draw(axes, row, y, size)
            if labelled:
                labels[y] = row.label
            y += 1
        y += not labelled
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlim=(-1.04 * WIDEST, 1.04 * WIDEST), ylim=(y - 0.4, -0.8))
    axes.set_xlabel("← holds by this factor · missed by this factor →")
    axes.set_xticks([math.log(tick) for tick in TICKS], [*TICKS.values()])
    axes.set_yticks([*labels], [*labels.values()])
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    figure.legend(handles=[*_marks(legend)], loc="outside lower center", ncols=3, frameon=False)
    return figure


def _draw(axes: Axes, row: Row, y: float, size: float) -> None:
    estimate, low, high, *others = (
        max(-WIDEST, min(WIDEST, x)) for x in (row.estimate, row.low, row.high, *row.others)
    )
    style: dict[str, Any] = {**HOLLOW, "markersize": 0.8 * size, "markeredgewidth": 0.5}
    axes.plot(others, [y] * len(others), color=row.colour, **style)
    if row.difference:  # at the margin on the side of its sentence
        side, to = ("left", (4, 0)) if row.estimate <= 0 else ("right", (-4, 0))
        style = {"color": row.colour, "fontsize": 7, "ha": side, "va": "center"}
        style |= {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axes.annotate(f"difference: {row.difference}", (float(to[0] < 0), y), to, **style)
    else:
        axes.plot((low, high), [y, y], color=row.colour, linewidth=0.4 * size)
        axes.plot([estimate], [y], "o", color=row.colour, markersize=size)


def _marks(legend: Mapping[str, str]) -> Iterator[Line2D]:
    for colour, meaning in legend.items():
        yield Line2D([], [], marker="o", linestyle="", color=colour, markersize=4, label=meaning)
    yield Line2D([], [], label=VARIANTS, **HOLLOW, color="#5b5e63", markersize=3)
