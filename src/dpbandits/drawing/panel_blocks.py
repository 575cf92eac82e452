"""Layout for tables of panels: blocks of rows under a heading, with columns side by side."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from dpbandits.drawing.plotting import PAGE
from dpbandits.drawing.styles import in_mathtext

HEADING = 1.1  # height of a heading, in rows


def blocks_of_rows(
    blocks: Mapping[str, int], titles: Sequence[str], widths: Sequence[float], row: float
) -> tuple[Figure, list[list[Axes]]]:
    """Create a figure with a block of rows under every heading; `row` is a row's height in inches.

    `blocks` gives the number of rows by heading. Returns the figure and one list of axes for each
    block, with one axes for each title in `titles`; `widths` are the relative column widths.
    """
    height = (row + 0.005) * sum(blocks.values()) + 0.35 * len(blocks) + 0.75
    figure = Figure(figsize=(PAGE, height))
    figure.set_layout_engine("constrained", w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.0)
    heights = [part for rows in blocks.values() for part in (HEADING, rows)]
    ratios = {"height_ratios": heights, "width_ratios": widths}
    grid = figure.subplots(len(heights), len(titles), squeeze=False, gridspec_kw=ratios)
    for ax, title in zip(grid[0], titles, strict=True):
        ax.set_title(title)
    for above, heading in zip(grid[::2], blocks, strict=True):
        for unused in above:
            unused.set_axis_off()
        text = above[0].text(0, 0.2, heading, transform=above[0].transAxes, weight="bold")
        text.set_in_layout(False)  # wider than its column
    for axes, rows in zip(grid[1::2], blocks.values(), strict=True):
        for ax in axes:
            ax.set_ylim(rows - 0.4, -0.6)
            ax.yaxis.set_major_locator(FixedLocator(range(rows)))
            ax.set_yticklabels([])
            ax.tick_params(axis="y", length=0)
    return figure, [list(axes) for axes in grid[1::2]]


def name_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Label the rows of a block, from the top, left of its first column."""
    ax.set_yticklabels([in_mathtext(label) for label in labels])
