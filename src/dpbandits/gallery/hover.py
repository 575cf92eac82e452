"""Positions of the curves' points in a picture, so that a page can display their values.

They are computed by matplotlib, as a page has no axis scales.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.drawing.formulas import plain
from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.styles import in_mathtext
from dpbandits.gallery import dark
from dpbandits.tables.series import Series

MOST = 150  # points per line
NEAREST = 0.003  # of the picture: closer points look like one


def lines(figure: Figure, drawing: Drawing) -> list[dict[str, Any]]:
    """Return the names and the positions of the points of every curve that is drawn as a line.

    A point is [left, top, x, y, low, high], the first two as fractions of the picture; without low
    and high if there is no band.
    """
    positions = []
    free = list(figure.axes)
    for panel in drawing.panels:
        # The axes that hold most of the panel's curves; a line that is a curve carries its id.
        ids = {series.artist_id for series in panel.series}
        found = [{str(n.get_gid()): n for n in ax.lines if n.get_gid() in ids} for ax in free]
        drawn: dict[str, Line2D] = max(found, key=len, default={})
        if not drawn:
            continue
        ax = free.pop(found.index(drawn))
        # Panels that share the label of an axis write it beside one of them only.
        named = {
            "x": [other.get_xlabel() for other in (ax, *figure.axes)],
            "y": [other.get_ylabel() for other in (ax, *figure.axes)],
        }
        names = {axis: plain(next(filter(None, all_), axis)) for axis, all_ in named.items()}
        for series in panel.series:
            line = drawn.get(series.artist_id)
            if line and (points := _points(ax, figure, series)):
                colour = to_hex(line.get_color())
                positions.append(
                    {
                        "panel": series.panel if len(drawing.panels) > 1 else "",
                        "label": plain(in_mathtext(series.legend)),
                        "colour": colour.upper(),
                        "dark": dark.colour(colour.upper()),
                        **names,
                        "points": points,
                    }
                )
    return positions


def _points(ax: Axes, figure: Figure, series: Series) -> list[list[float]]:
    with np.errstate(all="ignore"):  # the logarithm of 0 has no position
        pixels = ax.transData.transform(np.column_stack([series.x, series.centre]))
    places = figure.transFigure.inverted().transform(pixels)
    frame = ax.get_position()
    low, high = frame.p0 - 1e-6, frame.p1 + 1e-6
    with np.errstate(invalid="ignore"):
        seen = np.isfinite(places).all(axis=1) & ((low <= places) & (places <= high)).all(axis=1)
    inside = np.flatnonzero(seen)
    if len(inside) > MOST:
        inside = inside[np.linspace(0, len(inside) - 1, MOST).round().astype(int)]
    points: list[list[float]] = []
    last = np.array([-1.0, -1.0])
    for i in inside:
        if np.hypot(*(places[i] - last)) < NEAREST and i != inside[-1]:
            continue
        last = places[i]
        numbers = [series.x[i], series.centre[i]]
        band = series.low[i], series.high[i]
        if band[0] != band[1] and np.isfinite(band).all():
            numbers += band
        place = [round(float(last[0]), 4), round(1 - float(last[1]), 4)]
        points.append(place + [float(f"{n:.6g}") for n in numbers])
    return points
