"""Export of a drawn figure to LaTeX: pgfplots axes, with the curves as tables.

Text inside the axes (slopes, names of regions) and insets are left out.
"""

import math
import re
from collections.abc import Callable, Sequence

import matplotlib.style
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from dpbandits.drawing import plotting
from dpbandits.drawing.artists import DrawnPanel, Look, find, places
from dpbandits.drawing.latex import escaped, in_latex, in_one_line
from dpbandits.drawing.pgfplots_curves import colour_name, curves, look_options, number
from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.styles import PUBLISHED_LABEL, in_mathtext

INCH = 2.54
GAP, BELOW = 1.6, 2.2  # cm between panels: for tick labels across, for titles and axis labels down
ASPECT = 0.72
PUBLISHED = Look("6B6B6B", "", 1.0, "o", filled=False)  # in the legend
CHANGED = "dpbanditschanged"  # name of the colour of the text about changes

# The same file is a picture inside a document and a document when compiled by itself.
HEAD = r"""% \input it in a document whose preamble has
%   \usepackage{pgfplots} \usepgfplotslibrary{groupplots} \pgfplotsset{compat=1.16}
% or compile it as it is. Every table has the columns low and high, the ends of the band or bars.
\expandafter\ifx\csname @nodocument\endcsname\relax
  \def\dpbanditsend{}
\else
  \documentclass[border=2pt]{standalone}
  \usepackage{pgfplots}
  \usepgfplotslibrary{groupplots}
  \pgfplotsset{compat=1.16}
  \def\dpbanditsend{\end{document}}
  \begin{document}
\fi
"""

STYLE = (
    "scale only axis, axis x line*=bottom, axis y line*=left, tick align=outside",
    "grid=major, grid style={gray!20}",
    r"label style={font=\small}, tick label style={font=\footnotesize}",
)


def to_pgfplots(
    draw: Callable[[Drawing], Figure], drawing: Drawing, comments: Sequence[str]
) -> str:
    """Return the figure as LaTeX, to compile or to input in a document, below some comments.

    Raises UserError if a title, label or tick label holds a formula that LaTeX must not run.
    """
    with matplotlib.style.context(plotting.style_file(), after_reset=True):
        figure = draw(drawing)
        panels = find(list(figure.axes), drawing)
        body = _single(figure, panels) if len(panels) == 1 else _group(figure, panels)
    used = {look.colour for _, look in _legend_texts(panels)}
    used |= {each.look.colour for panel in panels for each in panel.published()}
    used |= {fill.colour for panel in panels for fill in panel.fills()}
    used |= {bars.colour for panel in panels for bars in panel.bars()}
    colours = "".join(f"\\definecolor{{{colour_name(c)}}}{{HTML}}{{{c}}}\n" for c in sorted(used))
    head = "".join(f"% {in_one_line(line)}\n" for line in comments) + HEAD
    body += _changes(drawing.changes, figure) if drawing.changes else ""
    return f"{head}\\begin{{tikzpicture}}\n{colours}{body}\\end{{tikzpicture}}%\n\\dpbanditsend\n"


def _changes(changes: str, figure: Figure) -> str:
    # Red text above the axes, as in the picture, so that it cannot be mistaken for the paper's.
    width = INCH * figure.get_figwidth() - GAP
    place = "anchor=south west, at={(current bounding box.north west)}"
    font = rf"text width={width:.2f}cm, font=\footnotesize\bfseries\raggedright, text={CHANGED}"
    code = plotting.CHANGED.removeprefix("#")
    return (
        f"\\definecolor{{{CHANGED}}}{{HTML}}{{{code}}}\n"
        f"\\node[{place}, {font}] {{Changed: {in_one_line(escaped(changes))}}};\n"
    )


# Axes --------------------------------------------------------------------------------------------


def _single(figure: Figure, panels: Sequence[DrawnPanel]) -> str:
    (panel,) = panels
    width = INCH * figure.get_figwidth() - GAP
    options = [_size(width), *STYLE, *_options(panel, panel.panel.title)]
    options += _legend(panels, 1, 0, width)
    return f"\\begin{{axis}}[\n{_lined(options)}]\n{curves(panel)}{_entries(panels)}\\end{{axis}}\n"


def _group(figure: Figure, panels: list[DrawnPanel]) -> str:
    placed = dict(zip(places(panels), panels, strict=True))
    rows, columns = (1 + max(place[i] for place in placed) for i in (0, 1))
    width = INCH * figure.get_figwidth() / columns - GAP
    size = f"group size={columns} by {rows}, horizontal sep={GAP}cm, vertical sep={BELOW}cm"
    text = f"\\begin{{groupplot}}[\n{_lined([f'group style={{{size}}}', _size(width), *STYLE])}]\n"
    host = max(placed, key=lambda place: (place[0], -place[1]))  # of the legend: lowest, leftmost
    for place in ((row, column) for row in range(rows) for column in range(columns)):
        if place not in placed:
            text += "\\nextgroupplot[group/empty plot]\n"
            continue
        panel = placed[place]
        options = _options(panel, f"({panel.panel.letter}) {panel.panel.title}")
        if place == host:
            options += _legend(panels, columns, place[1], width)
        text += f"\\nextgroupplot[\n{_lined(options)}]\n{curves(panel)}"
        text += _entries(panels) if place == host else ""
    return f"{text}\\end{{groupplot}}\n"


def _size(width: float) -> str:
    title = f"font=\\small, align=flush center, text width={width + GAP - 0.4:.2f}cm"
    return f"width={width:.2f}cm, height={ASPECT * width:.2f}cm, title style={{{title}}}"


def _lined(options: Sequence[str]) -> str:
    return "".join(f"  {option},\n" for option in options)


def _options(panel: DrawnPanel, title: str) -> list[str]:
    options = [f"title={{{in_latex(title)}}}"] if title.strip() else []
    if panel.axes:
        options += _axis("x", panel.axes.xaxis) + _axis("y", panel.axes.yaxis)
    return options


def _axis(name: str, axis: Axis) -> list[str]:
    first, last = axis.get_view_interval()
    low, high = min(first, last), max(first, last)
    options = [f"{name}min={number(low)}, {name}max={number(high)}"]
    if first > last:
        options.append(f"{name} dir=reverse")
    if label := axis.get_label_text():
        options.append(f"{name}label={{{in_latex(label)}}}")
    if axis.get_scale() == "log":
        options.append(f"{name}mode=log")
    if isinstance(locator := axis.get_major_locator(), FixedLocator):  # ticks set by the figure
        ticks = [float(tick) for tick in locator() if low <= tick <= high]
        texts = axis.get_major_formatter().format_ticks(ticks)
        options.append(f"{name}tick={{{','.join(map(number, ticks))}}}")
        options.append(f"{name}ticklabels={{{','.join(f'{{{in_latex(t)}}}' for t in texts)}}}")
        if isinstance(axis.get_minor_locator(), NullLocator):
            options.append(f"{name}minorticks=false")
    elif axis.get_scale() == "log" and len(powers := _powers(low, high)) > 1:
        options.append(f"{name}tickten={{{','.join(map(str, powers))}}}")
    return options


def _powers(low: float, high: float) -> list[int]:
    # Exponents of ten, eight at most: left alone, pgfplots writes 10^4.4 where there are few.
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, -(-(last - first + 1) // 8))
    return list(range(first, last + 1, step))


# The legend --------------------------------------------------------------------------------------


def _legend_texts(panels: Sequence[DrawnPanel]) -> dict[tuple[str, Look], None]:
    # Every kind of curve once, even if several panels have it, and that of published points.
    published = [(PUBLISHED_LABEL, PUBLISHED) for panel in panels for _ in panel.published()]
    curves = {
        (in_latex(in_mathtext(series.legend)), look._replace(marked=None)): None
        for panel in panels
        for series, look in zip(panel.panel.series, panel.looks, strict=True)
        if look
    }
    return curves | dict.fromkeys(published)


def _entries(panels: Sequence[DrawnPanel]) -> str:
    return "".join(
        f"\\addlegendimage{{{look_options(look)}}}\\addlegendentry{{{text}}}\n"
        for text, look in _legend_texts(panels)
    )


def _legend(panels: Sequence[DrawnPanel], columns: int, column: int, width: float) -> list[str]:
    # One legend for all panels, centred below them. Its position is in units of the panel that
    # holds it, by width and height; a legend column is as wide as its longest text.
    entries = [re.sub(r"\\\w+|[${}\\]", "", text) for text, _ in _legend_texts(panels)]
    whole = columns * (width + GAP) - GAP
    fit = max(1, int(whole / (1.1 + 0.17 * max(map(len, entries), default=0))))
    middle = (whole / 2 - column * (width + GAP)) / width
    place = f"at={{({middle:.3f},{-1.2 / (ASPECT * width):.3f})}}, anchor=north"
    return [
        f"legend style={{{place}, draw=none, font=\\footnotesize}}",
        "legend style={/tikz/every even column/.append style={column sep=6pt}}",
        f"legend columns={min(fit, len(entries))}, legend cell align=left",
    ]
