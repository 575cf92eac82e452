"""Committed reference curves in figures/reference/<figure>/: tables with their provenance."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.core.errors import UserError, nearest
from dpbandits.files import project
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.tables.series import PLACE, STATISTICS, Series, identity, slope

PAPER, CI = "curves", "ci"  # scales: that of the papers, that of the profile ci
Rows = dict[tuple[str, str], list[dict[str, str]]]  # by panel and label


def folder(figure: str) -> Path:
    """Return the folder figures/reference/<figure>/, beside the conf/ that has the figure."""
    return project.home("figure", figure) / "figures" / "reference" / figure


def exists(figure: str, scale: str) -> bool:
    """Return whether a figure has a reference at a scale, PAPER or CI."""
    return (folder(figure) / f"{scale}.csv").is_file()


def source_file(figure: str, scale: str) -> str:
    """Return the path, below the project, of a reference's record: command, revision, versions."""
    name = "source.yaml" if scale == PAPER else f"{scale}-source.yaml"
    return f"figures/reference/{figure}/{name}"


Found = dict[tuple[str, str], Series]  # by panel and label


def find(spec: FigureSpec, scale: str) -> Found:
    """Return the reference curves that exist for a figure, by panel and label.

    Raises UserError if the table is missing, cannot be read, lacks a column or holds a value that
    is no number.
    """
    rows = _rows(spec.name, scale)
    return {
        (panel.letter, curve.label): _series(
            spec, panel.letter, curve, rows[panel.letter, curve.label], scale
        )
        for panel in spec.panels
        for curve in panel.curves
        if (panel.letter, curve.label) in rows
    }


def read(spec: FigureSpec, scale: str) -> list[Series]:
    """Return the reference of every curve of the figure, in its order.

    Raises UserError if one is missing, and as `find` does.
    """
    series = find(spec, scale)
    for panel in spec.panels:
        for curve in panel.curves:
            if (panel.letter, curve.label) not in series:
                rows = _rows(spec.name, scale)
                near = nearest(
                    curve.label, [label for letter, label in rows if letter == panel.letter]
                )
                raise UserError(
                    f"{_file(spec.name, scale)} has no curve '{curve.label}' in"
                    f" panel {panel.letter}; {near}: regenerate it with"
                    f" `python scripts/make_reference.py {spec.name}`"
                )
    return list(series.values())


def _file(figure: str, scale: str) -> str:
    return f"figures/reference/{figure}/{scale}.csv"


def _rows(figure: str, scale: str) -> Rows:
    path, file = folder(figure) / f"{scale}.csv", _file(figure, scale)
    try:
        with path.open(encoding="utf-8", newline="") as text:
            table = csv.DictReader(text)
            missing = [c for c in (*PLACE, *STATISTICS) if c not in (table.fieldnames or ())]
            if missing:
                raise UserError(f"{file} has no column {', '.join(missing)}")
            rows: Rows = {}
            for row in table:
                rows.setdefault((row["panel"], row["label"]), []).append(row)
    except FileNotFoundError:
        raise UserError(
            f"{figure} has no reference ({file} does not exist): run the figure, then"
            f" `python scripts/make_reference.py {figure}`"
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    return rows


def _series(
    spec: FigureSpec, panel: str, curve: Curve, rows: Sequence[dict[str, str]], scale: str
) -> Series:
    file = _file(spec.name, scale)
    numbers: dict[str, Any] = {
        name: _numbers(rows, name, file) for name in ("x", "runs", *STATISTICS)
    }
    runs = int(numbers.pop("runs")[0])
    fitted = slope(numbers["x"], numbers["centre"], curve) if spec.slopes else None
    return Series(**identity(panel, curve), runs=runs, slope=fitted, **numbers)


def _numbers(rows: Sequence[dict[str, str]], column: str, file: str) -> np.ndarray:
    try:
        return np.array([float(row[column]) for row in rows])
    except (TypeError, ValueError) as error:
        raise UserError(
            f"{file}: column {column} has a value that is not a number: {error}"
        ) from None
