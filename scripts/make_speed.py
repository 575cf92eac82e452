"""Write the tables of docs/speed.md: `python scripts/make_speed.py out/bench/<revision>.json ...`.

The files are those that `make bench` writes. A table that is in none of them stays as it is.
"""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from marked_part import replaced

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
Measurements = Sequence[Mapping[str, Any]]
PARTS = ("start-up", "compile", "play", "draw")


def figures(measured: Measurements) -> list[str]:
    """Return the figures by the time that they take, and the parts of the time of all of them."""
    rows = by_name(measured)
    total = rows.pop("all of them")
    shares = ", ".join(f"{part} {total[part]:.0f} %" for part in PARTS)
    return [
        "|seconds |figures|",
        "|---|---|",
        *(
            f"|{span} |{len(names) if span.startswith('below') else ', '.join(names)}|"
            for span, names in grouped({name: row["cold"] for name, row in rows.items()}, 20, 60)
        ),
        "",
        f"Together: {total['cold']:,.0f} s ({shares}); again: {total['again']:.0f} s.",
    ]


def threads(measured: Measurements) -> list[str]:
    """Return the algorithms by the time of a run, with the speed-up from a second thread."""
    rows = by_name(measured)
    lines = ["|milliseconds |algorithms |speed-up|", "|---|---|---|"]
    for span, names in grouped({name: row["a run"] for name, row in rows.items()}, 0.1, 1, 10):
        gains = [rows[name]["speed-up"] for name in names]
        lines.append(f"|{span} |{', '.join(names)} |{min(gains):.1f}–{max(gains):.1f}|")
    return lines


TABLES = {"every figure": ("figures", figures), "one thread": ("threads", threads)}  # by group


def by_name(measured: Measurements) -> dict[str, dict[str, float]]:
    """Return the quantities that were measured under every name."""
    rows: dict[str, dict[str, float]] = {}
    for m in measured:
        rows.setdefault(m["name"], {})[m["quantity"]] = m["value"]
    return rows


def grouped(values: Mapping[str, float], *limits: float) -> Iterator[tuple[str, list[str]]]:
    """Yield ranges of values in words, each with the names whose value it has; none is empty."""
    for low, high in pairwise((0, *limits, math.inf)):
        names = [name for name, value in values.items() if low <= value < high]
        span = f"{low:g} to {high:g}" if low else f"below {high:g}"
        if names:
            yield f"{low:g} or more" if math.isinf(high) else span, names


def head(content: Mapping[str, Any]) -> str:
    """Return when, at which revision and on which machine a file was measured."""
    date = str(content["written"])[:10]
    return f"Measured {date} at revision {content['revision']}, on {content['processor']}."


def main(files: Sequence[str]) -> int:
    text = DOCUMENT.read_text("utf-8")
    contents = [json.loads(Path(file).read_text("utf-8")) for file in files]
    for content in contents:
        for beginning, (name, lines) in TABLES.items():
            measured = [m for m in content["measured"] if m["group"].startswith(beginning)]
            if measured:
                part = "\n".join([head(content), "", *lines(measured)])
                text = replaced(text, name, f"{part}\n")
    DOCUMENT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
