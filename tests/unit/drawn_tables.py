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
from composed import load
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.drawing.plotting import Drawing, drawing_function, style_file
from dpbandits.factory import produce
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import references
from dpbandits.tables.series import Series

NUMBERS = ("x", "runs", "mean", "std", "median", "min", "max", "centre", "low", "high")
ANNOTATED = "figure.annotated=true"
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
def specified(figure: str, *overrides: str) -> tuple[FigureSpec, Drawing]:
    """Return a figure and what its drawing function gets, with the numbers of its reference."""
    spec, _ = load(figure, overrides)
    return spec, produce.drawing(spec, references.read(spec, references.PAPER))


def draw(spec: FigureSpec, drawing: Drawing, lays_out: bool = False) -> Figure:
    """Return the picture of these numbers."""
    with matplotlib.style.context(style_file(), after_reset=True):
        figure = drawing_function(spec.paper, spec.draw)(drawing)
        if lays_out:
            figure.draw_without_rendering()
    return figure


@cache
def drawn(figure: str, others: bool = True) -> tuple[Figure, Drawing]:
    """Return the annotated picture of a figure's reference, without solving its layout.

    Without the `others`, all columns except x, centre, low and high are nan, so that an artist that
    shows one of them shows nothing.
    """
    spec, drawing = specified(figure, ANNOTATED)
    if not others:

        def blank(series: Series) -> Series:
            none = np.full(series.x.size, np.nan)
            return replace(series, mean=none, std=none, median=none, min=none, max=none)

        panels = (replace(p, series=tuple(map(blank, p.series))) for p in drawing.panels)
        drawing = replace(drawing, panels=tuple(panels))
    return draw(spec, drawing), drawing


@cache
def laid_out(figure: str) -> Figure:
    """Return the annotated picture of a figure's reference, laid out as in its files."""
    return draw(*specified(figure, ANNOTATED), lays_out=True)


def artist_id(curve: Curve) -> str:
    """Return the id of the line of a curve; bytes other than letters, digits and _.-~ are .XX."""
    panel, label = curve
    plain = re.compile(r"[A-Za-z0-9_.~-]")
    return f"curve-{panel}-" + "".join(
        c if plain.match(c) else "".join(f".{byte:02X}" for byte in c.encode()) for c in label
    )


def insets(ax: Axes) -> list[Axes]:
    return [child for child in ax.child_axes if isinstance(child, Axes)]


def lines_by_id(figure: Figure) -> dict[str, list[tuple[Axes, Line2D]]]:
    """Return every line that carries the id of a curve, with its axes."""
    found: dict[str, list[tuple[Axes, Line2D]]] = {}
    for panel in figure.axes:
        for ax in (panel, *insets(panel)):
            for line in ax.lines:
                if str(line.get_gid()).startswith("curve-"):
                    found.setdefault(str(line.get_gid()), []).append((ax, line))
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
