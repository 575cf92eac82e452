"""Picture of a multirun: the last point of each curve against the keys in which the jobs differ.

One key: lines over it, with axes for every panel. Two keys: a heat map for every curve that
depends on both. More keys: lines over the key with the most values, with axes for every
combination of the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dpbandits.drawing.annotations import legend_below
from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import draw_all_over_parameter, panel_grid
from dpbandits.drawing.styles import in_mathtext, style_of_curve, symbol
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.sweeps.jobs import Done, depends, short
from dpbandits.tables.series import Series

MOST_AXES = 24  # that fit on a page
ARRAYS = ("mean", "std", "median", "min", "max", "centre", "low", "high")


class Key(NamedTuple):
    """A key in which the jobs differ: its label, and its values in the order of the axis."""

    key: str
    label: str
    values: list[Any]

    @property
    def is_number(self) -> bool:
        """True if all values are numbers, which have positions on a numerical axis."""
        return all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.values)

    @property
    def places(self) -> list[float]:
        """Positions of the values on the axis: the numbers themselves, else 0, 1, 2, ..."""
        return [float(v if self.is_number else i) for i, v in enumerate(self.values)]

    @property
    def ticks(self) -> list[str]:
        """Tick labels of the values."""
        return [f"{value:g}" if self.is_number else str(value) for value in self.values]


def summary(
    points: Sequence[Done], varied: Sequence[str]
) -> tuple[Drawing, Callable[[Drawing], Figure]] | None:
    """Return the drawing and its drawing function, or None for more than MOST_AXES axes."""
    spec = points[0].spec
    keys = [_key(key, points, varied) for key in varied]
    title = f"{spec.title}: by {', '.join(short(varied).values())}"
    shared = [c for c in spec.changes if all(c in point.spec.changes for point in points)]
    changes = "; ".join(change.short for change in shared)
    end = _end_of(spec, varied)
    maps = _maps(points, keys) if len(keys) == 2 else []
    main = max(keys, key=lambda key: len(key.values))
    panels = maps or _lines(points, main, [key for key in keys if key is not main])
    if len(panels) > MOST_AXES:
        return None
    drawing = Drawing(title, tuple(panels), changes)
    if not maps:
        return drawing, lambda d: _over_values(d, main, end)
    grids = [grid(panel, points, keys) for panel in maps]
    return drawing, lambda d: heat_maps(d, grids, keys, end)


def _key(key: str, points: Sequence[Done], varied: Sequence[str]) -> Key:
    # The key with its label and the values that it takes in the completed jobs.
    label = symbol(short(varied)[key].rpartition(".")[2])
    parts = key.split(".")
    linked = any(f"{{{key}\\}}" in text for text in points[0].job.texts().values())
    if parts[:2] == ["figure", "curves"] and len(parts) > 3 and not linked:
        labels = {c.name: c.label for panel in points[0].spec.panels for c in panel.curves}
        label = f"{label} of {in_mathtext(labels.get(parts[2], parts[2]))}"
    elif parts[:2] == ["figure", "panels"]:
        label = f"{label} of ({parts[2]})"
    axis = Key(key, label, list(dict.fromkeys(point.job.value(key) for point in points)))
    return axis._replace(values=sorted(axis.values)) if axis.is_number else axis


def _end_of(spec: FigureSpec, varied: Sequence[str]) -> str:
    # The y label: the quantity at the last point of a curve.
    over = spec.panels[0].curves[0].over
    horizons = {cell.horizon for cell in spec.cells() if isinstance(cell, RegretExperiment)}
    if over != "t":
        return f"Value at the largest {over}"
    if not horizons:
        return "Value at the horizon"  # all curves are bounds
    if len(horizons) > 1 or any(key.endswith("horizon") for key in varied):
        return "Regret at the horizon"
    (number,) = horizons
    power = len(str(number)) - 1
    rounds = f"$10^{{{power}}}$" if number == 10**power and power > 3 else f"{number:,}"
    return f"Regret after {rounds} rounds"


def _letter(panels: Sequence[PanelDrawing]) -> str:
    return ascii_lowercase[len(panels) % len(ascii_lowercase)]


def _figure(drawing: Drawing, margin: float) -> tuple[Figure, list[Axes], int]:
    # The figure, its axes, and the number of columns; `margin` is in inches.
    columns = min(len(drawing.panels), 2)
    height = margin + 2.1 * -(-len(drawing.panels) // columns)
    return *panel_grid(drawing, columns, height, COLUMN if columns == 1 else PAGE), columns


# Lines -----------------------------------------------------------------------------------------


def _lines(points: Sequence[Done], main: Key, others: Sequence[Key]) -> list[PanelDrawing]:
    # Axes for every combination of the other keys' values and every panel.
    panels: list[PanelDrawing] = []
    for chosen in product(*(zip(key.values, key.ticks, strict=True) for key in others)):
        values = [value for value, _ in chosen]
        fixed = [f"{key.label} = {tick}" for key, (_, tick) in zip(others, chosen, strict=True)]
        jobs = [p for p in points if [p.job.value(key.key) for key in others] == values]
        for panel in points[0].spec.panels:
            found = (_ends(main, jobs, panel.letter, curve) for curve in panel.curves)
            if series := tuple(s for s in found if s is not None):  # else all these jobs failed
                title = ", ".join(filter(None, [panel.title, *fixed]))
                panels.append(PanelDrawing(_letter(panels), title, series))
    return panels


def _ends(key: Key, points: Sequence[Done], panel: str, curve: Curve) -> Series | None:
    # The last point of a curve, over the values of a key.
    places = dict(zip(key.values, key.places, strict=True))
    ends = {
        places[point.job.value(key.key)]: series
        for point in points
        if (series := point.curve(panel, curve.name, curve.label)) is not None
    }
    if not ends:
        return None
    ordered = [ends[x] for x in sorted(ends)]
    arrays: dict[str, Any] = {
        name: np.array([getattr(s, name)[-1] for s in ordered]) for name in ARRAYS
    }
    labels = {s.label for s in ordered}  # labels name a parameter in which the jobs differ
    label = labels.pop() if len(labels) == 1 else curve.name
    x = np.array(sorted(ends))
    return replace(ordered[0], label=label, legend=label, slope=None, x=x, **arrays)


def _over_values(drawing: Drawing, key: Key, end: str) -> Figure:
    figure, axes, columns = _figure(drawing, margin=0.7)
    handles: dict[str, Line2D] = {}
    ends = np.concatenate([s.centre for panel in drawing.panels for s in panel.series])
    places, ticks = key.places, dict(zip(key.places, key.ticks, strict=True))
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        ax.set_yscale("log" if 0 < 10 * ends.min() < ends.max() else "linear")
        draw = draw_all_over_parameter if key.is_number else _draw_side_by_side
        for line in draw(ax, panel):
            handles.setdefault(str(line.get_label()), line)
        if key.is_number and min(places) > 0 and max(places) >= 20 * min(places):
            ax.set_xscale("log")
        if len(places) <= 6 or not key.is_number:  # room for a tick at every value
            ax.xaxis.set_major_locator(FixedLocator(places))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: ticks.get(x, "")))
        if i + columns >= len(axes):
            ax.set_xlabel(key.label)
        if i % columns == 0:
            ax.set_ylabel(end)
    legend_below(figure, list(handles.values()), 2 * columns)
    return figure


def _draw_side_by_side(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    # There is nothing between values that are not numbers: markers with bars, no lines.
    markers: list[Line2D] = []
    for i, series in enumerate(panel.series):
        style, before = style_of_curve(series), [s.style for s in panel.series[:i]]
        line, *_ = ax.errorbar(
            series.x + 0.4 * ((i + 0.5) / len(panel.series) - 0.5),
            series.centre,
            np.maximum([series.centre - series.low, series.high - series.centre], 0),
            color=style.colour,
            marker=style.marker or "_",
            markerfacecolor=style.colour if series.style in before else "white",
            linestyle="",
            elinewidth=1,
            label=in_mathtext(series.legend),
        )
        assert line is not None
        markers.append(line)
    return markers


# Heat maps -------------------------------------------------------------------------------------


def _maps(points: Sequence[Done], keys: Sequence[Key]) -> list[PanelDrawing]:
    # A panel for every curve that depends on both keys.
    jobs = [point.job for point in points]
    both = depends(jobs, keys[0].key) & depends(jobs, keys[1].key)
    panels: list[PanelDrawing] = []
    for panel in points[0].spec.panels:
        for curve in panel.curves:
            series = points[0].curve(panel.letter, curve.name, curve.label)
            if (panel.letter, curve.name) in both and series is not None:
                title = ", ".join(filter(None, [in_mathtext(curve.label), panel.title]))
                panels.append(PanelDrawing(_letter(panels), title, (series,)))
    return panels


def grid(panel: PanelDrawing, points: Sequence[Done], keys: Sequence[Key]) -> np.ndarray:
    """Return the last values of a curve, shape (values of the second key, values of the first).

    float64; nan if a job failed.
    """
    (template,) = panel.series
    ends = np.full((len(keys[1].values), len(keys[0].values)), np.nan)
    for point in points:
        column, row = (key.values.index(point.job.value(key.key)) for key in keys)
        series = point.curve(template.panel, template.curve, template.label)
        if series is not None:
            ends[row, column] = series.centre[-1]
    return ends


def heat_maps(
    drawing: Drawing, grids: Sequence[np.ndarray], keys: Sequence[Key], end: str
) -> Figure:
    """Draw axes for every grid, with the numbers in its cells and one colour scale for all.

    `grids` are the arrays of `grid`, one for each panel of the drawing, with nan for failed jobs.
    """
    figure, axes, columns = _figure(drawing, margin=0.5)
    low, high = min(np.nanmin(g) for g in grids), max(np.nanmax(g) for g in grids)
    norm = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    for i, (ax, numbers) in enumerate(zip(axes, grids, strict=True)):
        image = ax.imshow(numbers, norm=norm, cmap="cividis", aspect="auto", origin="lower")
        ax.grid(visible=False)
        ax.set_xticks(range(numbers.shape[1]), keys[0].ticks)
        ax.set_yticks(range(numbers.shape[0]), keys[1].ticks)
        for (row, column), value in np.ndenumerate(numbers):
            text = "failed" if np.isnan(value) else f"{float(f'{value:.3g}'):,.10g}"
            colour = "white" if not np.isnan(value) and norm(value) < 0.5 else "black"
            ax.text(column, row, text, color=colour, ha="center", va="center", fontsize=7)
        if i + columns >= len(grids):
            ax.set_xlabel(keys[0].label)
        if i % columns == 0:
            ax.set_ylabel(keys[1].label)
    figure.colorbar(image, ax=axes, label=end)
    return figure
