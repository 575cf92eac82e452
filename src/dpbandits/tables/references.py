"""Committed references: figures/reference/<figure>.csv, with a record of their origin beside it.

A row has the columns of a figure's table, except the number of runs, which the record has for each
curve. The column `profile` is there if the figure has a second reference, at the scale of the
profile `ci`; it is empty at the papers' scale. Numbers have eleven digits. A number is left empty
if it follows from those before it (`_expected`), and a column without numbers is left out.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpbandits.core.errors import UserError, nearest
from dpbandits.files import project
from dpbandits.files.atomic import REFERENCE_SCHEMA
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import committed
from dpbandits.tables.series import STATISTICS, Series, identity, short, slope, written

PAPER, CI = "paper", "ci"  # profiles
COLUMNS = ("profile", "panel", "label", "x", *STATISTICS)
Found = dict[tuple[str, str], Series]  # by panel and label
Record = dict[str, Any]


def file(figure: str) -> str:
    """Return the path of a figure's table, below the project."""
    return f"figures/reference/{figure}.csv"


def record(figure: str, profile: str) -> Record | None:
    """Return the record of a reference: command, provenance, runs and basis; None without one."""
    _, profiles = _read(figure)
    return profiles.get(profile)


def find(spec: FigureSpec, profile: str) -> Found:
    """Return the reference curves that exist for a figure, by panel and label.

    Raises UserError if there are none, or if the table was changed or cannot be read.
    """
    table, profiles = _read(spec.name)
    if profile not in profiles:
        raise UserError(
            f"{spec.name} has no reference of the profile {profile} ({file(spec.name)}): run the"
            f" figure, then `python scripts/make_reference.py {spec.name}`"
        )
    rows: dict[tuple[str, str], list[committed.Row]] = {}
    for row in table:
        if _profile(row) == profile:
            rows.setdefault((row["panel"], row["label"]), []).append(row)
    found: Found = {}
    for panel in spec.panels:
        for curve in panel.curves:
            if place := rows.get((panel.letter, curve.label)):
                x = np.array([float(row["x"]) for row in place])
                runs = profiles[profile]["runs"][panel.letter][curve.label]
                numbers: dict[str, Any] = {}
                for name in STATISTICS:
                    texts = [row.get(name, "") for row in place]
                    expected = np.broadcast_to(_expected(name, numbers, spec, runs), x.shape)
                    pairs = zip(texts, expected, strict=True)
                    numbers[name] = np.array([float(text or other) for text, other in pairs])
                fitted = slope(x, numbers["centre"], curve) if spec.slopes else None
                found[panel.letter, curve.label] = Series(
                    **identity(panel.letter, curve), runs=runs, slope=fitted, x=x, **numbers
                )
    return found


def read(spec: FigureSpec, profile: str) -> list[Series]:
    """Return the reference of every curve of the figure, in its order.

    Raises UserError if one is missing, and as `find` does.
    """
    found = find(spec, profile)
    for panel in spec.panels:
        for curve in panel.curves:
            if (panel.letter, curve.label) not in found:
                there = _read(spec.name)[1][profile]["runs"].get(panel.letter, ())
                raise UserError(
                    f"{file(spec.name)} has no curve '{curve.label}' in panel {panel.letter};"
                    f" {nearest(curve.label, there)}: regenerate it with"
                    f" `python scripts/make_reference.py {spec.name}`"
                )
    return list(found.values())


def stale(spec: FigureSpec, profile: str) -> str:
    """Return what has changed since a reference was made; '' if nothing.

    `spec` is the figure from which a new reference would be made.
    """
    known = record(spec.name, profile)
    if known is None or known["runs"] != _runs(spec):
        return "the curves and their numbers of runs"
    return committed.changed(known["basis"], _basis(spec))


def write(spec: FigureSpec, profile: str, series: Sequence[Series], origin: Record) -> None:
    """Write the reference of a figure, in place of an earlier one of the same profile."""
    table, profiles = _read(spec.name)
    rows: list[committed.Row] = []
    for curve in series:
        numbers: dict[str, np.ndarray] = {}
        columns = {"x": [str(short(x)) for x in curve.x]}
        noise = 1e-13 * np.nan_to_num(np.maximum(-curve.min, curve.max), posinf=0.0)
        for name in STATISTICS:
            exact, expected = getattr(curve, name), _expected(name, numbers, spec, curve.runs)
            follows = np.isclose(expected, exact, 6e-11, noise, equal_nan=True)
            texts = [f"{number:.11g}" for number in exact]
            pairs = zip(follows, texts, strict=True)
            columns[name] = ["" if is_known else text for is_known, text in pairs]
            numbers[name] = np.where(follows, expected, np.array(texts, float))
        place = {"panel": curve.panel, "label": curve.label}
        place["profile"] = "" if profile == PAPER else profile
        cells = zip(*columns.values(), strict=True)
        rows += [{**place, **dict(zip(columns, texts, strict=True))} for texts in cells]
    kept = [row for row in table if _profile(row) != profile]
    rows = rows + kept if profile == PAPER else kept + rows
    header = [name for name in COLUMNS if any(row.get(name) for row in rows)]
    profiles[profile] = {**origin, "runs": _runs(spec), "basis": _basis(spec)}
    committed.write(
        project.home("figure", spec.name) / file(spec.name),
        written(header, ([row.get(name, "") for name in header] for row in rows)),
        {"schema": REFERENCE_SCHEMA, "figure": spec.name, "profiles": profiles},
    )


def _read(figure: str) -> tuple[list[committed.Row], dict[str, Record]]:
    # Rows of all profiles, and the record of each profile; both are empty without a reference.
    path = project.home("figure", figure) / file(figure)
    found = committed.read(path, f"`python scripts/make_reference.py {figure}` writes it")
    return (found[0], found[1]["profiles"]) if found else ([], {})


def _profile(row: committed.Row) -> str:
    return row.get("profile") or PAPER


def _expected(
    name: str, numbers: Mapping[str, np.ndarray], spec: FigureSpec, runs: int
) -> np.ndarray | float:
    # A statistic as it follows from those before it: all runs agree, and bands are as wide as the
    # standard deviation or error. float64 of shape (x,) or a number.
    if name == "mean":
        return np.nan
    if name == "std":
        return 0.0
    if name in ("median", "min", "max"):
        return numbers["mean"]
    if name == "centre":
        return numbers["median" if spec.centre == "median" else "mean"]
    error = numbers["std"] / math.sqrt(max(1, runs))
    half = {"std": numbers["std"], "standard-error": error}.get(spec.spread, 0.0)
    return numbers["centre"] - half if name == "low" else numbers["centre"] + half


def _runs(spec: FigureSpec) -> dict[str, dict[str, int]]:
    # Numbers of runs of the curves by panel and label, 0 for an exact curve.
    return {p.letter: {c.label: 0 if c.is_exact else c.runs for c in p.curves} for p in spec.panels}


def _basis(spec: FigureSpec) -> dict[str, str]:
    statistics = {"the statistics": f"{spec.centre}, {spec.spread}"}
    return statistics | committed.basis([spec], {cell.member for cell in spec.cells()})
