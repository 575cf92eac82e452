"""Curves of a pgfplots export: bands, error bars, lines with markers and their options."""

import math

import numpy as np

from dpbandits.curves.series import Series
from dpbandits.drawing.artists import DrawnPanel, Look
from dpbandits.drawing.latex import in_one_line

LINES = {"-": "solid", "--": "dashed", ":": "dotted", "-.": "dash dot"}
# pgfplots marks, with the options that transform them.
MARKS = {
    "o": ("*", ""),
    "s": ("square*", ""),
    "^": ("triangle*", ""),
    "v": ("triangle*", "rotate=180, "),
    "<": ("triangle*", "rotate=90, "),
    ">": ("triangle*", "rotate=270, "),
    "D": ("diamond*", ""),
    "d": ("diamond*", "xscale=0.6, "),
    "p": ("pentagon*", ""),
    "h": ("pentagon*", "rotate=180, "),
    "x": ("x", ""),
    "X": ("x", "xscale=1.3, yscale=1.3, "),
    "P": ("+", ""),
    "*": ("star", ""),
}


def curves(panel: DrawnPanel) -> str:
    """Return the plots of a panel, without legend entries."""
    # Bands and bars first, below the lines. On a logarithmic axis, ends at 0 are cut at the frame.
    logarithmic = panel.axes is not None and panel.axes.get_yscale() == "log"
    floor = panel.axes.get_ylim()[0] if panel.axes and logarithmic else -math.inf
    text = ""
    for fill in panel.fills():
        ink = f"draw=none, fill={colour_name(fill.colour)}, fill opacity={fill.opacity:.3g}"
        rows = _rows(fill.border, floor)
        text += f"\\addplot[{ink}, forget plot] table {{\n{rows}}} -- cycle;\n"
    for bars in panel.bars():
        ink = f"color={colour_name(bars.colour)}, line width=0.8pt, mark=-, mark size=1.6pt"
        ink += ", unbounded coords=jump"  # a nan row lifts the pen
        rows = "nan nan\n".join(_rows(ends, floor) for ends in bars.ends)
        text += f"\\addplot[{ink}, forget plot] table {{\n{rows}}};\n"
    for series, look in zip(panel.panel.series, panel.looks, strict=True):
        text += _curve(series, look)
    for look, points in panel.published():
        rows = _rows(points, floor)
        text += f"% Published by the paper\n\\addplot[{look_options(look)}, forget plot] table {{\n"
        text += f"{rows}}};\n"
    return text


def _rows(points: np.ndarray, floor: float) -> str:
    return "".join(f"{number(x)} {number(max(y, floor))}\n" for x, y in points)


def _curve(series: Series, look: Look | None) -> str:
    ink = look_options(look) if look else "draw=none, mark=none"
    if look and look.marker in MARKS and look.marked is not None:
        ink += f", mark indices={{{','.join(str(i + 1) for i in look.marked)}}}"
    columns = zip(series.x, series.centre, series.low, series.high, strict=True)
    rows = "".join(" ".join(map(number, row)) + "\n" for row in columns)
    note = "" if look else ", of which the figure draws no line"
    return (
        f"% Curve: {in_one_line(series.label)}{note}\n"
        f"\\addplot[{ink}, forget plot] table[x=x, y=y] {{\nx y low high\n{rows}}};\n"
    )


def look_options(look: Look) -> str:
    """Return the options of a plot or of its legend entry."""
    colour = colour_name(look.colour)
    line = LINES.get(look.line, "only marks")
    ink = f"color={colour}, line width={look.width:g}pt, {line}"
    if look.marker not in MARKS:
        return f"{ink}, mark=none"
    mark, turned = MARKS[look.marker]
    fill = colour if look.filled else "white"
    return (
        f"{ink}, mark={mark}, mark size=1.6pt,"
        f" mark options={{{turned}solid, line width=0.8pt, fill={fill}}}"
    )


def colour_name(code: str) -> str:
    """Return the name under which an export defines a colour."""
    return f"dpbandits{code}"


def number(value: float) -> str:
    """Return a number with all of its digits, without a decimal point if it is whole."""
    whole = math.isfinite(value) and abs(value) < 1e15 and value == int(value)
    return str(int(value)) if whole else repr(float(value))
