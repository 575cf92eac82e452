"""Picture of a multirun: the last point of each curve against the keys in which the jobs differ.

Two keys: a heat map for every curve whose value varies with both. Otherwise lines over the key with
the most values, with axes for every panel and every combination of the other keys' values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dpbandits.drawing.plotting import COLUMN, PAGE, Drawing, PanelDrawing
from dpbandits.drawing.shapes import draw_all_over_parameter, legend_below, panel_grid
from dpbandits.drawing.styles import in_mathtext, style_of_curve, symbol
from dpbandits.experiments import kinds
from dpbandits.sweeps.jobs import Job
from dpbandits.tables.series import STATISTICS

MOST_AXES = 24  # that fit on a page
HALF_A_PAGE, A_PAGE = 5, 14  # columns of a heat map whose numbers fit into that width


class Key(NamedTuple):
    """A key in which the jobs differ, as an axis."""

    key: str
    label: str
    values: list[Any]  # in the order of the axis
    is_number: bool  # all values are numbers, which have positions on a numerical axis
    places: list[float]  # positions of the values: the numbers themselves, else 0, 1, 2, ...
    ticks: list[str]  # tick labels of the values


def summary(
    jobs: Sequence[Job], varied: Mapping[str, str]
) -> tuple[Callable[[Drawing], Figure], Drawing] | None:
    """Return the drawing and its drawing function, or None for more than MOST_AXES axes.

    `varied` has the keys in which the jobs differ, with their names in titles.
    """
    spec, keys = jobs[0].spec, list[Key]()
    labels = {curve.name: curve.label for panel in spec.panels for curve in panel.curves}
    for key, name in varied.items():  # as axes, with their values in the completed jobs
        label, parts = symbol(name.rpartition(".")[2]), key.split(".")
        linked = any(f"{{{key}\\}}" in text for text in jobs[0].given.values())
        if parts[:2] == ["figure", "curves"] and len(parts) > 3 and not linked:
            label = f"{label} of {in_mathtext(labels.get(parts[2], parts[2]))}"
        elif parts[:2] == ["figure", "panels"]:
            label = f"{label} of ({parts[2]})"
        values = list(dict.fromkeys(job.value(key) for job in jobs))
        are_numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        if are_numbers:
            values.sort()
        places = [*map(float, values if are_numbers else range(len(values)))]
        ticks = [f"{v:g}" if are_numbers else str(v) for v in values]
        keys.append(Key(key, label, values, are_numbers, places, ticks))
    # The y label: the quantity at the last point of a curve.
    curves = spec.panels[0].curves
    first = next((curve for curve in curves if curve.played), curves[0])
    over, end = first.over, first.shows.label
    horizons = {rounds for e in spec.experiments() if (rounds := kinds.words(e).rounds)}
    if over != "t":
        end = f"Value at the largest {over}"
    elif len(horizons) == 1 and not any(key.endswith("horizon") for key in varied):
        end = f"{first.shows.over_time} after {horizons.pop():,} rounds"
    main = max(keys, key=lambda key: len(key.values))
    maps = _heat_maps(jobs, keys) if len(keys) == 2 else []
    panels = [panel for panel, _ in maps]
    panels = panels or _lines(jobs, main, [key for key in keys if key is not main])
    if len(panels) > MOST_AXES:
        return None
    drawing = Drawing(
        title=f"{spec.title}: by {', '.join(varied.values())}",
        panels=tuple(replace(p, letter=ascii_lowercase[i]) for i, p in enumerate(panels)),
    )
    if maps:
        return lambda drawing: _draw_maps(drawing, [grid for _, grid in maps], keys, end), drawing
    return lambda drawing: _draw(drawing, main, end), drawing


def _lines(jobs: Sequence[Job], main: Key, others: Sequence[Key]) -> list[PanelDrawing]:
    # Axes for every combination of the other keys' values and every panel, with the last point of
    # every curve over the values of the main key.
    panels, places = list[PanelDrawing](), dict(zip(main.values, main.places, strict=True))
    for chosen in product(*(zip(key.values, key.ticks, strict=True) for key in others)):
        values = [value for value, _ in chosen]
        fixed = [f"{key.label} = {tick}" for key, (_, tick) in zip(others, chosen, strict=True)]
        there = [job for job in jobs if [job.value(key.key) for key in others] == values]
        points = [(places[job.value(main.key)], job) for job in there]
        for panel in jobs[0].spec.panels:
            summaries = []
            for curve in panel.curves:
                pairs = ((x, j.curve(panel.letter, curve.name, curve.label)) for x, j in points)
                ends = dict(sorted((x, series) for x, series in pairs if series is not None))
                if not ends:  # all these jobs failed
                    continue
                last = ([getattr(s, name)[-1] for s in ends.values()] for name in STATISTICS)
                arrays: dict[str, Any] = dict(zip(STATISTICS, map(np.array, last), strict=True))
                labels = {s.label for s in ends.values()}  # they may name a key of the jobs
                label = labels.pop() if len(labels) == 1 else curve.name
                arrays |= {"label": label, "legend": label, "x": np.array([*ends])}
                summaries.append(replace(next(iter(ends.values())), slope=None, **arrays))
            if summaries:
                title = ", ".join(filter(None, [panel.title, *fixed]))
                panels.append(PanelDrawing("", title, tuple(summaries)))
    return panels


def _draw(drawing: Drawing, key: Key, end: str) -> Figure:
    columns = min(len(drawing.panels), 2)
    height = 0.7 + 2.1 * -(-len(drawing.panels) // columns)  # inches
    figure, axes = panel_grid(drawing, columns, height, COLUMN if columns == 1 else PAGE)
    handles: dict[str, Line2D] = {}
    ends = np.concatenate([s.centre for panel in drawing.panels for s in panel.series])
    places, ticks = key.places, dict(zip(key.places, key.ticks, strict=True))
    for i, (ax, panel) in enumerate(zip(axes, drawing.panels, strict=True)):
        ax.set_yscale("log" if 0 < 10 * ends.min() < ends.max() else "linear")
        if key.is_number:
            lines = draw_all_over_parameter(ax, panel)
        else:  # nothing is between values that are not numbers: markers with bars, no lines
            for j, series in enumerate(panel.series):
                bars = [series.centre - series.low, series.high - series.centre]
                style, shift = style_of_curve(series), 0.4 * ((j + 0.5) / len(panel.series) - 0.5)
                coordinates = (series.x + shift, series.centre, np.maximum(bars, 0))
                label, mark = in_mathtext(series.legend), style.marker or "_"
                ax.errorbar(*coordinates, fmt=mark, color=style.colour, elinewidth=1, label=label)
            lines = [container[0] for container in ax.containers]
        for line in lines:
            handles.setdefault(str(line.get_label()), line)
        if key.is_number and min(places) > 0 and max(places) >= 20 * min(places):
            ax.set_xscale("log")
        if len(places) <= 6 or not key.is_number:  # room for a tick at every value
            ax.xaxis.set_major_locator(FixedLocator(places))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: ticks.get(x, "")))
        ax.set_xlabel(key.label if i + columns >= len(axes) else "")
        ax.set_ylabel(end if i % columns == 0 else "")
    legend_below(figure, list(handles.values()), 2 * columns)
    return figure


def _heat_maps(jobs: Sequence[Job], keys: Sequence[Key]) -> list[tuple[PanelDrawing, np.ndarray]]:
    # A panel for every curve whose last value varies with both keys, and these values: float64 of
    # shape (values of the second key, values of the first), nan if a job failed.
    maps = []
    for panel in jobs[0].spec.panels:
        for curve in panel.curves:
            ends = np.full((len(keys[1].values), len(keys[0].values)), np.nan)
            for job in jobs:
                column, row = (key.values.index(job.value(key.key)) for key in keys)
                if series := job.curve(panel.letter, curve.name, curve.label):
                    ends[row, column] = series.centre[-1]
            if all(
                any(np.unique(v[~np.isnan(v)]).size > 1 for v in lines) for lines in (ends, ends.T)
            ):
                title = ", ".join(filter(None, [in_mathtext(curve.label), panel.title]))
                maps.append((PanelDrawing("", title, ()), ends))
    return maps


def _draw_maps(
    drawing: Drawing, grids: Sequence[np.ndarray], keys: Sequence[Key], end: str
) -> Figure:
    shape = grids[0].shape
    is_wide = shape[1] > HALF_A_PAGE
    columns = 1 if is_wide else min(len(grids), 2)
    row = 0.6 + 0.25 * shape[0] if is_wide else max(2.1, 0.9 + 0.17 * shape[0])
    height = 0.5 + row * -(-len(grids) // columns)  # inches
    width = PAGE if is_wide or columns > 1 else COLUMN
    figure, axes = panel_grid(drawing, columns, height, width)
    low, high = min(np.nanmin(g) for g in grids), max(np.nanmax(g) for g in grids)
    norm = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    for i, (ax, numbers) in enumerate(zip(axes, grids, strict=True)):
        image = ax.imshow(numbers, norm=norm, cmap="cividis", aspect="auto", origin="lower")
        ax.grid(visible=False)
        ax.set_xticks(range(numbers.shape[1]), keys[0].ticks)
        ax.set_yticks(range(numbers.shape[0]), keys[1].ticks)
        for (row, column), value in np.ndenumerate(numbers):
            colour = "white" if not np.isnan(value) and norm(value) < 0.5 else "black"
            text = _short(value) if shape[1] <= A_PAGE else ""
            ax.text(column, row, text, color=colour, ha="center", va="center", fontsize=7)
        ax.set_xlabel(keys[0].label if i + columns >= len(grids) else "")
        ax.set_ylabel(keys[1].label if i % columns == 0 else "")
    figure.colorbar(image, ax=axes, label=end)
    return figure


def _short(value: float) -> str:
    # Three digits: 8.8, 5,000, 12.3k, 1.2M.
    if np.isnan(value):
        return "failed"
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= max(unit, 10_000):
            return f"{value / unit:.3g}{name}"
    return f"{float(f'{value:.3g}'):,.10g}"
