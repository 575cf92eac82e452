"""Series of a figure, from blocks to tidy tables: one row per panel, curve and x."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import numpy as np

from dpbandits.experiments.kinds import Quantity
from dpbandits.spec.figure import AS_THE_ALGORITHM, Curve, FigureSpec, Points, StyleOverride
from dpbandits.store.blocks import ALL, Store
from dpbandits.tables import statistics


@dataclass(frozen=True)
class Series:
    """One curve of a panel, summarised over its runs; arrays are float64, one entry per x."""

    panel: str
    label: str
    legend: str
    style: str
    runs: int  # 0 for a bound or a budget
    slope: float | None  # of log centre against log x; None: not asked for, or no power law
    x: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    median: np.ndarray
    min: np.ndarray
    max: np.ndarray
    centre: np.ndarray  # drawn as the line
    low: np.ndarray  # lower end of the band or bars around it
    high: np.ndarray  # upper end
    shows: Quantity
    fit: tuple[float, float] | None = None  # range of x of the fitted slope; None: all x
    curve: str = ""  # key of the curve in the figure's file
    variant: str = ""
    look: StyleOverride = AS_THE_ALGORITHM
    over: str = "t"  # name of x: the round, or the swept parameter
    published: Points = ()  # of the paper's own picture

    @property
    def artist_id(self) -> str:
        """Id that the line of this curve carries in a picture (matplotlib's gid, id in SVG)."""
        return f"curve-{self.panel}-{quote(self.label, safe='').replace('%', '.')}"


PLACE = ("panel", "label", "x", "runs")
MISSES = 2.0  # factor by which the fit of a power law may miss a point
AT_ONCE = 2**25  # values, over all runs, that are held in memory at a time
FORMULA = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)  # a lone sign is none
STATISTICS = ("mean", "std", "median", "min", "max", "centre", "low", "high")


def summarise(spec: FigureSpec, store: Store) -> list[Series]:
    """Return every curve of the figure from the store. Raises KeyError if a run is missing."""
    series = []
    for panel in spec.panels:
        for curve in panel.curves:
            x = x_values(curve)
            width = max(1, AT_ONCE // curve.runs)
            asked = spec.centre, spec.spread
            if (curve.shows.is_share or curve.shows.by_mean) and spec.centre != "mean":
                asked = "mean", "none"
            parts = []
            for first in range(0, len(x), width):
                runs = values(curve, store, slice(first, first + width))
                centre, low, high = statistics.band(runs, *asked, spec.level)
                mean, std = runs.mean(0), statistics.standard_deviation(runs)
                median, least, most = np.median(runs, 0), runs.min(0), runs.max(0)
                parts.append((mean, std, median, least, most, centre, low, high))
            columns = map(np.concatenate, zip(*parts, strict=True))
            numbers: dict[str, Any] = dict(zip(STATISTICS, columns, strict=True))
            series.append(
                Series(
                    **identity(panel.letter, curve),
                    runs=0 if curve.is_exact else curve.runs,
                    slope=slope(x, numbers["centre"], curve) if spec.slopes else None,
                    x=x,
                    **numbers,
                )
            )
    return series


def to_csv(series: list[Series]) -> bytes:
    """Return the table of a figure as CSV.

    Numbers have the shortest form that reads back to the same bits.
    """
    return written((*PLACE, *STATISTICS), rows(series))


def written(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """Return a table as CSV in UTF-8.

    A text that a spreadsheet would execute gets an apostrophe, which `parsed` takes away.
    """
    lines = list[str]()
    # A writer of lines that end in CR LF also puts texts with a CR into quotes.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    for row in (header, *rows):
        writer.writerow([f"'{cell}" if _is_formula(cell) else cell for cell in row])
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines).encode()


def parsed(table: bytes) -> list[dict[str, str]]:
    """Return the rows of a table that `written` made, as texts by column."""
    rows = csv.reader(io.StringIO(table.decode(), newline=""))
    header, *lines = [[c[1:] if c[:1] == "'" and _is_formula(c) else c for c in r] for r in rows]
    return [dict(zip(header, line, strict=True)) for line in lines]


def _is_formula(cell: Any) -> bool:
    # Apostrophes before it are kept apart from the one that `written` adds.
    if not isinstance(cell, str) or not FORMULA.match(cell):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def rows(series: Iterable[Series]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for every point of every curve: the columns of PLACE, then of STATISTICS."""
    for s in series:
        for i, x in enumerate(s.x):
            numbers = (float(getattr(s, name)[i]) for name in STATISTICS)
            yield s.panel, s.label, short(x), s.runs, *map(repr, numbers)


def short(x: float) -> int | float:
    """Return an x as it is printed: a whole number without a point."""
    return int(x) if x == int(x) else float(x)


def identity(panel: str, curve: Curve) -> dict[str, Any]:
    """Return the fields of a Series that the specification of its curve fixes."""
    same = ("label", "legend", "style", "fit", "variant", "look", "over", "shows", "published")
    fields = {name: getattr(curve, name) for name in same}
    return {"panel": panel, "curve": curve.name, **fields}


def x_values(curve: Curve) -> np.ndarray:
    """Return the x of a curve: the swept values, or the recorded rounds; float64 of shape (x,)."""
    if curve.x is not None:
        return np.array(curve.x)
    return curve.sources[0].checkpoints().astype(float)


def values(curve: Curve, store: Store, part: slice = ALL) -> np.ndarray:
    """Return the values of a curve from the store, float64 of shape (runs, x); a bound has one row.

    `part` selects some of the x, for curves whose runs do not fit in memory together. Raises
    KeyError if a run is missing. A curve against a counterpart shows the extra regret of every run,
    or the price of privacy.
    """
    shows = curve.shows.of or curve.shows.name
    if not curve.against:
        over_time = curve.x is None
        sources, rounds = (curve.sources, part) if over_time else (curve.sources[part], None)
        columns = [s.observe(shows, partial(store.load, s, curve.runs), rounds) for s in sources]
        return columns[0] if over_time else np.column_stack(columns)
    alone = replace(curve, against=())
    other = values(replace(alone, sources=curve.against), store, part)
    extra = values(alone, store, part) - other
    if curve.shows.pair == "difference":
        return extra
    # The quotient r = (mean - mean of the counterpart)/mean of the counterpart, plus the
    # first-order effect of each run on it, so that the mean over runs is r and their spread gives
    # its standard error. It is 0 where the counterpart has no regret.
    mean = other.mean(axis=0)
    safe = np.where(mean > 0.0, mean, 1.0)
    price = np.where(mean > 0.0, extra.mean(axis=0) / safe, 0.0)
    return price + np.where(mean > 0.0, (extra - price * other) / safe, 0.0)


def slope(x: np.ndarray, y: np.ndarray, curve: Curve) -> float | None:
    """Return the fitted log-log slope of a curve over a parameter, within the range `curve.fit`.

    `x`, `y`: float64 of shape (x,). None if the fit misses a point by a factor of more than MISSES,
    as where a curve rises and then saturates, or if fewer than three x have positive points: any
    two lie on a power law.
    """
    low, high = curve.fit or (-np.inf, np.inf)
    fitted = (low <= x) & (x <= high) & (x > 0) & (y > 0)
    if np.unique(x[fitted]).size < 3:
        return None
    exponent, miss = statistics.power_law(x[fitted], y[fitted])
    return exponent if miss <= MISSES else None
