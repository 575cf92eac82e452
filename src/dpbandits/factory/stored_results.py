"""Results of a figure without computation, from the cache or from the committed reference.

The cache is used if it has all runs; otherwise the reference, unless it is stale or the command
changes the figure. Without either, a result has no curves. An export is from the cache alone.
"""

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.drawing import plotting
from dpbandits.factory import captions, produce
from dpbandits.factory.statements import Statement
from dpbandits.files.atomic import EXPORT_SCHEMA, write_atomically
from dpbandits.files.provenance import provenance, revision, versions
from dpbandits.judge.about import About, about
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables import references
from dpbandits.tables.series import STATISTICS, Series, short, summarise, to_csv


class ResultKind(Enum):
    """Origin of curves."""

    CACHE = "cache"
    REFERENCE = "reference"
    EXACT = "exact"  # functions of theory/ alone, evaluated on demand


@dataclass(frozen=True)
class Source:
    """Provenance of the curves of a figure."""

    kind: ResultKind
    revisions: tuple[str, ...]  # one, unless the cache was filled at several
    dates: tuple[str, ...]  # first and last, or the only one; empty for exact curves
    seconds: float  # computing time, summed over all threads
    machines: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]  # libraries; several versions are joined by commas


@dataclass(frozen=True)
class Result:
    """A figure with its curves and the verdicts on its claims; no curves if `source` is None."""

    spec: FigureSpec
    settings: Settings
    series: tuple[Series, ...]
    claims: tuple[About, ...]
    source: Source | None
    noted: tuple[Statement, ...] = ()  # what is said of the runs, if the cache has them


def load(figure: str, overrides: Sequence[str] = ()) -> Result:
    """Load the curves of a figure without computing any runs.

    Raises UserError if the configuration or the reference is invalid.
    """
    spec, settings = compose.load(figure, overrides)
    noted = list[Statement]()
    store, experiments = Store(settings.cache), spec.experiments()
    if not any(
        store.missing(experiment, runs) for experiment, runs in spec.runs_of_experiments().items()
    ):
        series, kind = summarise(spec, store), ResultKind.CACHE if experiments else ResultKind.EXACT
        noted = captions.of_runs(spec, store)
        headers = [block.header for experiment in experiments for block in store.blocks(experiment)]
        seconds = sum((header["seconds"] for header in headers), 0.0)
        if not experiments:
            headers = [{"revision": revision(), "versions": versions()}]
    elif not spec.is_as_filed or references.stale(spec, references.PAPER):
        return Result(spec, settings, (), (), None)
    else:
        series, kind = references.read_series(spec, references.PAPER), ResultKind.REFERENCE
        headers = [references.record(figure, references.PAPER) or {}]
        seconds = headers[0]["seconds"]
    libraries: dict[str, list[str]] = {}
    for header in headers:
        for name, number in header.get("versions", {}).items():
            libraries.setdefault(name, []).append(number)
    dates = _distinct(header.get("written") for header in headers)
    source = Source(
        kind=kind,
        revisions=_distinct(header.get("revision") for header in headers),
        dates=(dates[0], dates[-1]) if len(dates) > 1 else dates,
        seconds=seconds,
        machines=_distinct(header.get("machine") for header in headers),
        versions=tuple((name, ", ".join(_distinct(all_))) for name, all_ in libraries.items()),
    )
    return Result(spec, settings, tuple(series), tuple(about(spec, store)), source, tuple(noted))


def _distinct(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(sorted({str(value) for value in values if value}))


def export(spec: FigureSpec, settings: Settings, kind: str, file: Path | None) -> int:
    """Write the curves as `csv`, `json` or `tikz` to a file, or to standard output.

    Raises UserError if runs are missing or the file cannot be written.
    """
    if file and not file.parent.is_dir():  # more often a typing error than intended
        raise UserError(f"cannot write {file}: there is no folder {file.parent}")
    content = exported(spec, settings, kind)
    if file:
        write_atomically(file, content, remedy="")
    else:
        sys.stdout.buffer.write(content)
    return 0


def exported(spec: FigureSpec, settings: Settings, kind: str) -> bytes:
    """Return the bytes that `export` writes; the same command and revision give the same bytes."""
    if kind == "csv":
        return to_csv(summarise(spec, produce.cached(spec, settings)))
    if kind == "json":
        return _as_json(spec, settings, summarise(spec, produce.cached(spec, settings)))
    # A mistake in the drawing is reported before the numbers are read.
    produce.refuse_undrawable(spec)
    draw = plotting.drawing_function(spec.paper, spec.draw)
    drawing = produce.drawing(spec, summarise(spec, produce.cached(spec, settings)))
    comments = [
        f"{spec.title} ({spec.paper}): {captions.statistics(spec)}.",
        *(f"Changed from the figure's file: {change.phrase()}." for change in spec.changes),
        f"{produce.command('export', spec, settings)} --format tikz",
        f"Revision {revision()}.",
    ]
    return plotting.to_tikz(draw, drawing, comments).encode()


def _as_json(spec: FigureSpec, settings: Settings, series: Iterable[Series]) -> bytes:
    remaining = iter(series)  # in the order of panels and curves
    panels = []
    for panel in spec.panels:
        curves = []
        for curve, numbers in zip(panel.curves, remaining, strict=False):
            described: dict[str, Any] = {
                "label": curve.label,
                "algorithm": curve.sources[0].member if curve.played else None,
                "sources": produce.sources(curve),
                "runs": numbers.runs,
                "x": [short(x) for x in numbers.x],
            }
            for name in STATISTICS:  # JSON has neither infinity nor NaN
                values = map(float, getattr(numbers, name))
                described[name] = [y if math.isfinite(y) else None for y in values]
            if numbers.published:
                described["published"] = [list(point) for point in numbers.published]
            curves.append(described)
        panels.append({"panel": panel.letter, "title": panel.title, "curves": curves})
    content = {
        "schema": EXPORT_SCHEMA,
        "figure": spec.name,
        "title": spec.title,
        "paper": spec.paper,
        "command": produce.command("run", spec, settings),
        "centre": spec.centre,
        "spread": spec.spread,
        **({"level": spec.level} if spec.level else {}),
        "seed": spec.seed,
        "changed_from_its_file": [
            {"key": c.key, "value": c.value, "file": c.before} for c in spec.changes
        ],
        # Without the time of writing, which is no property of the numbers.
        "provenance": {k: v for k, v in provenance().items() if k != "written"},
        "panels": panels,
    }
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
