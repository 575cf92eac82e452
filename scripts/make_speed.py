"""Write the tables of docs/speed.md: `python scripts/make_speed.py out/bench/<revision>.json ...`.

The files are those that `make bench` writes. A table that is in none of them stays as it is.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from marked_part import replaced

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
TABLES = {  # by the beginning of a group: the comment around its table
    "every figure": "figures",
    "one thread": "threads",
    "a round": "rounds",
    "noise drawn ahead": "vectors",
}


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
    for content in contents:
        for beginning, name in TABLES.items():
            measured = [m for m in content["measured"] if m["group"].startswith(beginning)]
            if measured:
                text = replaced(text, name, table(measured, head(content)))
    DOCUMENT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
