"""Figures of the gallery: their curves, pictures and claims, or the error that prevents them."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dpbandits.config import conf_files
from dpbandits.drawing import plotting
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
from dpbandits.kernel.errors import UserError, in_one_line
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
    command: str  # computes and draws it
    overrides: tuple[str, ...] = ()  # overrides of its file's values, as given
    result: Result | None = None  # None: it cannot be loaded, see `failure`
    changes: tuple[str, ...] = ()  # descriptions of the differences from the figure's file
    original: Original | None = None  # the figure of the paper that it reproduces
    about: str = ""  # a sentence or two on what it shows
    algorithms: tuple[str, ...] = ()  # with the stopping rules that it plays, in its order
    claims: tuple[About, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)  # of the claims by verdict
    origin: Origin = Origin.MISSING
    kinds: tuple[str, ...] = ()  # of its files beside its page: figures/<name>/<name>.<kind>
    size: tuple[int, int] = (0, 0)  # of the picture, in pixels
    lines: tuple[dict[str, Any], ...] = ()  # positions of the curves' points
    failure: str = ""  # error in one line


def place_of(of: Paper, original: Original | None, name: str) -> tuple[int, int, int, str, str]:
    """Return the sort key of a figure: by paper, then figures, tables, and what has no original."""
    place = PAPERS.index(of) if of in PAPERS else len(PAPERS)
    if original is None:
        return place, 2, 0, "", name
    return place, int(original.kind == "table"), original.number, original.part, name


def show(name: str, folder: Path, overrides: tuple[str, ...] = ()) -> FigurePage:
    """Load and draw a figure; its files go below the folder.

    An error becomes its `failure`, so that an error in the configuration or in a drawing function
    does not prevent the other figures. Its page has what is known by then.
    """
    command = shlex.join(["dpbandits", "run", name, *overrides])
    page = FigurePage(name, paper(OWN), name, command, overrides)
    try:
        content = conf_files.read_member("figure", name)
        key, title = str(content.get("paper", OWN)), str(content.get("title", name))
        page = replace(page, paper=paper(key), title=title)
        result = stored_results.load(name, overrides)
        spec, source = result.spec, result.source
        page = replace(
            page,
            paper=paper(spec.paper),
            title=spec.title,
            command=produce.command("run", spec, result.settings),
            result=result,
            changes=tuple(change.words() for change in spec.changes),
            original=spec.original,
            about=spec.about,
            algorithms=tuple(dict.fromkeys(experiment.member for experiment in spec.experiments())),
            claims=result.claims,
            counts=about.count(result.claims),
            origin=ORIGINS[source.kind] if source else Origin.MISSING,
        )
        return _draw(page, result, folder / name) if source else page
    except UserError as error:
        failure = str(error)
    except Exception as error:
        failure = in_one_line(error)
    return replace(page, origin=Origin.FAILED, failure=failure)


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
