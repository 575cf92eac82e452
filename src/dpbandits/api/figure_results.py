"""`figure`: a figure of conf/figure/, computed, as a table, files and axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.drawing import plotting
from dpbandits.drawing.formulas import DRAWING
from dpbandits.factory import produce
from dpbandits.factory.captions import caption
from dpbandits.factory.produce import refuse_undrawable
from dpbandits.files.atomic import check_writable
from dpbandits.kernel.errors import UserError, installing, shown
from dpbandits.run.runner import complete
from dpbandits.run.user_algorithms import StoreWithMemory, is_stored
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import series
from dpbandits.tables.series import Series


@dataclass(frozen=True, eq=False)
class FigureResult:
    """Figure with its curves, its caption and its files.

    `files` has a path for each kind: pdf, svg, png, csv, txt, json. They are in the `folder`
    out/<figure>, or in a folder in it if overrides change the figure. `computed` is the number of
    runs that were missing in the store.
    """

    name: str
    caption: str
    folder: Path
    files: Mapping[str, Path]
    computed: int
    _spec: FigureSpec = field(repr=False)
    _series: tuple[Series, ...] = field(repr=False)

    def to_frame(self) -> Any:
        """Return the table of the CSV file, for pandas, one row for every panel, label and x.

        Of the statistics, centre, low and high are drawn. The regret is in units of reward.
        """
        first = len(series.PLACE)  # number, of which the table of a file has the digits
        rows = [(*row[:first], *map(float, row[first:])) for row in series.rows(self._series)]
        return frame(rows, (*series.PLACE, *series.STATISTICS))

    def plot(self) -> Figure:
        """Draw the figure anew and return it; `figure.axes` can be changed before it is saved."""
        return draw_figure(self._spec, self._series)


def figure(name: str, *overrides: str, progress: bool = True) -> FigureResult:
    """Compute what is missing of a figure, write its files and return its curves.

    It does what `dpbandits run <name> <overrides>` does, with overrides such as "runs=5",
    "figure.horizon=100_000" or "paths.out=elsewhere". Raises UserError for an unknown figure, an
    override that is invalid or without effect, or if a run fails.

    Examples:
        >>> import dpbandits as dp
        >>> sorted(dp.figure("ftpl-new-cdf").files)
        ['csv', 'json', 'pdf', 'png', 'svg', 'txt']
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
    files = {kind: folder / f"{spec.name}.{kind}" for kind in produce.kinds(spec)}
    return FigureResult(
        *(spec.name, caption(spec, written.noted), folder, files, missing, spec),
        tuple(written.series),
    )


def computed(spec: FigureSpec, settings: Settings, progress: bool) -> tuple[StoreWithMemory, int]:
    """Play the missing runs of a figure; return the store with all runs, and how many were missing.

    Raises UserError if the store cannot be written, or if runs failed; the others are kept.
    """
    runs_of, store = spec.runs_of_experiments(), StoreWithMemory(settings.cache)
    if not all(map(is_stored, runs_of)):
        settings = replace(settings, cluster=None)
    done = complete(runs_of, settings, spec.name, None, store, progress)
    if done.failures:
        error = UserError(done.reason())
        if trace := done.failures[0].trace:
            error.add_note(trace)
        raise error
    return store, done.computed


def draw_figure(spec: FigureSpec, curves: Sequence[Series]) -> Figure:
    """Draw a figure as its drawing function does, in the user's style of matplotlib; return it."""
    draw = plotting.drawing_function(spec.paper, spec.draw)
    with DRAWING, plotting.house_style(spec.appearance.style, plotting.user_settings()):
        figure = plotting.with_appearance(draw, produce.drawing(spec, curves))
        figure.draw_without_rendering()
    return figure


def frame(content: Any, columns: Sequence[str] | None = None) -> Any:
    """Return a table of pandas; raise UserError if pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise UserError(f"a table needs pandas ({error}): {installing('pandas')}") from error
    return pandas.DataFrame(content, columns=columns)
