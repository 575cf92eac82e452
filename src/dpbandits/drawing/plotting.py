"""Rendering of summarised curves to picture files that are byte-for-byte reproducible.

Drawing functions draw summarised curves and compute nothing. Their common parts are in
dpbandits.drawing.shapes and annotations; dpbandits.drawing.styles has the look of every algorithm.
"""

import importlib.util
import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.figure import Figure

from dpbandits.core.errors import UserError, nearest
from dpbandits.core.messages import place_and_reason
from dpbandits.core.roots import ROOTS
from dpbandits.curves.series import Series
from dpbandits.files import project

# fontTools warns about dates inside fonts, which no picture shows.
logging.getLogger("fontTools").setLevel(logging.ERROR)

COLUMN, PAGE = 3.4, 6.75  # inches: width of one column, and of a page
LETTERS_AN_INCH = 15.5  # characters per inch of the title line

CHANGED = "#B00020"  # colour of the text about changes

FORMATS = ("pdf", "svg", "png")


@dataclass(frozen=True)
class PanelDrawing:
    """Contents of a panel."""

    letter: str
    title: str
    series: tuple[Series, ...]
    row: str = ""  # heading shared with its neighbours, as in a row of panels
    column: str = ""


@dataclass(frozen=True)
class Drawing:
    """Input of a drawing function."""

    title: str
    panels: tuple[PanelDrawing, ...]
    changes: str = ""  # differences from the figure's file, written above the picture
    annotated: bool = True  # with what the original does not have: insets, tables, bounds, slopes


def drawing_file(paper: str) -> Path:
    """Return the path of figures/<paper>.py, which holds a paper's drawing functions.

    Raises UserError if the file does not exist, or if there are two of them.
    """
    folders = [layer / "figures" for layer in project.layers()]
    paths = [path for one in folders if (path := one / f"{paper}.py").is_file()]
    if not paths:
        known = [other.stem for one in folders for other in one.glob("*.py")]
        raise UserError(f"figures/{paper}.py does not exist; {nearest(paper, known)}")
    if len(paths) > 1:
        raise UserError(f"{paths[0]}: the name is taken by {paths[1]}; rename the file")
    return paths[0]


def style_file() -> Path:
    """Return the path of the house style."""
    return project.find("figures/style/paper.mplstyle")


def drawing_function(paper: str, name: str) -> Callable[[Drawing], Figure]:
    """Load the function `name` from figures/<paper>.py, or from its own file <paper>/<name>.py.

    Raises UserError if there is no such file or function, or if importing the file fails.
    """
    path = drawing_file(paper)
    own = {file.stem: file for file in path.with_suffix("").glob("*.py")}
    path = own.get(name, path)
    module_spec = importlib.util.spec_from_file_location(f"dpbandits_figures_{paper}", path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    folder = drawing_file(paper).parent
    with _errors_in_one_line(paper, folder):
        module_spec.loader.exec_module(module)
    known = [n for n, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__]
    if name not in known:
        raise UserError(
            f"figures/{paper}.py has no function '{name}'; {nearest(name, [*known, *own])}"
        )
    draw: Callable[[Drawing], Figure] = getattr(module, name)

    def draw_or_name_the_line(drawing: Drawing) -> Figure:
        with _errors_in_one_line(paper, folder):
            return draw(drawing)

    return draw if folder.parent == project.SHIPPED else draw_or_name_the_line


@contextmanager
def _errors_in_one_line(paper: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        where = place_and_reason(error, folder, "figures")
        raise UserError(f"the drawing of {paper}: {where}") from error


def style_digest(paper: str) -> str:
    """Return the SHA-256 hex digest of everything that decides how given curves look.

    It covers the drawing code, the style and matplotlib's version.
    """
    digest = sha256(matplotlib.__version__.encode())
    for name in ("plotting", "shapes", "annotations", "limits", "panel_blocks", "styles"):
        digest.update(ROOTS[0].sources()[f"drawing/{name}.py"])
    file = drawing_file(paper)
    for path in (file, *sorted(file.with_suffix("").glob("*.py")), style_file()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def render(
    draw: Callable[[Drawing], Figure],
    drawing: Drawing,
    keywords: str,
    look: Callable[[Figure], None] = lambda figure: None,
) -> dict[str, bytes]:
    """Return the figure's bytes by format. The same curves and keywords give the same bytes.

    `look` is called with the finished figure; it must not change it.
    """
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Title": drawing.title, "Keywords": keywords, "CreationDate": None},
        "svg": {"Title": drawing.title, "Keywords": [keywords], "Date": None},
        "png": {"Title": drawing.title, "Comment": keywords},
    }
    with matplotlib.style.context(style_file(), after_reset=True):
        matplotlib.rcParams["svg.hashsalt"] = drawing.title
        figure = draw(drawing)
        if drawing.changes:
            _write_changes(figure, drawing.changes)
        # The layout is solved once, so that it is the same in every format. With any engine, even
        # "none", matplotlib would draw once more for each format.
        figure.draw_without_rendering()
        matplotlib.rcParams["figure.constrained_layout.use"] = False
        figure.set_layout_engine(None)
        look(figure)
        files = {}
        for kind in FORMATS:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata[kind])
            files[kind] = buffer.getvalue()
    return files


def _write_changes(figure: Figure, changes: str) -> None:
    # Red text above the picture, so that it cannot be mistaken for the paper's figure.
    letters = round(figure.get_size_inches()[0] * LETTERS_AN_INCH)
    text = fill(f"Changed: {changes}", letters)
    figure.suptitle(text, color=CHANGED, fontsize=7.5, weight="bold", parse_math=False)
