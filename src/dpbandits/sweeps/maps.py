"""Heat maps: the last point of a curve against two keys in which the jobs of a multirun differ."""

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import panel_grid
from dpbandits.drawing.styles import in_mathtext
from dpbandits.spec.figure import FigureSpec
from dpbandits.sweeps.jobs import depends
from dpbandits.sweeps.keys import LETTERS, JobCurves, Key, same_curve


def of_both(
    points: Sequence[JobCurves], keys: Sequence[Key], spec: FigureSpec
) -> list[PanelDrawing]:
    """Return a panel for every curve that depends on both keys."""
    jobs = [point.job for point in points]
    both = depends(jobs, keys[0].key) & depends(jobs, keys[1].key)
    panels: list[PanelDrawing] = []
    for panel in spec.panels:
        for curve in panel.curves:
            if (panel.letter, curve.name) not in both:
                continue
            series = same_curve(points[0].series, panel.letter, curve.name, curve.label)
            if series is not None:
                title = ", ".join(filter(None, [in_mathtext(curve.label), panel.title]))
                panels.append(PanelDrawing(LETTERS[len(panels) % len(LETTERS)], title, (series,)))
    return panels


def grid(panel: PanelDrawing, points: Sequence[JobCurves], keys: Sequence[Key]) -> np.ndarray:
    """Return the last values of a curve, shape (values of the second key, values of the first).

    float64; nan if a job failed.
    """
    (template,) = panel.series
    ends = np.full((len(keys[1].values), len(keys[0].values)), np.nan)
    for job, all_series in points:
        column, row = (key.values.index(job.value(key.key)) for key in keys)
        series = same_curve(all_series, template.panel, template.curve, template.label)
        if series is not None:
            ends[row, column] = series.centre[-1]
    return ends


def heat_maps(
    drawing: Drawing, grids: Sequence[np.ndarray], keys: Sequence[Key], end: str
) -> Figure:
    """Draw axes for every grid, with the numbers in its cells and one colour scale for all.

    `grids` are the arrays of `grid`, one for each panel of the drawing, with nan for failed jobs.
    """
    columns = min(len(grids), 2)
    rows = -(-len(grids) // columns)
    width = COLUMN if columns == 1 else PAGE
    figure, axes = panel_grid(drawing, columns, 0.5 + 2.1 * rows, width)
    low, high = min(np.nanmin(g) for g in grids), max(np.nanmax(g) for g in grids)
    norm = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    for i, (ax, grid) in enumerate(zip(axes, grids, strict=True)):
        image = ax.imshow(grid, norm=norm, cmap="cividis", aspect="auto", origin="lower")
        ax.grid(visible=False)
        ax.set_xticks(range(grid.shape[1]), [keys[0].tick(v) for v in keys[0].values])
        ax.set_yticks(range(grid.shape[0]), [keys[1].tick(v) for v in keys[1].values])
        for (row, column), value in np.ndenumerate(grid):
            number = "failed" if np.isnan(value) else f"{float(f'{value:.3g}'):,.10g}"
            dark = not np.isnan(value) and norm(value) < 0.5
            colour = "white" if dark else "black"
            ax.text(column, row, number, color=colour, ha="center", va="center", fontsize=7)
        if i + columns >= len(grids):
            ax.set_xlabel(keys[0].label)
        if i % columns == 0:
            ax.set_ylabel(keys[1].label)
    figure.colorbar(image, ax=axes, label=end)
    return figure
