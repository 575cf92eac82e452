"""Drawing shapes that every paper shares, the house style and files that are the same every time.

Drawing functions know ink only: they get summed-up curves and draw them, and compute nothing.
"""

import importlib.util
import io
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from dpbandits import project
from dpbandits.curves import Series
from dpbandits.errors import UserError, nearest

# It finds fault with the dates inside of fonts, which no picture shows.
logging.getLogger("fontTools").setLevel(logging.ERROR)

COLUMN, PAGE = 3.4, 6.75  # inches: the width of one column, of a page

FORMATS = ("pdf", "svg", "png")


class Style(NamedTuple):
    """How an algorithm looks, in every figure of every paper."""

    colour: str
    marker: str
    line: str = "-"


# Keyed to the algorithm, not to its label: "DP-UCB" is the name of two. The colours are those of
# Okabe and Ito and of Tol's muted scheme, told apart by colour-blind readers too.
STYLES = {
    # Not private: black, with the marker of what is made of them.
    "ucb": Style("#000000", "x"),
    "klucb": Style("#000000", "^"),
    "se": Style("#000000", "s"),
    "exp3": Style("#000000", "D"),
    "uniform": Style("#6b6b6b", "", ":"),
    "private-ucb": Style("#CC79A7", "D"),
    "dp-ucb": Style("#56B4E9", "v"),
    "dp-ucb-bound": Style("#882255", "P"),
    "dp-ucb-int": Style("#E69F00", "o"),
    "dp-se": Style("#009E73", "s"),
    "adap-ucb": Style("#0072B2", "o"),
    "adap-klucb": Style("#D55E00", "^"),
    "dp-ftpl-gauss": Style("#117733", ">"),
    "dp-ftpl-beta": Style("#999933", "<"),
    "dp-ftpl-new": Style("#332288", "d"),
    "gdp-elim-new": Style("#CC6677", "p"),
    "dp-exp3-lap": Style("#0072B2", "^"),
    "exp3-tau": Style("#D55E00", "s"),
    "nas": Style("#000000", "o"),
    "dp-nas": Style("#0072B2", "D"),
    "dp-exponential-nas": Style("#D55E00", "P"),
    "bound": Style("#6b6b6b", "", "--"),
    "transition": Style("#6b6b6b", "o", ""),  # dots where the regimes of a bound meet
}

# For an algorithm that somebody drops in: its name decides, whatever stands beside it.
SPARE = (
    *(Style(colour, "h", "-.") for colour in ("#CC79A7", "#56B4E9", "#E69F00")),
    *(Style(colour, "*", "-.") for colour in ("#CC79A7", "#56B4E9", "#E69F00")),
)


# The second, third, ... curve of one algorithm in a panel keeps its colour and has its marker
# filled; its line is the next of these.
LINES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class PanelDrawing:
    """What a panel shows."""

    letter: str
    title: str
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Drawing:
    """What a drawing function gets."""

    title: str
    panels: tuple[PanelDrawing, ...]


def style_of(name: str) -> Style:
    """The style of an algorithm or of `bound`."""
    return STYLES.get(name) or SPARE[sha256(name.encode()).digest()[0] % len(SPARE)]


def in_mathtext(label: str) -> str:
    """A label as drawn: a letter for `alpha` of `X (alpha=1)`, an index in `t_0` and `EXP3_tau`."""
    label = re.sub(r"\b(alpha|beta|gamma|delta|epsilon)([=/][^,)]+)", r"$\\\1\2$", label)
    label = re.sub(r"\bEXP3_tau\b", r"EXP3$_\\tau$", label)
    return re.sub(r"\b(t_\d)\b", r"$\1$", label)


def drawing_file(paper: str) -> Path:
    """figures/<paper>.py, the file of a paper's drawing functions."""
    path = project.folder() / "figures" / f"{paper}.py"
    if not path.is_file():
        known = [other.stem for other in path.parent.glob("*.py")]
        raise UserError(f"figures/{paper}.py does not exist; {nearest(paper, known)}")
    return path


def style_file() -> Path:
    """The house style."""
    return project.folder() / "figures" / "style" / "paper.mplstyle"


def drawing_function(paper: str, name: str) -> Callable[[Drawing], Figure]:
    """The function `name` of figures/<paper>.py."""
    path = drawing_file(paper)
    module_spec = importlib.util.spec_from_file_location(f"dpbandits_figures_{paper}", path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    known = [n for n, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__]
    if name not in known:
        raise UserError(f"figures/{paper}.py has no function '{name}'; {nearest(name, known)}")
    return getattr(module, name)


def ink(paper: str) -> str:
    """Digest of all that decides how given curves look: the drawing code, the style, matplotlib."""
    digest = sha256(matplotlib.__version__.encode())
    for path in (drawing_file(paper), style_file(), Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def render(
    draw: Callable[[Drawing], Figure],
    drawing: Drawing,
    keywords: str,
    look: Callable[[Figure], None] = lambda figure: None,
) -> dict[str, bytes]:
    """The figure in every format. The same curves and keywords give the same bytes.

    `look` sees the figure as it is written; it must not change it.
    """
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Title": drawing.title, "Keywords": keywords, "CreationDate": None},
        "svg": {"Title": drawing.title, "Keywords": [keywords], "Date": None},
        "png": {"Title": drawing.title, "Comment": keywords},
    }
    with matplotlib.style.context(style_file(), after_reset=True):
        matplotlib.rcParams["svg.hashsalt"] = drawing.title
        figure = draw(drawing)
        # The layout is solved once: the same in every format.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        look(figure)
        files = {}
        for kind in FORMATS:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata[kind])
            files[kind] = buffer.getvalue()
    return files


# Shapes ----------------------------------------------------------------------------------------


def panel_grid(
    drawing: Drawing,
    columns: int,
    height: float,
    width: float = PAGE,
    equal: Literal["all", "row"] = "all",
) -> tuple[Figure, list[Axes]]:
    """A figure with one pair of axes per panel, equal in all of them or in a row; sizes in inches.

    Where there are several, they are titled `(a) title`.
    """
    rows = -(-len(drawing.panels) // columns)
    figure = Figure(figsize=(width, height))
    # Room between the panels, where the last tick label of one meets the first of the next.
    figure.set_layout_engine("constrained", w_pad=0.1)
    axes = list(figure.subplots(rows, columns, sharex=equal, sharey=equal, squeeze=False).flat)
    for unused in axes[len(drawing.panels) :]:
        unused.remove()
    for ax, panel in zip(axes, drawing.panels, strict=False):
        letter = f"({panel.letter})" if len(drawing.panels) > 1 else ""
        ax.set_title(f"{letter} {panel.title}".strip())
    return figure, axes[: len(drawing.panels)]


def draw_all_over_time(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Every curve of a panel over the rounds; of one algorithm, the second and so on dashed."""
    again = _again(panel)
    return [draw_over_time(ax, series, i, again[i]) for i, series in enumerate(panel.series)]


def draw_regret_over_time(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Every curve of a panel over the rounds; x linear, y logarithmic with every decade written."""
    ax.set_yscale("log")
    handles = draw_all_over_time(ax, panel)
    ax.set_xlim(0, panel.series[0].x[-1])
    ax.ticklabel_format(axis="x", style="sci", useMathText=True)
    ax.yaxis.set_major_locator(LogLocator(base=10, numticks=9))
    ax.yaxis.set_minor_formatter(NullFormatter())
    return handles


def draw_all_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """Every curve of a panel over a parameter, told apart in the same way."""
    again = _again(panel)
    return [draw_over_parameter(ax, series, again[i]) for i, series in enumerate(panel.series)]


def draw_log_over_parameter(ax: Axes, panel: PanelDrawing) -> list[Line2D]:
    """The same with both axes logarithmic, from the first value to the last; y has every decade."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    handles = draw_all_over_parameter(ax, panel)
    ax.set_xlim(panel.series[0].x[0], panel.series[0].x[-1])
    ax.yaxis.set_major_locator(LogLocator(base=10, numticks=12))
    ax.yaxis.set_minor_formatter(NullFormatter())
    return handles


def _again(panel: PanelDrawing) -> list[int]:
    # How many curves of the same algorithm a panel has before each; dots belong to their curves.
    styles = [series.style for series in panel.series]
    return [0 if s == "transition" else styles[:i].count(s) for i, s in enumerate(styles)]


def draw_over_time(
    ax: Axes, series: Series, order: int, again: int = 0, style: Style | None = None
) -> Line2D:
    """A line over the rounds, its band where it has one, some markers; `order` staggers them.

    `again`: how many curves of the same algorithm the panel has before this one; `style`: another
    than the algorithm's own.
    """
    # In equal steps of the axis; markers of curves that run together stand side by side.
    steps, last = (np.arange(8) + 0.2 + 0.2 * (order % 4)) / 8, series.x[-1]
    wanted = last**steps if ax.get_xscale() == "log" else last * steps
    return _line(ax, series, np.searchsorted(series.x, wanted).tolist(), again, style)


def draw_over_parameter(ax: Axes, series: Series, again: int = 0) -> Line2D:
    """A line with a marker at every value of a parameter, its band where it has one."""
    return _line(ax, series, None, again)


def _line(
    ax: Axes,
    series: Series,
    markevery: list[int] | None,
    again: int = 0,
    style: Style | None = None,
) -> Line2D:
    style = style or style_of(series.style)
    (line,) = ax.plot(
        series.x,
        series.centre,
        linestyle=LINES[(LINES.index(style.line) + again) % len(LINES)] if style.line else "",
        color=style.colour,
        marker=style.marker,
        markevery=markevery,
        markerfacecolor=style.colour if again else "white",
        label=in_mathtext(series.legend),
    )
    if np.any(series.low != series.high):
        # On a logarithmic axis a band that reaches 0 goes down to the frame.
        floor = np.finfo(float).tiny if ax.get_yscale() == "log" else -np.inf
        low = np.maximum(series.low, floor)
        ax.fill_between(series.x, low, series.high, color=style.colour, alpha=0.18, linewidth=0)
    return line


def write_at_the_end(ax: Axes, series: Series) -> None:
    """The label of a curve beside its last point."""
    ax.annotate(
        in_mathtext(series.label),
        (1, series.centre[-1]),
        xycoords=("axes fraction", "data"),
        xytext=(3, 0),
        textcoords="offset points",
        verticalalignment="center",
        fontsize=7,
    )


def write_slopes(ax: Axes, panel: PanelDrawing, symbol: str, above: bool = False) -> None:
    """The fitted log-log slopes, as powers of a symbol, in the lower or the upper right corner."""
    fit = panel.series[0].fit
    lines = [("Least-squares fit" + (f", {fit[0]:g} to {fit[1]:g}" if fit else ""), "black")]
    for series in panel.series:
        text = rf"{in_mathtext(series.label)}  $\propto {symbol}^{{{series.slope:.2f}}}$"
        lines.append((text, style_of(series.style).colour))
    for row, (text, colour) in enumerate(lines):
        ax.text(
            0.98,
            (0.94 if above else 0.03 + 0.075 * (len(lines) - 1)) - 0.075 * row,
            text,
            color=colour,
            transform=ax.transAxes,
            horizontalalignment="right",
            fontsize=7,
        )


def legend_below(figure: Figure, handles: Sequence[Artist], columns: int) -> None:
    """One legend for all panels, under them."""
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
