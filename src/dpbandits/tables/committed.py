"""Committed results: a CSV table and, beside it, a JSON record of what the table rests on.

The basis of results are the descriptions of their experiments and the golden rows of the algorithms
in them. Results are stale when a part of their basis has changed; a refactoring that moves no bit
of golden rows makes none stale.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dpbandits.core.errors import UserError
from dpbandits.files import project
from dpbandits.files.atomic import to_json, write_atomically
from dpbandits.spec.figure import FigureSpec

GOLDEN = "tests/golden/rows.jsonl"  # in a checkout
Row = dict[str, str]


def write(file: Path, table: bytes, record: Mapping[str, Any]) -> None:
    """Write a table and, with its digest, the record beside it."""
    write_atomically(file, table)
    content = {**record, "sha256": hashlib.sha256(table).hexdigest()}
    write_atomically(file.with_suffix(".json"), to_json(content))


def read(file: Path, remedy: str) -> tuple[list[Row], dict[str, Any]] | None:
    """Return the rows of a table and its record; None if there are none.

    Raises UserError, with the remedy, for a table that was changed or cannot be read.
    """
    try:
        table, record = file.read_bytes(), json.loads(file.with_suffix(".json").read_bytes())
        if hashlib.sha256(table).hexdigest() != record["sha256"]:
            raise ValueError("it is not the recorded table")
        return list(csv.DictReader(io.StringIO(table.decode(), newline=""))), record
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise UserError(f"{file} cannot be read: {error}; {remedy}") from None


def basis(specs: Iterable[FigureSpec], algorithms: Iterable[str]) -> dict[str, str]:
    """Return the digests of experiments and golden rows, by the names of these parts."""
    return {
        **{f"the experiments of {s.name}": digest(_experiments(s)) for s in specs},
        **{f"the golden rows of {name}": _golden(name) for name in sorted(algorithms)},
    }


def changed(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the first part of a basis that has changed; '' if none has.

    Golden rows are at hand in a checkout alone.
    """
    return next((part for part, d in now.items() if d and d != before.get(part)), "")


def digest(content: Any) -> str:
    """Return a digest of JSON values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _experiments(spec: FigureSpec) -> list[Any]:
    return [
        [panel.letter, curve.name, repr(curve.published), curve.shows.value]
        + [source.description() for source in (*curve.sources, *curve.against)]
        for panel in spec.panels
        for curve in panel.curves
    ]


@cache
def _golden(algorithm: str) -> str:
    file = project.SHIPPED / GOLDEN
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    own = [line for line in lines if line.startswith(f'{{"case": "{algorithm} on ')]
    return digest(own) if own else ""
