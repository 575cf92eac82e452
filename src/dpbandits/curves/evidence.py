"""Statistics with standard errors by which claims are judged, and their committed tables.

figures/reference/<figure>/evidence.csv has the statistics of the played curves, of more runs than
the picture shows (the profile `evidence`). Curves without runs are computed when they are needed.
"""

import csv
import hashlib
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpbandits.core.errors import UserError
from dpbandits.curves import published, references, statistics
from dpbandits.curves.evidence_records import digest_of_cells, read_record
from dpbandits.curves.series import over_parts, values, written, x_values
from dpbandits.spec.figure import Curve, FigureSpec, Quantity
from dpbandits.store.blocks import Store

# `rest` is the mean of what is still to come: the value at the last x minus that at this one, whose
# error is that of a difference within runs.
NAMES = ("mean", "median", "spread", "rest", "min", "max")
COLUMNS = (
    *("mean", "mean_error", "median", "median_error", "spread", "spread_error"),
    *("rest", "rest_error", "min", "max"),
)
PLACE = ("panel", "label", "x", "runs")
DIGITS = 8
ROUNDING = 1e-6  # relative; a smaller error of a median is 0
FEW = 0.1  # share of distinct values below which runs count as few distinct values


@dataclass(frozen=True)
class Evidence:
    """Statistics of the runs of a curve, with standard errors; arrays are float64 of shape (x,)."""

    runs: int  # 0 for a curve without runs
    x: np.ndarray
    statistics: Mapping[str, np.ndarray]  # by the names in NAMES
    errors: Mapping[str, np.ndarray]  # by the same names; inf: unknown
    place: float = math.nan  # of the paper's own curve among the runs; nan: no published points


OfFigure = dict[tuple[str, str], Evidence]  # by panel and label


def of_runs(spec: FigureSpec, drawn: FigureSpec, store: Store) -> OfFigure:
    """Return the evidence of all curves from the store; KeyError if a run is missing.

    `drawn` is the figure with the paper's numbers of runs, over which spreads are taken.
    """
    size = {(p.letter, c.label): c.runs for p in drawn.panels for c in p.curves}
    return {
        (panel.letter, curve.label): _of_curve(curve, store, size[panel.letter, curve.label])
        for panel in spec.panels
        for curve in panel.curves
    }


def read(spec: FigureSpec) -> OfFigure | None:
    """Return the committed evidence of a figure; None if there is none for its cells.

    Raises UserError for a table that was changed, or cannot be read.
    """
    if not spec.cells():
        return {(p.letter, c.label): _exact(c) for p in spec.panels for c in p.curves}
    table = references.folder(spec.name) / "evidence.csv"
    if not table.is_file():
        return None
    record, content = read_record(spec.name), table.read_bytes()
    if hashlib.sha256(content).hexdigest() != record.get("sha256"):
        raise UserError(
            f"figures/reference/{spec.name}/evidence.csv is not the recorded table;"
            f" `dpbandits report --gather {spec.name}` writes it"
        )
    if record.get("cells") != digest_of_cells(spec):
        return None
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(content.decode())):
        rows.setdefault((row["panel"], row["label"]), []).append(row)
    return {
        (panel.letter, curve.label): _exact(curve)
        if curve.is_exact
        else _read(rows[panel.letter, curve.label])
        for panel in spec.panels
        for curve in panel.curves
    }


def to_csv(evidence: OfFigure) -> bytes:
    """Return the table of the curves with runs, as CSV."""
    # A column that only figures with published points have.
    compared = any(not math.isnan(each.place) for each in evidence.values())
    return written(
        (*PLACE, *COLUMNS, *["place"] * compared),
        (
            (*place, f"{x:.12g}", each.runs, *_row(each, i), *[f"{each.place:.6g}"] * compared)
            for place, each in evidence.items()
            if each.runs
            for i, x in enumerate(each.x)
        ),
    )


def _row(each: Evidence, i: int) -> list[str]:
    numbers = []
    for column in COLUMNS:
        name, _, error = column.partition("_")
        numbers.append((each.errors if error else each.statistics)[name][i])
    return [f"{number:.{DIGITS}g}" for number in numbers]


def _read(rows: list[dict[str, str]]) -> Evidence:
    columns = {name: np.array([float(row[name]) for row in rows]) for name in ("x", *COLUMNS)}
    none = np.zeros(len(rows))
    return Evidence(
        int(rows[0]["runs"]),
        columns["x"],
        {name: columns[name] for name in NAMES},
        {name: columns.get(f"{name}_error", none) for name in NAMES},
        float(rows[0].get("place", math.nan)),
    )


def _of_curve(curve: Curve, store: Store, size: int) -> Evidence:
    if curve.is_exact:
        return _exact(curve)
    scale = 1.0 if curve.shows is Quantity.FAILURES else None
    last = values(curve, store, slice(-1, None))
    summed = over_parts(curve, store, lambda of_runs: _statistics(of_runs, last, size, scale))
    return Evidence(
        curve.runs,
        x_values(curve),
        {name: summed[name] for name in NAMES},
        {name: summed[f"{name}_error"] for name in NAMES},
        published.place(curve, x_values(curve), values(curve, store))
        if curve.published
        else math.nan,
    )


def _exact(curve: Curve) -> Evidence:
    x = x_values(curve)
    numbers = values(curve, Store(Path()))[0]  # read from no store
    none = np.zeros(len(x))
    return Evidence(
        0,
        x,
        {**dict.fromkeys(NAMES, numbers), "spread": none, "rest": numbers[-1] - numbers},
        dict.fromkeys(NAMES, none),
    )


def _statistics(
    of_runs: np.ndarray, last: np.ndarray, size: int, scale: float | None
) -> dict[str, np.ndarray]:
    # `of_runs` has shape (runs, x), `last` (runs, 1); every x is summarised by itself.
    spread, spread_error = _spread(of_runs, size)
    none = np.zeros(of_runs.shape[1])
    return {
        "mean": statistics.mean(of_runs),
        "mean_error": _error_of_mean(of_runs, scale),
        "median": statistics.median(of_runs),
        "median_error": _error_of_median(of_runs),
        "spread": spread,
        "spread_error": spread_error,
        "rest": statistics.mean(last - of_runs),
        "rest_error": statistics.standard_error(last - of_runs),
        "min": of_runs.min(axis=0),
        "min_error": none,
        "max": of_runs.max(axis=0),
        "max_error": none,
    }


def _error_of_mean(of_runs: np.ndarray, scale: float | None) -> np.ndarray:
    # Runs with few distinct values do not show values that are rare. Their error is at least that
    # of one further run that is `scale`, or the mean itself, away from the mean.
    error = statistics.standard_error(of_runs)
    runs = len(of_runs)
    if runs == 1:
        return np.full_like(error, np.inf)
    distinct = 1 + np.count_nonzero(np.diff(np.sort(of_runs, axis=0), axis=0), axis=0)
    away = np.abs(statistics.mean(of_runs)) if scale is None else scale
    return np.where(distinct <= FEW * runs, np.hypot(error, away / (runs + 1)), error)


def _error_of_median(of_runs: np.ndarray) -> np.ndarray:
    # The limit of a bootstrap's standard error; the rounding of equal runs is no error.
    from scipy.stats import mstats  # late: a command that judges no runs need not wait for it

    with np.errstate(invalid="ignore"):
        error = np.nan_to_num(np.asarray(mstats.mjci(of_runs, [0.5], axis=0))[0])
    return np.where(error > ROUNDING * np.abs(statistics.median(of_runs)), error, 0.0)


def _spread(of_runs: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    # Mean and standard error of the spread of `size` runs, over consecutive groups.
    size = min(size, len(of_runs))
    groups = len(of_runs) // size
    of_groups = of_runs[: groups * size].reshape(groups, size, -1)
    spreads = of_groups.max(axis=1) - of_groups.min(axis=1)
    if groups == 1:
        return spreads[0], np.full_like(spreads[0], np.inf)
    return statistics.mean(spreads), statistics.standard_error(spreads)
