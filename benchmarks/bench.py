"""`make bench`: measure kernels, threads and figures, print tables, write the numbers as JSON.

ARGS="--only threads" runs one part, ARGS="--only figures --figure horizons" one figure.

ARGS="--against out/bench/<revision>.json" compares with an earlier revision: below every number is
its ratio to the earlier one.
"""

import argparse
import json
import os
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import figure
import kernels
import threads
from kernels import Measured
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from dpbandits.files import project
from dpbandits.files.provenance import git_revision, provenance

PARTS = ("kernels", "threads", "figure", "figures")
OUT = Path(__file__).resolve().parents[1] / "out" / "bench"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="measure only this part")
    parser.add_argument(
        "--figure",
        action="append",
        default=[],
        metavar="NAME",
        help="measure only this figure; may be repeated",
    )
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare with an earlier JSON file"
    )
    parser.add_argument("overrides", nargs="*", help="overrides of the figures, such as profile=ci")
    arguments = parser.parse_args()
    if unknown := set(arguments.figure) - set(project.names("figure")):
        parser.error(f"unknown figure {', '.join(sorted(unknown))}")
    before = earlier(parser, arguments.against) if arguments.against else {}
    console = Console()
    measured: list[Measured] = []
    for part in parts(arguments.only, arguments.figure, arguments.overrides):
        measured.extend(part)
    for group in dict.fromkeys(m.group for m in measured):
        console.print(table([m for m in measured if m.group == group], before))
    file = OUT / f"{git_revision() or 'no-revision'}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {
        **provenance(),
        "processor": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
        "overrides": arguments.overrides,
        "measured": [m._asdict() for m in measured],
    }
    file.write_text(json.dumps(content, indent=1) + "\n")
    console.print(f"written to {file}", soft_wrap=True)


def parts(
    only: str | None, figures: list[str], overrides: list[str]
) -> Iterator[Iterable[Measured]]:
    wanted = PARTS if only is None else (only,)
    if "kernels" in wanted:
        yield kernels.measure()
    if "threads" in wanted:
        yield threads.measure()
    if "figure" in wanted:
        yield figure.measure(overrides)
    if "figures" in wanted:
        yield figure.measure_each(figures or project.names("figure"), overrides)


def earlier(parser: argparse.ArgumentParser, file: Path) -> dict[tuple[str, ...], float]:
    """Return the numbers of an earlier file by (group, name, quantity); exit if unreadable."""
    try:
        rows: list[dict[str, Any]] = json.loads(file.read_text())["measured"]
        return {(r["group"], r["name"], r["quantity"]): float(r["value"]) for r in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{file} is no file of `make bench`: {type(error).__name__}: {error}")


def table(measured: list[Measured], before: dict[tuple[str, ...], float]) -> Table:
    """Return a table with a row per name and a column per quantity, its unit in the head."""
    columns = {m.quantity: f"{m.quantity}\n{m.unit}" for m in measured}
    title = measured[0].group
    result = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    result.add_column(no_wrap=True)
    for head in columns.values():
        result.add_column(head, justify="right")
    for name in dict.fromkeys(m.name for m in measured):
        cells = {m.quantity: cell(m, before) for m in measured if m.name == name}
        result.add_row(name, *(cells.get(quantity, "") for quantity in columns))
    return result


def cell(m: Measured, before: dict[tuple[str, ...], float]) -> str:
    text = f"{m.value:.{2 if m.value < 10 else 1 if m.value < 100 else 0}f}"
    then = before.get((m.group, m.name, m.quantity))
    return f"{text}\nx{m.value / then:.2f}" if then else text


if __name__ == "__main__":
    main()
