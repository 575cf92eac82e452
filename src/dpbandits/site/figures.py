"""Figures of the site: their curves, pictures and claims, or the error that prevents them."""

import io
import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from dpbandits.config import conf_files
from dpbandits.drawing import plotting
from dpbandits.drawing.styles import in_mathtext
from dpbandits.factory import produce, stored_results
from dpbandits.factory.captions import caption
from dpbandits.factory.papers import OWN, PAPERS, Paper, paper
from dpbandits.factory.stored_results import Result
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.judge.about import About
from dpbandits.kernel.errors import UserError, in_one_line
from dpbandits.spec.figure import Original
from dpbandits.tables.series import to_csv


@dataclass(frozen=True)
class FigurePage:
    """A figure of the site."""

    name: str
    paper: Paper
    title: str
    command: str  # computes and draws it
    configuration: str = ""
    result: Result | None = None  # None: it cannot be loaded, see `failure`
    original: Original | None = None  # the figure of the paper that it reproduces
    algorithms: tuple[str, ...] = ()  # with the stopping rules that it plays, in its order
    claims: tuple[About, ...] = ()
    caption: str = ""
    files: tuple[str, ...] = ()  # endings of its files, figures/<name>/<name><ending>
    failure: str = ""  # error in one line

    @property
    def heading(self) -> str:
        """Title with the number in the paper, if it has one."""
        number = f"{self.original} of {self.paper.short}: " if self.original else ""
        return f"{number}{self.title}"

    @property
    def curves(self) -> list[str]:
        """Legends of the curves."""
        series = self.result.series if self.result else ()
        return list(dict.fromkeys(in_mathtext(s.legend) for s in series))


def place_of(of: Paper, original: Original | None, name: str) -> tuple[int, int, int, str, str]:
    """Return the sort key of a figure: by paper, then figures, tables, and what has no original."""
    position = PAPERS.index(of) if of in PAPERS else len(PAPERS)
    if original is None:
        return position, 2, 0, "", name
    return position, int(original.kind == "table"), original.number, original.part, name


def show(name: str, folder: Path, overrides: tuple[str, ...] = ()) -> FigurePage:
    """Load and draw a figure; its files go below the folder.

    An error becomes its `failure`, so that an error in the configuration or in a drawing function
    does not prevent the other figures. Its page has what is known by then.
    """
    page = FigurePage(name, paper(OWN), name, shlex.join(["dpbandits", "run", name, *overrides]))
    try:
        file = project.find(project.member_file("figure", name))
        page = replace(page, configuration=file.read_text("utf-8"))
        content = conf_files.read_member("figure", name)
        title = str(content.get("title", name))
        page = replace(page, paper=paper(str(content.get("paper", OWN))), title=title)
        result = stored_results.load(name, overrides)
        spec = result.spec
        page = replace(
            page,
            paper=paper(spec.paper),
            title=spec.title,
            command=produce.command("run", spec, result.settings),
            result=result,
            original=spec.original,
            algorithms=tuple(dict.fromkeys(experiment.member for experiment in spec.experiments())),
            claims=result.claims,
            caption=caption(spec, result.noted),
        )
        return _draw(page, result, folder / name) if result.source else page
    except UserError as error:
        failure = str(error)
    except Exception as error:
        failure = in_one_line(error)
    return replace(page, failure=failure)


def _draw(page: FigurePage, result: Result, folder: Path) -> FigurePage:
    from dpbandits.site import charts  # which needs Altair

    spec, series = result.spec, list(result.series)
    produce.refuse_undrawable(spec)
    drawing = produce.drawing(spec, series)
    drawing = replace(drawing, appearance=drawing.appearance._replace(format="svg"))
    files: dict[str, bytes] = {}

    def add_chart(figure: Figure) -> None:
        panels = [charts.of_panel(panel, figure, spec.centre) for panel in drawing.panels]
        files[".js"] = f"dpbanditsChart({json.dumps([*filter(None, panels)])});\n".encode()
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=100)
        files[".png"] = thumbnail(picture.getvalue(), 480)

    draw = plotting.drawing_function(spec.paper, spec.draw)
    files[".svg"] = plotting.render(draw, drawing, page.command, add_chart)["svg"]
    files[".csv"] = to_csv(series)
    for ending, content in files.items():
        write_atomically(folder / f"{spec.name}{ending}", content, remedy="")
    return replace(page, files=tuple(files))


def thumbnail(png: bytes, width: int) -> bytes:
    """Return a picture as a small PNG of this width in pixels."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    size = width, round(image.height * width / image.width)
    small = image.resize(size, Image.Resampling.LANCZOS)
    small = small.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
