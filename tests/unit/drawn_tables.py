"""Committed reference tables, read with nothing but `csv`, and the pictures drawn from them."""

import csv
import re
from dataclasses import replace
from functools import cache
from typing import Any

import matplotlib.style
import numpy as np
import pytest
from commands import ROOT
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from reference_pictures import specified

from dpbandits.curves.series import Series
from dpbandits.drawing.plotting import Drawing, PanelDrawing, drawing_function, style_file

NUMBERS = ("x", "runs", "mean", "std", "median", "min", "max", "centre", "low", "high")
Columns = dict[str, np.ndarray]
Curve = tuple[str, str]  # panel and label


@cache
def table(figure: str) -> dict[Curve, Columns]:
    """Return the columns of every curve of figures/reference/<figure>/curves.csv, in its order."""
    rows: dict[Curve, list[dict[str, str]]] = {}
    with (ROOT / "figures" / "reference" / figure / "curves.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows.setdefault((row["panel"], row["label"]), []).append(row)
    return {
        curve: {name: np.array([float(row[name]) for row in own]) for name in NUMBERS}
        for curve, own in rows.items()
    }


@cache
def drawn(figure: str, others: bool = True) -> tuple[Figure, Drawing]:
    """Return the picture of a figure's reference, without solving its layout.

    Without the `others`, all columns except x, centre, low and high are nan, so that an artist that
    shows one of them shows nothing.
    """
    spec, drawing = specified(figure)
    if not others:
        drawing = replace(drawing, panels=tuple(map(_blank, drawing.panels)))
    with matplotlib.style.context(style_file(), after_reset=True):
        return drawing_function(spec.paper, spec.draw)(drawing), drawing


def _blank(panel: PanelDrawing) -> PanelDrawing:
    def blank(series: Series) -> Series:
        none = np.full(series.x.size, np.nan)
        return replace(series, mean=none, std=none, median=none, min=none, max=none)

    return replace(panel, series=tuple(map(blank, panel.series)))


def artist_id(curve: Curve) -> str:
    """Return the id of the line of a curve; bytes other than letters, digits and _.-~ are .XX."""
    panel, label = curve
    plain = re.compile(r"[A-Za-z0-9_.~-]")
    return f"curve-{panel}-" + "".join(
        c if plain.match(c) else "".join(f".{byte:02X}" for byte in c.encode()) for c in label
    )


def lines_by_id(figure: Figure) -> dict[str, list[tuple[Axes, Line2D]]]:
    """Return every line that carries the id of a curve, with its axes."""
    found: dict[str, list[tuple[Axes, Line2D]]] = {}
    for ax in figure.axes:
        for each in (ax, *(child for child in ax.child_axes if isinstance(child, Axes))):
            for line in each.lines:
                if str(line.get_gid()).startswith("curve-"):
                    found.setdefault(str(line.get_gid()), []).append((each, line))
    return found


def points(line: Line2D) -> np.ndarray:
    """Return the points of a line, shape (n, 2)."""
    return np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)


def figures_by_shape() -> list[Any]:
    """Return all figures with a reference; only one of each drawing function is not slow."""
    seen, marked = set(), []
    names = {folder.name for folder in (ROOT / "figures" / "reference").iterdir()}
    for name in sorted(names - {"claims"}):  # the results of claims are not those of a figure
        text = (ROOT / "conf" / "figure" / f"{name}.yaml").read_text("utf-8")
        shape = tuple(re.findall(r"^(?:paper|draw): *(\S+)", text, re.MULTILINE))
        assert len(shape) == 2, name
        marks = [pytest.mark.slow] if shape in seen else []
        seen.add(shape)
        marked.append(pytest.param(name, marks=marks))
    return marked
