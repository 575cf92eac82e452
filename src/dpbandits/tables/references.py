"""Committed results: a CSV table and, beside it, a JSON record of what the table rests on.

The basis of results are the descriptions of their experiments and the golden rows of the algorithms
in them. Results are stale when a part of their basis has changed; a refactoring that moves no bit
of golden rows makes none stale.

The reference of a figure, figures/reference/<figure>.csv, has the columns of the figure's table,
except the number of runs, which the record has for each curve. The column `profile` is there if the
figure has a second reference, at the scale of the profile `ci`; it is empty at the papers' scale.
Numbers have eleven digits. A number is left empty if it follows from those before it (`_expected`),
and a column without numbers is left out.
"""

import csv
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.files import project
from dpbandits.files.atomic import REFERENCE_SCHEMA, to_json, write_atomically
from dpbandits.kernel.errors import UserError, nearest
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables.series import STATISTICS, Series, identity, parsed, short, slope, written

GOLDEN = "tests/golden/rows.jsonl"  # in a checkout
PAPER, CI = "paper", "ci"  # profiles
COLUMNS = ("profile", "panel", "label", "x", *STATISTICS)
Row = dict[str, str]
Record = dict[str, Any]


def commit(file: Path, table: bytes, record: Mapping[str, Any]) -> None:
    """Write a table and, with its digest, the record beside it."""
    write_atomically(file, table)
    content = {**record, "sha256": hashlib.sha256(table).hexdigest()}
    write_atomically(file.with_suffix(".json"), to_json(content))


def committed(file: Path, remedy: str) -> tuple[list[Row], Record] | None:
    """Return the rows of a table and its record, not to be changed; None if there are none.

    Raises UserError, with the remedy, for a table that was changed or cannot be read.
    """
    try:
        stats = [path.stat() for path in (file, file.with_suffix(".json"))]
        return _committed(file, tuple((s.st_ino, s.st_size, s.st_mtime_ns) for s in stats))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, csv.Error) as error:
        raise UserError(f"{file} cannot be read: {error}; {remedy}") from None


@lru_cache(8)
def _committed(file: Path, state: object) -> tuple[list[Row], Record]:
    # The state of the files is part of the key, so that a table is read once until it changes.
    table, record = file.read_bytes(), json.loads(file.with_suffix(".json").read_bytes())
    if hashlib.sha256(table).hexdigest() != record["sha256"]:
        raise ValueError("it is not the recorded table")
    return parsed(table), record


def basis(specs: Iterable[FigureSpec], algorithms: Iterable[str]) -> dict[str, str]:
    """Return the digests of experiments and golden rows, by the names of these parts."""
    digests = {}
    for spec in specs:
        curves = ((p.letter, curve) for p in spec.panels for curve in p.curves)
        digests[f"the experiments of {spec.name}"] = digest(
            [
                [letter, curve.name, repr(curve.published), curve.shows.name]
                + [source.description() for source in (*curve.sources, *curve.against)]
                for letter, curve in curves
            ]
        )
    return digests | {f"the golden rows of {name}": _golden(name) for name in sorted(algorithms)}


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the first part of a basis that has changed; '' if none has.

    Golden rows are at hand in a checkout alone.
    """
    return next((part for part, d in now.items() if d and d != before.get(part)), "")


def digest(content: Any) -> str:
    """Return a digest of JSON values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _golden(algorithm: str) -> str:
    file = project.SHIPPED / GOLDEN
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    rows = [line for line in lines if line.startswith(f'{{"case": "{algorithm} on ')]
    return digest(rows) if rows else ""


def file(figure: str) -> str:
    """Return the path of a figure's table, below the project."""
    return f"figures/reference/{figure}.csv"


def record(figure: str, profile: str) -> Record | None:
    """Return the record of a reference: command, provenance, runs and basis; None without one."""
    _, profiles = _read_files(figure)
    return profiles.get(profile)


def read_series(spec: FigureSpec, profile: str, whole: bool = True) -> list[Series]:
    """Return the reference of every curve of a figure, in its order, or of those that have one.

    Raises UserError if there is none, if the table was changed or cannot be read, or if the
    reference of a curve is missing although the `whole` figure is asked for.
    """
    table, profiles = _read_files(spec.name)
    command = f"`dpbandits reference {spec.name}`"
    if profile not in profiles:
        raise UserError(
            f"{spec.name} has no reference of the profile {profile} ({file(spec.name)}):"
            f" {command} makes one"
        )
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in table:
        if (row.get("profile") or PAPER) == profile:
            rows.setdefault((row["panel"], row["label"]), []).append(row)
    series = []
    for letter, curve in ((panel.letter, curve) for panel in spec.panels for curve in panel.curves):
        runs_of = profiles[profile]["runs"].get(letter, {})
        if points := rows.get((letter, curve.label)):
            x, runs = np.array([float(row["x"]) for row in points]), runs_of[curve.label]
            numbers: dict[str, Any] = {}
            for name in STATISTICS:
                texts = [row.get(name, "") for row in points]
                expected = np.broadcast_to(_expected(name, numbers, spec, runs), x.shape)
                pairs = zip(texts, expected, strict=True)
                numbers[name] = np.array([float(text or other) for text, other in pairs])
            fitted = slope(x, numbers["centre"], curve) if spec.slopes else None
            fields = identity(letter, curve) | numbers
            series.append(Series(**fields, runs=runs, slope=fitted, x=x))
        elif whole:
            raise UserError(
                f"{file(spec.name)} has no curve '{curve.label}' in panel {letter};"
                f" {nearest(curve.label, runs_of)}: regenerate it with {command}"
            )
    return series


def stale(spec: FigureSpec, profile: str) -> str:
    """Return what has changed since a reference was made; '' if nothing.

    `spec` is the figure from which a new reference would be made.
    """
    recorded, now = record(spec.name, profile), _origin(spec)
    if recorded is None or recorded["runs"] != now["runs"]:
        return "the curves and their numbers of runs"
    return changed(recorded["basis"], now["basis"])


def write(spec: FigureSpec, profile: str, series: Sequence[Series], origin: Record) -> None:
    """Write the reference of a figure, in place of an earlier one of the same profile."""
    table, profiles = _read_files(spec.name)
    rows: list[Row] = []
    for curve in series:
        numbers: dict[str, np.ndarray] = {}
        columns = {"x": [str(short(x)) for x in curve.x]}
        noise = 1e-13 * np.nan_to_num(np.maximum(-curve.min, curve.max), posinf=0.0)
        for name in STATISTICS:
            exact, expected = getattr(curve, name), _expected(name, numbers, spec, curve.runs)
            follows = np.isclose(expected, exact, 6e-11, noise, equal_nan=True)
            texts = [f"{number:.{8 if name == 'std' else 11}g}" for number in exact]
            pairs = zip(follows, texts, strict=True)
            columns[name] = ["" if is_known else text for is_known, text in pairs]
            numbers[name] = np.where(follows, expected, np.array(texts, float))
            if name == "std":  # the ends of the band need not follow more closely
                noise = noise + 6e-8 * np.nan_to_num(numbers[name])
        key = {"panel": curve.panel, "label": curve.label}
        key["profile"] = "" if profile == PAPER else profile
        lines = zip(*columns.values(), strict=True)
        rows += [{**key, **dict(zip(columns, texts, strict=True))} for texts in lines]
    kept = [row for row in table if (row.get("profile") or PAPER) != profile]
    rows = rows + kept if profile == PAPER else kept + rows
    header = [name for name in COLUMNS if any(row.get(name) for row in rows)]
    profiles = {**profiles, profile: origin | _origin(spec)}
    commit(
        project.home("figure", spec.name) / file(spec.name),
        written(header, ([row.get(name, "") for name in header] for row in rows)),
        {"schema": REFERENCE_SCHEMA, "figure": spec.name, "profiles": profiles},
    )


def _read_files(figure: str) -> tuple[list[Row], dict[str, Record]]:
    # Rows of all profiles, and the record of each profile; both are empty without a reference.
    path = project.home("figure", figure) / file(figure)
    reference = committed(path, f"`dpbandits reference {figure}` writes it")
    return (reference[0], reference[1]["profiles"]) if reference else ([], {})


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


def _origin(spec: FigureSpec) -> Record:
    # The numbers of runs of the curves by panel and label, 0 for an exact curve, and the basis.
    runs = {p.letter: {c.label: 0 if c.is_exact else c.runs for c in p.curves} for p in spec.panels}
    algorithms = {experiment.member for experiment in spec.experiments()}
    spread = f"{spec.spread} {spec.level:g}" if spec.level else spec.spread
    statistics = {"the statistics": f"{spec.centre}, {spread}"}
    return {"runs": runs, "basis": statistics | basis([spec], algorithms)}
