"""Contents of a drawn figure: the axes of every panel, the lines of its curves and their looks.

Exporters need these contents, because only the drawing function decides scales, limits, labels and
looks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

from dpbandits.curves.series import Series
from dpbandits.drawing.plotting import Drawing, PanelDrawing
from dpbandits.drawing.styles import PUBLISHED_ID, style_of_curve

Points = np.ndarray  # shape (n, 2)


class Look(NamedTuple):
    """Appearance of a curve."""

    colour: str  # RRGGBB
    line: str  # matplotlib's code; "" or "None": points alone
    width: float  # in points
    marker: str  # matplotlib's code; "" or "None": no marker
    filled: bool
    marked: tuple[int, ...] | None = None  # indices of the points with a marker; None: all


class Fill(NamedTuple):
    """A filled area without an outline: a band."""

    colour: str
    opacity: float
    border: Points


class Bars(NamedTuple):
    """The error bars of a curve, each given by its two ends."""

    colour: str
    ends: list[Points]


class Published(NamedTuple):
    """The points of a curve that the paper published, as open markers."""

    look: Look
    points: Points


@dataclass(frozen=True)
class DrawnPanel:
    """A panel, the axes that show it, and the look of each of its curves, by position."""

    panel: PanelDrawing
    axes: Axes | None  # None: the figure draws none of the panel's curves as lines
    looks: tuple[Look | None, ...]  # None: this curve is not drawn, but others of the panel are

    def fills(self) -> Iterator[Fill]:
        """Yield the bands of the panel."""
        for collection in self.axes.collections if self.axes else ():
            if isinstance(collection, PolyCollection):
                face: Any = collection.get_facecolor()
                for path in collection.get_paths():
                    yield Fill(_hex(face[0]), float(face[0][3]), np.asarray(path.vertices))

    def bars(self) -> Iterator[Bars]:
        """Yield the error bars of the panel."""
        for collection in self.axes.collections if self.axes else ():
            if isinstance(collection, LineCollection):
                colours: Any = collection.get_color()
                yield Bars(_hex(colours[0]), [np.asarray(s) for s in collection.get_segments()])

    def published(self) -> Iterator[Published]:
        """Yield the paper's own points, of one algorithm after the other."""
        for line in self.axes.lines if self.axes else ():
            if str(line.get_gid()).startswith(PUBLISHED_ID):
                colour, marker = _hex(line.get_markeredgecolor()), str(line.get_marker())
                look = Look(colour, "", line.get_linewidth(), marker, False)
                yield Published(look, np.asarray(line.get_xydata()))


def find(axes: list[Axes], drawing: Drawing) -> list[DrawnPanel]:
    """Return every panel with the axes that hold most of its curves; axes show one panel only."""
    free, drawn_panels = list(axes), []
    for panel in drawing.panels:
        best, lines = None, dict[int, Line2D]()
        for ax in free:
            if len(theirs := _lines(ax, panel)) > len(lines):
                best, lines = ax, theirs
        if best:
            free.remove(best)
            looks = [_look(lines[i]) if i in lines else None for i in range(len(panel.series))]
            drawn_panels.append(DrawnPanel(panel, best, tuple(looks)))
        else:
            house = (_house_look(series, i, panel) for i, series in enumerate(panel.series))
            drawn_panels.append(DrawnPanel(panel, None, tuple(house)))
    return drawn_panels


def places(panels: list[DrawnPanel]) -> list[tuple[int, int]]:
    """Return (row, column) of every panel; panels that the figure does not draw come below."""
    specs = [panel.axes.get_subplotspec() if panel.axes else None for panel in panels]
    columns = 1 + max((s.colspan.start for s in specs if s), default=0)
    rows = sorted({s.rowspan.start for s in specs if s})  # other rows hold headings and legends
    rest = (divmod(i, columns) for i in range(len(panels)))
    positions = []
    for spec in specs:
        if spec:
            positions.append((rows.index(spec.rowspan.start), spec.colspan.start))
        else:
            row, column = next(rest)
            positions.append((len(rows) + row, column))
    return positions


def _lines(ax: Axes, panel: PanelDrawing) -> dict[int, Line2D]:
    # By position in the panel; a line that is a curve carries its id.
    lines = {line.get_gid(): line for line in ax.lines}
    ids = (series.artist_id for series in panel.series)
    return {i: lines[own] for i, own in enumerate(ids) if own in lines}


def _look(line: Line2D) -> Look:
    colour, every = _hex(line.get_color()), line.get_markevery()
    return Look(
        colour,
        str(line.get_linestyle()),
        line.get_linewidth(),
        str(line.get_marker()),
        _hex(line.get_markerfacecolor()) == colour,
        tuple(dict.fromkeys(every)) if isinstance(every, list) else None,
    )


def _house_look(series: Series, position: int, panel: PanelDrawing) -> Look:
    # As in the figures, the second and later curves of an algorithm have filled markers.
    style = style_of_curve(series)
    again = any(other.style == series.style for other in panel.series[:position])
    return Look(_hex(style.colour), style.line, 1.2, style.marker, again)


def _hex(colour: Any) -> str:
    return to_hex(colour).removeprefix("#").upper()
