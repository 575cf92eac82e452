"""Picture of a multirun: the last point of each curve against the keys in which the jobs differ.

One key: lines over it, with axes for every panel. Two keys: a heat map for every curve that
depends on both. More keys: lines over the key with the most values, with axes for every
combination of the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dpbandits.cells.bandit_cell import Cell
from dpbandits.curves.series import Series
from dpbandits.drawing.annotations import legend_below
from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import draw_all_over_parameter, panel_grid
from dpbandits.drawing.styles import in_mathtext, style_of_curve
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.sweeps.jobs import short
from dpbandits.sweeps.keys import LETTERS, JobCurves, Key, key_of, same_curve, spec_of
from dpbandits.sweeps.maps import grid, heat_maps, of_both

MOST_AXES = 24  # that fit on a page
ARRAYS = ("mean", "std", "median", "min", "max", "centre", "low", "high")


def summary(
    points: Sequence[JobCurves], varied: Sequence[str]
) -> tuple[Drawing, Callable[[Drawing], Figure]] | None:
    """Return the drawing and its drawing function, or None for more than MOST_AXES axes."""
    spec = spec_of(points[0])
    keys = [key_of(key, points, spec, varied) for key in varied]
    title = f"{spec.title}: by {', '.join(short(varied).values())}"
    end, changes = _end_of(spec, varied), _in_every_job(points)
    if len(keys) == 2 and (maps := of_both(points, keys, spec)):
        drawing = Drawing(title, tuple(maps), changes)
        if len(maps) > MOST_AXES:
            return None
        grids = [grid(panel, points, keys) for panel in maps]
        return drawing, lambda d: heat_maps(d, grids, keys, end)
    main = max(keys, key=lambda key: len(key.values))
    panels = _lines(points, main, [key for key in keys if key is not main], spec)
    if len(panels) > MOST_AXES:
        return None
    return Drawing(title, tuple(panels), changes), lambda d: _over_values(d, main, end)


def _in_every_job(points: Sequence[JobCurves]) -> str:
    # The changes that all jobs share; those in which they differ are on the axes.
    first, *others = (spec_of(point).changes for point in points)
    return "; ".join(c.short for c in first if all(c in other for other in others))


def _end_of(spec: FigureSpec, varied: Sequence[str]) -> str:
    # The y label: the quantity at the last point of a curve.
    over = spec.panels[0].curves[0].over
    if over != "t":
        return f"Value at the largest {over}"
    horizons = {cell.horizon for cell in spec.cells() if isinstance(cell, Cell)}
    if not horizons:
        return "Value at the horizon"  # all curves are bounds
    if len(horizons) > 1 or any(key.endswith("horizon") for key in varied):
        return "Regret at the horizon"
    return f"Regret after {_power(horizons.pop())} rounds"


def _power(number: int) -> str:
    exponent = len(str(number)) - 1
    return f"$10^{{{exponent}}}$" if number == 10**exponent and exponent > 3 else f"{number:,}"


# Lines -----------------------------------------------------------------------------------------


def _lines(
    points: Sequence[JobCurves], main: Key, others: Sequence[Key], spec: FigureSpec
) -> list[PanelDrawing]:
    panels: list[PanelDrawing] = []
    for values in product(*(key.values for key in others)):
        own = [p for p in points if [p.job.value(k.key) for k in others] == list(values)]
        fixed = [f"{k.label} = {k.tick(v)}" for k, v in zip(others, values, strict=True)]
        for panel in spec.panels:
            every = [_against(main, own, panel.letter, curve) for curve in panel.curves]
            series = tuple(each for each in every if each is not None)
            if not series:  # all jobs of these values failed
                continue
            title = ", ".join(filter(None, [panel.title, *fixed]))
            panels.append(PanelDrawing(LETTERS[len(panels) % len(LETTERS)], title, series))
    return panels


def _against(key: Key, points: Sequence[JobCurves], panel: str, curve: Curve) -> Series | None:
    # The last point of a curve, over the values of a key.
    places = dict(zip(key.values, key.places, strict=True))
    ends = {
        places[point.job.value(key.key)]: series
        for point in points
        if (series := same_curve(point.series, panel, curve.name, curve.label)) is not None
    }
    if not ends:
        return None
    ordered = [ends[x] for x in sorted(ends)]
    arrays: dict[str, Any] = {
        name: np.array([getattr(s, name)[-1] for s in ordered]) for name in ARRAYS
    }
    labels = {s.label for s in ordered}  # labels name a parameter in which the jobs differ
    label = labels.pop() if len(labels) == 1 else curve.name
    return replace(
        ordered[0], label=label, legend=label, slope=None, x=np.array(sorted(ends)), **arrays
    )


def _over_values(drawing: Drawing, key: Key, end: str) -> Figure:
    columns = min(len(drawing.panels), 2)
    rows = -(-len(drawing.panels) // columns)
    width = COLUMN if columns == 1 else PAGE
    figure, axes = panel_grid(drawing, columns, 0.7 + 2.1 * rows, width)
    handles: dict[str, Line2D] = {}
    ends = np.concatenate([s.centre for panel in drawing.panels for s in panel.series])
    scale = "log" if 0 < 10 * ends.min() < ends.max() else "linear"
    draw = draw_all_over_parameter if key.is_number else _draw_side_by_side
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        ax.set_yscale(scale)
        for line in draw(ax, panel):
            handles.setdefault(str(line.get_label()), line)
        _set_places(ax, key)
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
        style, again = style_of_curve(series), [s.style for s in panel.series[:i]]
        line, *_ = ax.errorbar(
            series.x + 0.4 * ((i + 0.5) / len(panel.series) - 0.5),
            series.centre,
            np.maximum([series.centre - series.low, series.high - series.centre], 0),
            color=style.colour,
            marker=style.marker or "_",
            markerfacecolor=style.colour if series.style in again else "white",
            linestyle="",
            elinewidth=1,
            label=in_mathtext(series.legend),
        )
        assert line is not None
        markers.append(line)
    return markers


def _set_places(ax: Axes, key: Key) -> None:
    # A tick at every value, if there is room for them.
    if key.is_logarithmic:
        ax.set_xscale("log")
    if len(key.values) > 6 and key.is_number:
        return
    ticks = dict(zip(key.places, map(key.tick, key.values), strict=True))
    ax.xaxis.set_major_locator(FixedLocator(key.places))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: ticks.get(x, "")))
