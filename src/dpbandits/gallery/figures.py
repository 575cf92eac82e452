"""Figures of the gallery: their curves, pictures and claims, or the error that prevents them."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dpbandits.config import conf_files
from dpbandits.core.errors import UserError, in_one_line
from dpbandits.drawing import plotting
from dpbandits.experiments import Experiment
from dpbandits.factory import produce, stored_results
from dpbandits.factory.captions import caption
from dpbandits.factory.papers import OWN, PAPERS, Paper, paper
from dpbandits.factory.produce import refuse_undrawable
from dpbandits.factory.stored_results import Result, ResultKind
from dpbandits.files import project
from dpbandits.gallery import dark, folders, hover
from dpbandits.gallery.origins import Origin
from dpbandits.judge import about
from dpbandits.judge.about import About
from dpbandits.spec.figure import Original
from dpbandits.tables.series import to_csv

ORIGINS = {
    ResultKind.REFERENCE: Origin.REFERENCE,
    ResultKind.CACHE: Origin.CACHE,
    ResultKind.EXACT: Origin.EXACT,
}


@dataclass(frozen=True)
class FigurePage:
    """A figure of the gallery."""

    name: str
    paper: Paper
    title: str
    result: Result | None  # None: it cannot be loaded, see `failure`
    overrides: tuple[str, ...] = ()  # overrides of its file's values, as given
    kinds: tuple[str, ...] = ()  # of its files beside its page: figures/<name>/<name>.<kind>
    size: tuple[int, int] = (0, 0)  # of the picture, in pixels
    lines: tuple[dict[str, Any], ...] = ()  # positions of the curves' points
    failure: str = ""  # error in one line

    @property
    def command(self) -> str:
        """Command that computes and draws it."""
        if self.result:
            return produce.command("run", self.result.spec, self.result.settings)
        return shlex.join(["dpbandits", "run", self.name, *self.overrides])

    @property
    def changes(self) -> tuple[str, ...]:
        """Descriptions of the differences from the figure's file."""
        return tuple(c.words() for c in self.result.spec.changes) if self.result else ()

    @property
    def order(self) -> tuple[int, int, int, str, str]:
        """Sort key: by paper, then by the number of its original; without an original last."""
        place = PAPERS.index(self.paper) if self.paper in PAPERS else len(PAPERS)
        return place, *place_of(self.original), self.name

    @property
    def original(self) -> Original | None:
        """The figure of the paper that it reproduces; None if it is our own."""
        return self.result.spec.original if self.result else None

    @property
    def about(self) -> str:
        """A sentence or two on what it shows."""
        return self.result.spec.about if self.result else ""

    @property
    def drawn(self) -> bool:
        """True if there is a picture."""
        return "svg" in self.kinds

    @property
    def claims(self) -> tuple[About, ...]:
        """The claims with their verdicts."""
        return self.result.claims if self.result else ()

    @property
    def counts(self) -> dict[str, int]:
        """Number of claims by verdict."""
        return about.count(self.claims)

    @property
    def origin(self) -> Origin:
        """Origin of the curves."""
        if self.failure:
            return Origin.FAILED
        if not (self.result and self.result.source):
            return Origin.MISSING
        return ORIGINS[self.result.source.kind]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms and stopping rules that it plays, in its order."""
        return tuple(dict.fromkeys(cell.member for cell in self.cells))

    @property
    def cells(self) -> tuple[Experiment, ...]:
        """The cells that it plays."""
        return self.result.spec.cells() if self.result else ()


def place_of(original: Original | None) -> tuple[int, int, str]:
    """Return the sort key of an original within its paper: figures, tables, then None."""
    if original is None:
        return 2, 0, ""
    return int(original.kind == "table"), original.number, original.part


def show(name: str, folder: Path, overrides: tuple[str, ...] = ()) -> FigurePage:
    """Load and draw a figure; its files go below the folder.

    An error becomes its `failure`, so that an error in the configuration or in a drawing function
    does not prevent the other figures.
    """
    key, title, result = OWN, name, None
    try:
        content = conf_files.read_member("figure", name)
        key, title = str(content.get("paper", OWN)), str(content.get("title", name))
        result = stored_results.load(name, overrides)
        key, title = result.spec.paper, result.spec.title
        page = FigurePage(name, paper(key), title, result, overrides)
        return _draw(page, result, folder / name) if result.source else page
    except UserError as error:
        failure = str(error)
    except Exception as error:
        failure = in_one_line(error)
    return FigurePage(name, paper(key), title, result, overrides, failure=failure)


def _draw(page: FigurePage, result: Result, folder: Path) -> FigurePage:
    spec, series, lines = result.spec, list(result.series), []
    refuse_undrawable(spec)
    drawing = produce.drawing(spec, series)
    size = [0, 0]
    assert result.source
    revisions = " and ".join(result.source.revisions) or "None"
    keywords = f"{page.command}, curves of revision {revisions}"

    def look(figure: Figure) -> None:
        lines.extend(hover.lines(figure, drawing))
        size[:] = (figure.get_size_inches() * 100).round().astype(int).tolist()
        svg = dark.picture(figure, drawing.title, keywords)
        folders.write(folder / f"{spec.name}.dark.svg", svg)

    draw = plotting.drawing_function(spec.paper, spec.draw)
    files = plotting.render(draw, drawing, keywords, look)
    files["csv"] = to_csv(series)
    files["txt"] = caption(spec).encode()
    files["yaml"] = project.find(project.member_file("figure", spec.name)).read_bytes()
    for kind, content in files.items():
        folders.write(folder / f"{spec.name}.{kind}", content)
    width, height = size
    return replace(page, kinds=tuple(files), size=(width, height), lines=tuple(lines))
