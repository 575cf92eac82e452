"""Epsilon of every private algorithm: as claimed, as composed, and as bounded by an audit."""

from collections.abc import Sequence
from math import inf
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import blocks_of_rows, legend_below, name_rows
from dpbandits.drawing.styles import style_of_curve
from dpbandits.experiments.audit import AUDITED, CLAIMED, COMPOSED, ONE_CHOICE
from dpbandits.tables.series import Series

BEYOND = 2.3  # times the given epsilon: larger values are written at the edge
BAR_OF_AUDIT: dict[str, Any] = {"height": 0.62, "alpha": 0.55}
MARK: dict[str, Any] = {"color": "black", "linestyle": "", "zorder": 3, "clip_on": False}
MARKS: dict[str, dict[str, Any]] = {
    CLAIMED: {"marker": "|", "markersize": 10},
    COMPOSED: {"marker": "D", "markersize": 3.5, "markerfacecolor": "white"},
    ONE_CHOICE: {"marker": "o", "markersize": 2.5},
}
ARROW: dict[str, Any] = {"marker": ">", "markersize": 3.5, "markerfacecolor": "white"}


def privacy_audit(drawing: Drawing) -> Figure:
    """Claimed, composed and audited epsilon: a row per algorithm, a column per budget.

    The row of a panel is a notion of privacy, drawn as a block. A composed epsilon beyond the right
    edge is an arrow there with its value. An audited bound beyond it is a full bar with its value,
    and a bound of 0 is written as 0.
    """
    blocks: dict[str, dict[str, Sequence[Series]]] = {}
    for panel in drawing.panels:
        blocks.setdefault(panel.row, {})[panel.series[0].shows.name] = panel.series
    budgets = drawing.panels[0].series[0].x
    rows = {notion: len(block[CLAIMED]) for notion, block in blocks.items()}
    titles = [rf"given $\epsilon = {budget:g}$" for budget in budgets]
    figure, axes = blocks_of_rows(rows, titles, [1.0] * len(budgets), row=0.175)
    for own, block in zip(axes, blocks.values(), strict=True):
        for i, ax in enumerate(own):
            _budgets(ax, block, i, BEYOND * budgets[i])
            ticks = [0, budgets[i], 2 * budgets[i]]
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.tick_params(labelbottom=own is axes[-1])
            if own is axes[-1]:
                ax.set_xlabel(r"privacy loss $\epsilon$")
        name_rows(own[0], [series.legend for series in block[CLAIMED]])
    legend_below(figure, _marks(), columns=3)
    return figure


def _budgets(ax: Axes, block: dict[str, Sequence[Series]], i: int, most: float) -> None:
    # The epsilons of all algorithms of a block, at the i-th budget.
    ax.set_xlim(0, most)
    for row, series in enumerate(block[AUDITED]):
        _audited(ax, row, float(series.centre[i]), most, style_of_curve(series).colour)
    for shows, look in MARKS.items():
        for row, series in enumerate(block.get(shows, ())):
            value = float(series.centre[i])
            if value <= most:
                ax.plot(value, row, **MARK, **look)
            else:
                ax.plot(most, row, **MARK, **ARROW)
                _write(ax, r"$\infty$" if value == inf else f"{value:.3g}", (most, row), 4)


def _audited(ax: Axes, row: int, least: float, most: float, colour: str) -> None:
    ax.barh(row, min(least, most), color=colour, **BAR_OF_AUDIT)
    if least > most:
        _write(ax, rf"{least:.3g}$\,\rightarrow$", (most, row), -5, alignment="right")
    elif least == 0:
        _write(ax, "0", (0, row), 2.5)


def _write(
    ax: Axes, text: str, point: tuple[float, float], offset: float, alignment: str = "left"
) -> None:
    ax.annotate(
        text,
        point,
        xytext=(offset, 0),
        textcoords="offset points",
        horizontalalignment=alignment,
        verticalalignment="center_baseline",
        fontsize=6.5,
        annotation_clip=False,
    )


def _marks() -> list[Line2D | Patch]:
    # For the legend, column by column.
    bar = Patch(color="#6b6b6b", alpha=BAR_OF_AUDIT["alpha"], label="audited, all arms: at least")
    texts = {
        ONE_CHOICE: "audited, one choice: at least",
        CLAIMED: "claimed",
        COMPOSED: "composed",
    }
    marks = [Line2D([], [], label=text, **MARK, **MARKS[shows]) for shows, text in texts.items()]
    beyond = r"composed, beyond the axis ($\infty$: no bound known)"
    return [bar, *marks, Line2D([], [], label=beyond, **MARK, **ARROW)]
