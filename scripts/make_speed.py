"""Write the tables of docs/speed.md: `python scripts/make_speed.py out/bench/<revision>.json ...`.

The files are those that `make bench` writes. A table that is in none of them stays as it is. A file
that was measured with NUMBA_CPU_NAME is compared with that of the same revision without it.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

from marked_part import replaced

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
TABLES = {  # by the beginning of a group: the comment around its table
    "every figure": "figures",
    "one thread": "threads",
    "per round": "rounds",
    "exact schemes": "schemes",
    "two methods": "methods",
    "lanes": "lanes",
    "a run among many": "many",
    "whole runs": "whole",
}
FAST = ("scheme", "exact", "sixteen in step", "as in a figure")  # what vectors make fast


def targets(own: Mapping[str, Any], other: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the times of the exact schemes, as compiled for this and for another processor."""
    key = itemgetter("group", "name", "quantity")
    elsewhere = {key(m): m["value"] for m in other["measured"]}
    rows = []
    for m in own["measured"]:
        if m["quantity"] in FAST and key(m) in elsewhere:
            value = elsewhere[key(m)]
            rows += [
                m | {"quantity": "this processor"},
                m | {"quantity": other["target"], "value": value},
                m | {"quantity": "ratio", "value": value / m["value"], "unit": ""},
            ]
    return rows


def table(measured: Sequence[Mapping[str, Any]], heading: str) -> str:
    """Return a table with a row per name and a column per quantity, with its unit."""
    columns = {m["quantity"]: f"{m['quantity']}, {m['unit']}".rstrip(", ") for m in measured}
    rows: dict[str, dict[str, float]] = {}
    for m in measured:
        rows.setdefault(m["name"], {})[m["quantity"]] = m["value"]
    lines = [heading, "", f"| | {' | '.join(columns.values())} |", "|---|" + "---:|" * len(columns)]
    lines += [
        f"| {name} | {' | '.join(_number(row.get(quantity)) for quantity in columns)} |"
        for name, row in rows.items()
    ]
    return "\n".join(lines) + "\n"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def head(content: Mapping[str, Any]) -> str:
    """Return when, at which revision and on which machine a file was measured."""
    date = str(content["written"])[:10]
    return f"Measured {date} at revision {content['revision']}, on {content['processor']}."


def main(files: Sequence[str]) -> int:
    text = DOCUMENT.read_text("utf-8")
    contents = [json.loads(Path(file).read_text("utf-8")) for file in files]
    of_others = [content for content in contents if content.get("target")]
    of_host = [content for content in contents if content not in of_others]
    for content in of_host:
        for beginning, name in TABLES.items():
            measured = [m for m in content["measured"] if m["group"].startswith(beginning)]
            if measured:
                text = replaced(text, name, table(measured, head(content)))
    for own, other in product(of_host, of_others):
        rows = targets(own, other)
        if rows and own["revision"] == other["revision"]:
            text = replaced(text, "targets", table(rows, head(other)))
    DOCUMENT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
