"""`figure`: a figure of conf/figure/, computed, as a table, files and axes; and pictures."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import matplotlib.style
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpbandits.api.games import computed, frame
from dpbandits.config import compose
from dpbandits.core.errors import UserError, shown
from dpbandits.drawing import plotting
from dpbandits.drawing.plotting import PanelDrawing
from dpbandits.drawing.shapes import draw_all_over_time
from dpbandits.factory import produce
from dpbandits.factory.captions import caption
from dpbandits.factory.drawable_texts import refuse_undrawable
from dpbandits.files.atomic import check_writable
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import series
from dpbandits.tables.series import Series

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class FigureResult:
    """Figure with its curves and files.

    Attributes:
        name: name of the figure.
        title: its title.
        caption: what is drawn, the games, and the privacy of every curve.
        folder: folder of its files, `out/<figure>`, or a folder in it if overrides change it.
        files: path of each file by its kind: pdf, svg, png, csv, txt, json.
        computed: number of runs that were missing in the store.
    """

    name: str
    title: str
    caption: str
    folder: Path
    files: Mapping[str, Path]
    computed: int
    _spec: FigureSpec = field(repr=False)
    _series: tuple[Series, ...] = field(repr=False)

    @property
    def sidecar(self) -> dict[str, Any]:
        """Content of the JSON file: command, seed, provenance, and the cells of every curve."""
        content: dict[str, Any] = json.loads(self.files["json"].read_bytes())
        return content

    def to_frame(self) -> "DataFrame":
        """Return the curves as a tidy pandas table, one row for every panel, label and x.

        The columns are those of the CSV file: panel, label, x, runs, mean, std, median, min, max,
        and centre, low and high, which are drawn. The regret is in units of reward.

        Raises:
            UserError: if pandas is not installed.
        """
        header, numbers = (*series.PLACE, *series.STATISTICS), len(series.STATISTICS)
        rows = [(*row[:-numbers], *map(float, row[-numbers:])) for row in series.rows(self._series)]
        return frame(rows, columns=list(header))

    def plot(self) -> Figure:
        """Draw the figure anew and return it; `figure.axes` can be changed before it is saved."""
        return draw_figure(self._spec, self._series)


def figure(name: str, *overrides: str, progress: bool = True) -> FigureResult:
    """Compute what is missing of a figure, write its files and return its curves.

    It does what `dpbandits run <name> <overrides>` does.

    Args:
        name: name of the figure; `dpbandits list` prints all names.
        *overrides: as on the command line, such as "runs=5", "figure.horizon=100_000",
            "profile=smoke" or "paths.out=elsewhere".
        progress: show the progress.

    Returns:
        The figure. Files that are up to date are not written again.

    Raises:
        UserError: for an unknown figure, an override that is invalid or without effect, or if a run
            fails.

    Examples:
        >>> import dpbandits as dp
        >>> result = dp.figure("ftpl-new-cdf")
        >>> sorted(result.files)
        ['csv', 'json', 'pdf', 'png', 'svg', 'txt']
        >>> result.sidecar["figure"]
        'ftpl-new-cdf'
    """
    for text in (name, *overrides):
        if not isinstance(text, str):
            raise UserError(f"figure: names and overrides are texts, got {shown(text)}")
    spec, settings = compose.load(name, overrides)
    refuse_undrawable(spec)
    folder = settings.folder(spec.name)
    check_writable(folder)
    store, missing = computed(spec, settings, progress)
    written = produce.write(spec, settings, store)
    files = {kind: folder / f"{spec.name}.{kind}" for kind in produce.KINDS}
    return FigureResult(
        name=spec.name,
        title=spec.title,
        caption=caption(spec),
        folder=folder,
        files=MappingProxyType(files),
        computed=missing,
        _spec=spec,
        _series=tuple(written),
    )


def draw_curve(curve: Series, ax: Axes | None) -> Axes:
    """Draw a curve over time on the axes, or on those of a new figure, and return them."""
    with matplotlib.style.context(plotting.style_file(), after_reset=ax is None):
        if ax is None:
            _, ax = pyplot.subplots(figsize=(plotting.COLUMN, 2.6), layout="constrained")
        draw_all_over_time(ax, PanelDrawing("a", "", (curve,)))
        ax.set(xlabel="Round $t$", ylabel="Regret")
        ax.legend()
    return ax


def draw_figure(spec: FigureSpec, curves: Sequence[Series]) -> Figure:
    """Draw a figure as its drawing function does, and return it."""
    draw = plotting.drawing_function(spec.paper, spec.draw)
    with matplotlib.style.context(plotting.style_file(), after_reset=True):
        figure = draw(produce.drawing(spec, curves))
        figure.draw_without_rendering()
    return figure
