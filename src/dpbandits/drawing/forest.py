"""Forest plots: how far comparisons are from turning, each with its interval, in groups."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.drawing.plotting import style_file

WIDEST = math.log(30)  # farther points lie at the edge
TICKS = {1 / 30: "30", 1 / 10: "10", 1 / 3: "3", 1: "turns", 3: "3", 10: "10", 30: "30"}


class Row(NamedTuple):
    """One line of the plot, in logarithms of factors: at most 0 where a comparison holds."""

    label: str
    colour: str
    estimate: float
    low: float
    high: float
    others: Sequence[float]  # estimates of other implementations


def picture(
    legend: Mapping[str, str], groups: Mapping[str, Sequence[Row]], title: str, named: bool
) -> bytes:
    """Return the plot as SVG: a label for every row if `named`, else one for every group.

    `legend` holds colours with their meaning. The same rows give the same bytes.
    """
    number = sum(map(len, groups.values()))
    height = 0.9 + (0.21 * number if named else 0.07 * (number + len(groups)))
    size, y, labels = 3.6 if named else 2.2, 0, dict[float, str]()
    hollow = {"linestyle": "", "marker": "o", "markerfacecolor": "none"}
    with matplotlib.style.context(style_file(), after_reset=True):
        matplotlib.rcParams["svg.hashsalt"] = title
        figure = Figure(figsize=(6.75, height), layout="constrained")
        axes = figure.subplots()
        for i, (name, rows) in enumerate(groups.items()):
            if not named:
                labels[y + (len(rows) - 1) / 2] = name
                if i % 2 == 0:
                    axes.axhspan(y - 1, y + len(rows), color="#f2f2ee", zorder=0, linewidth=0)
            for row in rows:
                estimate, low, high, *others = (
                    max(-WIDEST, min(WIDEST, x))
                    for x in (row.estimate, row.low, row.high, *row.others)
                )
                look: dict[str, Any] = {**hollow, "markersize": 0.8 * size, "markeredgewidth": 0.5}
                axes.plot(others, [y] * len(others), color=row.colour, **look)
                axes.plot((low, high), [y, y], color=row.colour, linewidth=0.4 * size)
                axes.plot([estimate], [y], "o", color=row.colour, markersize=size)
                if named:
                    labels[y] = row.label
                y += 1
            y += not named
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set(xlim=(-1.04 * WIDEST, 1.04 * WIDEST), ylim=(y - 0.4, -0.8))
        axes.set_xlabel("← holds by this factor · missed by this factor →")
        axes.set_xticks([math.log(tick) for tick in TICKS], [*TICKS.values()])
        axes.set_yticks([*labels], [*labels.values()])
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        marks = [
            Line2D([], [], marker="o", linestyle="", color=colour, markersize=4, label=meaning)
            for colour, meaning in legend.items()
        ]
        look = {**hollow, "color": "#5b5e63", "markersize": 3}
        marks.append(Line2D([], [], label="other implementations", **look))
        figure.legend(handles=marks, loc="outside lower center", ncols=3, frameon=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Title": title})
        return buffer.getvalue()
