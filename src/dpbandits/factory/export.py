"""Export of a figure's curves from the cache: as a table, JSON or TikZ."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.drawing import plotting
from dpbandits.factory import produce, sidecar
from dpbandits.factory.captions import statistics
from dpbandits.factory.drawable_texts import refuse_undrawable
from dpbandits.files.atomic import EXPORT_SCHEMA, write_atomically
from dpbandits.files.provenance import provenance, revision
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.tables.series import STATISTICS, Series, summarise, to_csv


def export(spec: FigureSpec, settings: Settings, kind: str, file: Path | None) -> int:
    """Write the curves as `csv`, `json` or `tikz` to a file, or to standard output.

    Raises UserError if runs are missing or the file cannot be written.
    """
    if file:
        _check_folder(file)
    content = exported(spec, settings, kind)
    if file:
        write_atomically(file, content, remedy="")
    else:
        sys.stdout.buffer.write(content)
    return 0


def exported(spec: FigureSpec, settings: Settings, kind: str) -> bytes:
    """Return the bytes that `export` writes; the same command and revision give the same bytes."""
    # Before the numbers are read, so that a mistake in the drawing is reported at once.
    draw = None
    if kind == "tikz":
        refuse_undrawable(spec)
        draw = plotting.drawing_function(spec.paper, spec.draw)
    series = summarise(spec, produce.cached(spec, settings))
    if draw:
        comments = [
            f"{spec.title} ({spec.paper}): {statistics(spec)}.",
            *(f"Changed from the figure's file: {change.words}." for change in spec.changes),
            f"{sidecar.command('export', spec, settings)} --format tikz",
            f"Revision {revision()}.",
        ]
        return plotting.to_tikz(draw, produce.drawing(spec, series), comments).encode()
    if kind == "csv":
        return to_csv(series)
    return _to_json(spec, settings, series)


def _to_json(spec: FigureSpec, settings: Settings, series: Sequence[Series]) -> bytes:
    curves = iter(series)  # in the order of panels and curves
    content = {
        "schema": EXPORT_SCHEMA,
        "figure": spec.name,
        "title": spec.title,
        "paper": spec.paper,
        "command": sidecar.command("run", spec, settings),
        "centre": spec.centre,
        "spread": spec.spread,
        "seed": spec.seed,
        "changed_from_its_file": sidecar.changed(spec),
        # Without the time of writing, which is no property of the numbers.
        "provenance": {k: v for k, v in provenance().items() if k != "written"},
        "panels": [
            {
                "panel": panel.letter,
                "title": panel.title,
                "curves": [_described(curve, next(curves)) for curve in panel.curves],
            }
            for panel in spec.panels
        ],
    }
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def _described(curve: Curve, series: Series) -> dict[str, Any]:
    return {
        "label": curve.label,
        "algorithm": curve.sources[0].member if curve.played else None,
        "sources": sidecar.sources(curve),
        "runs": series.runs,
        "x": [int(x) if x == int(x) else float(x) for x in series.x],
        **{name: [_finite(y) for y in getattr(series, name)] for name in STATISTICS},
        **({"published": [list(point) for point in series.published]} if series.published else {}),
    }


def _finite(value: float) -> float | None:
    # JSON has neither infinity nor NaN.
    return float(value) if math.isfinite(value) else None


def _check_folder(file: Path) -> None:
    # A missing folder is not created: it is more often a typing error than intended.
    try:
        if not file.parent.is_dir():
            raise UserError(f"cannot write {file}: there is no folder {file.parent}")
        if file.is_dir():
            raise UserError(f"cannot write {file}: it is a folder")
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error
