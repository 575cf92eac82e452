"""Rendering of summarised curves to picture files that are byte-for-byte reproducible."""

import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from textwrap import fill
from typing import Any, cast

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text

from dpbandits.drawing.formulas import DRAWING
from dpbandits.files import project
from dpbandits.kernel.errors import (
    UserError,
    in_one_line,
    installing,
    nearest,
    place_and_reason,
    shown,
)
from dpbandits.kernel.roots import PACKAGE
from dpbandits.spec.figure import AS_DRAWN, Appearance
from dpbandits.spec.figure import FORMATS as FORMATS
from dpbandits.tables.series import Series

# fontTools warns about dates inside fonts, which no picture shows.
logging.getLogger("fontTools").setLevel(logging.ERROR)

COLUMN, PAGE = 3.4, 6.75  # inches: width of one column, and of a page
WIDTHS = {"column": COLUMN, "page": PAGE}
LETTERS_AN_INCH = 15.5  # characters per inch of the title line
CHANGED = "#B00020"  # colour of the text about changes
SIZES = (
    *("font.size", "axes.titlesize", "axes.labelsize"),
    *("xtick.labelsize", "ytick.labelsize", "legend.fontsize"),
)
# Settings of matplotlib that a user's style may change in pictures of the Python interface.
LOOKS = r"(axes|errorbar|font|grid|legend|lines|mathtext|patch|text|[xy]tick)\.|figure\.figsize"
PLACES = {"below": "outside lower center", "right": "outside right center"}  # of a legend

PREAMBLE = (
    r"For LuaLaTeX, with \usepackage{pgfplots} \usepgfplotslibrary{groupplots}"
    r" \usetikzlibrary{calc} \pgfplotsset{compat=1.18} in the preamble"
)
LITERAL = str.maketrans(  # of the characters that are special to TeX
    {c: f"\\{c}" for c in "_%&#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


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
    appearance: Appearance = AS_DRAWN


def drawing_file(paper: str) -> Path:
    """Return the path of figures/<paper>.py, which holds a paper's drawing functions.

    Raises UserError if the file does not exist, or if there are two of them.
    """
    folders = [layer / "figures" for layer in project.layers()]
    paths = [path for folder in folders if (path := folder / f"{paper}.py").is_file()]
    if not paths:
        papers = [other.stem for folder in folders for other in folder.glob("*.py")]
        raise UserError(f"figures/{paper}.py does not exist; {nearest(paper, papers)}")
    if len(paths) > 1:
        raise UserError(f"{paths[0]}: the name is taken by {paths[1]}; rename the file")
    return paths[0]


def style_file() -> Path:
    """Return the path of the house style."""
    return project.find("figures/style/paper.mplstyle")


def asked_style(style: str) -> str | Path:
    """Return the file of a style, from the project's folder, or its name in matplotlib.

    Raises UserError for any other.
    """
    if style.endswith(".mplstyle"):
        path = project.folder() / Path(style).expanduser()
        if not path.is_file():
            raise UserError(f"style {shown(style)} cannot be read: there is no such file")
        return path
    if style not in matplotlib.style.available:
        near = nearest(style, matplotlib.style.available)
        raise UserError(f"unknown style {shown(style)}: it is no file .mplstyle; {near}")
    return style


def user_settings() -> dict[str, Any]:
    """Return the settings of matplotlib, among LOOKS, that a user has changed from its defaults."""
    default = matplotlib.rcParamsDefault
    settings = dict.items(matplotlib.rcParams)  # without resolving the backend
    return {k: v for k, v in settings if re.match(LOOKS, k) and v != dict.get(default, k)}


@contextmanager
def house_style(style: str | None, settings: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Use the house style, with a style that is asked for and then settings over it.

    Without settings those of the process are ignored, so that files are reproducible. LaTeX writes
    no text: pictures do not depend on its installation.
    """
    styles = [style_file(), *([asked_style(style)] if style else [])]
    with matplotlib.style.context(styles, after_reset=True):
        cast(dict[str, Any], matplotlib.rcParams).update({**(settings or {}), "text.usetex": False})
        yield


def drawing_function(paper: str, name: str) -> Callable[[Drawing], Figure]:
    """Load the function `name` from figures/<paper>.py, as `from figures.<paper> import <name>`.

    The file is executed anew, as a process may meet several with this name. Raises UserError if
    there is no such file or function, or if importing the file fails.
    """
    file = drawing_file(paper)
    folder, spec = file.parent, spec_from_file_location(f"figures.{paper}", file)
    assert spec is not None
    module = module_from_spec(spec)
    with _errors_in_one_line(paper, folder):
        exec(compile(file.read_bytes(), file, "exec"), vars(module))
    functions = (n for n, f in vars(module).items() if getattr(f, "__module__", "") == spec.name)
    names = [n for n in functions if not n.startswith("_")]
    if name not in names:
        raise UserError(f"figures/{paper}.py has no function '{name}'; {nearest(name, names)}")
    draw: Callable[[Drawing], Figure] = getattr(module, name)
    return draw if folder.parent == project.SHIPPED else _errors_in_one_line(paper, folder)(draw)


@contextmanager
def _errors_in_one_line(paper: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        where = place_and_reason(error, folder, "figures")
        raise UserError(f"the drawing of {paper}: {where}") from error


def style_digest(paper: str, style: str | None = None) -> str:
    """Return the SHA-256 hex digest of everything that decides how given curves look.

    It covers the drawing code, the style and matplotlib's version.
    """
    digest = sha256(matplotlib.__version__.encode())
    for name in ("plotting", "shapes", "styles"):
        digest.update(PACKAGE.sources()[f"drawing/{name}.py"])
    asked = asked_style(style) if style else None  # a name is in the specification
    for path in (drawing_file(paper), style_file(), *([asked] if isinstance(asked, Path) else [])):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def with_appearance(draw: Callable[[Drawing], Figure], drawing: Drawing) -> Figure:
    """Draw a figure and give it the appearance that is asked for; a style must be in use.

    A legend that is wider than the page gets fewer columns.
    """
    appearance, sizes = drawing.appearance, cast(dict[str, Any], matplotlib.rcParams)
    if appearance.font_size:
        factor = appearance.font_size / sizes["font.size"]
        sizes.update({key: factor * sizes[key] for key in SIZES})
    figure = draw(drawing)
    if appearance.width:
        figure.set_figwidth(WIDTHS.get(str(appearance.width)) or float(appearance.width))
    for ax in figure.axes:
        if appearance.untitled:
            ax.set_title("".join(re.findall(r"^\(\w+\)", ax.get_title())))
        if appearance.x_axis not in (None, ax.get_xscale()):
            ax.set_xscale(str(appearance.x_axis))
            ax.autoscale(axis="x")
        if appearance.y_axis not in (None, ax.get_yscale()):
            ax.set_yscale(str(appearance.y_axis))
            ax.autoscale(axis="y")
    for legend in [*figure.legends]:
        if appearance.legend or legend.get_window_extent().width > figure.bbox.width:
            _place_anew(figure, legend, appearance.legend or "below")
    return figure


def _place_anew(figure: Figure, old: Legend, place: str) -> None:
    # Replaces a legend by one with as many columns as fit, and adds its height to the figure's.
    number, height = len(old.get_texts()), old.get_window_extent().height
    old.remove()
    given: dict[str, Any] = {
        "handles": old.legend_handles,
        "labels": [text.get_text() for text in old.get_texts()],
        "title": old.get_title().get_text() or None,
        "title_fontproperties": old.get_title().get_fontproperties(),
        "prop": old.prop,
        "loc": PLACES.get(place),
    }
    for rows in range(number if place == "right" else 1, (place != "none") * number + 1):
        columns = -(-number // rows)  # balanced
        new = figure.legend(**given, ncols=columns)
        if columns == 1 or new.get_window_extent().width <= figure.bbox.width:
            height -= new.get_window_extent().height
            break
        new.remove()
    if place != "right":
        figure.set_figheight(figure.get_figheight() - height / figure.dpi)


def render(
    draw: Callable[[Drawing], Figure],
    drawing: Drawing,
    keywords: str,
    inspect: Callable[[Figure], None] = lambda figure: None,
) -> dict[str, bytes]:
    """Return the figure's bytes by format. The same curves and keywords give the same bytes.

    `inspect` is called with the finished figure; it must not change it.
    """
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Title": drawing.title, "Keywords": keywords, "CreationDate": None},
        "svg": {"Title": drawing.title, "Keywords": [keywords], "Date": None},
        "png": {"Title": drawing.title, "Comment": keywords},
    }
    with DRAWING, house_style(drawing.appearance.style):
        matplotlib.rcParams["svg.hashsalt"] = drawing.title
        figure = with_appearance(draw, drawing)
        if drawing.changes:  # in red above the picture: it is not the paper's figure
            letters = round(figure.get_figwidth() * LETTERS_AN_INCH)
            text = fill(f"Changed: {drawing.changes}", letters)
            figure.suptitle(text, color=CHANGED, fontsize=7.5, weight="bold", parse_math=False)
        # The layout is solved once, so that it is the same in every format. With any engine, even
        # "none", matplotlib would draw once more for each format.
        figure.draw_without_rendering()
        matplotlib.rcParams["figure.constrained_layout.use"] = False
        figure.set_layout_engine(None)
        inspect(figure)
        files = {}
        for kind in drawing.appearance.formats:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata[kind])
            files[kind] = buffer.getvalue()
    return files


def _end_bands_at_the_frame(figure: Figure) -> None:
    # On a logarithmic axis a band that reaches 0 ends far below the frame, beyond TeX's lengths.
    for ax in figure.findobj(Axes):
        bands = ax.collections if ax.get_yscale() == "log" else []
        for path in (path for band in bands for path in band.get_paths()):
            x, y = np.transpose(path.vertices)
            path.vertices = np.column_stack([x, np.maximum(y, ax.get_ylim()[0])])


def to_tikz(draw: Callable[[Drawing], Figure], drawing: Drawing, comments: Sequence[str]) -> str:
    r"""Return the figure as pgfplots axes, to \input in a LaTeX document, below some comments.

    A legend of the whole figure moves into its last axes. Raises UserError if matplot2tikz is not
    installed or cannot write the figure.
    """
    try:
        import matplot2tikz
    except ImportError as error:
        raise UserError(
            f"an export to TikZ needs matplot2tikz, which is not installed: {installing('tikz')}"
        ) from error
    with house_style(drawing.appearance.style):
        figure = with_appearance(draw, drawing)
        figure.draw_without_rendering()
        _end_bands_at_the_frame(figure)
        for text in figure.findobj(Text):
            if text.get_verticalalignment() == "center_baseline":  # not known to matplot2tikz
                text.set_verticalalignment("center")
        for legend in [*figure.legends]:
            # The library writes only legends of axes, and only entries of lines in these axes.
            for line in figure.findobj(Line2D):
                line.set_label("_")
            lines = [figure.axes[-1].add_line(Line2D([np.nan], [np.nan])) for _ in legend.texts]
            for line, handle, text in zip(lines, legend.legend_handles, legend.texts, strict=True):
                if isinstance(handle, Line2D):
                    line.update_from(handle)
                line.set_label(text.get_text())
            legend.remove()
            figure.axes[-1].legend(handles=lines, loc="upper left")
        subplot = figure.axes[0].get_subplotspec()
        columns = subplot.get_gridspec().ncols if subplot else 1
        # The last digits of lines that span the axes are not reproducible.
        form = {"axis_width": f"{figure.get_figwidth() / columns:.2f}in", "float_format": ".12g"}
        try:
            with warnings.catch_warnings(action="error"):  # it warns of what it leaves out
                code = matplot2tikz.get_tikz_code(figure, **form)
        except Exception as error:  # the library raises errors of many classes
            raise UserError(
                f"matplot2tikz cannot write this figure ({in_one_line(error)}): use its PDF, or"
                " export csv"
            ) from error
    head = "".join(f"% {' '.join(line.split())}\n" for line in (*comments, PREAMBLE))
    note = ""
    if drawing.changes:  # in red above the axes, as in the picture
        literal = f"Changed: {drawing.changes}".translate(LITERAL)
        options = f"anchor=south west, text width={figure.get_figwidth() - 0.5:.2f}in, text=red"
        corner = "(current bounding box.north west)"
        note = f"\\node[{options}] at {corner} {{\\bfseries {literal}}};\n"
    return head + code.replace(r"\end{tikzpicture}", note + r"\end{tikzpicture}")
