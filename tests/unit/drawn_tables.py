"""Committed reference tables, read with nothing but `csv`, and the pictures drawn from them."""

import csv
import json
import math
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
    """Return the columns of every curve of figures/reference/<figure>.csv, in its order."""
    file = ROOT / "figures" / "reference" / f"{figure}.csv"
    record = json.loads(file.with_suffix(".json").read_text())["profiles"]["paper"]
    centre, spread = record["basis"]["the statistics"].split(", ")
    curves: dict[Curve, list[dict[str, float]]] = {}
    with file.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            if row.get("profile"):  # of the profile ci
                continue
            mean, runs = float(row["mean"]), record["runs"][row["panel"]][row["label"]]
            full = {"x": float(row["x"]), "runs": runs, "mean": mean, "std": 0.0}
            full |= dict.fromkeys(("median", "min", "max"), mean)
            full |= {name: float(row[name]) for name in full if row.get(name)}
            full["centre"] = full["median" if centre == "median" else "mean"]
            full |= {name: float(row[name]) for name in ("centre",) if row.get(name)}
            error = full["std"] / math.sqrt(max(1, runs))
            half = {"std": full["std"], "standard-error": error}.get(spread, 0.0)
            full |= {"low": full["centre"] - half, "high": full["centre"] + half}
            full |= {name: float(row[name]) for name in ("low", "high") if row.get(name)}
            curves.setdefault((row["panel"], row["label"]), []).append(full)
    return {
        curve: {name: np.array([row[name] for row in rows]) for name in NUMBERS}
        for curve, rows in curves.items()
    }


@cache
def specified(figure: str, *overrides: str) -> tuple[FigureSpec, Drawing]:
    """Return a figure and what its drawing function gets, with the numbers of its reference."""
    spec, _ = load(figure, overrides)
    return spec, produce.drawing(spec, references.read_series(spec, references.PAPER))


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
    for name in sorted(file.stem for file in (ROOT / "figures" / "reference").glob("*.csv")):
        text = (ROOT / "conf" / "figure" / f"{name}.yaml").read_text("utf-8")
        shape = tuple(re.findall(r"^(?:paper|draw): *(\S+)", text, re.MULTILINE))
        assert len(shape) == 2, name
        marks = [pytest.mark.slow] if shape in seen else []
        seen.add(shape)
        marked.append(pytest.param(name, marks=marks))
    return marked
