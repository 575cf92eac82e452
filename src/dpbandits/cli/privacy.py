"""Table of `dpbandits privacy` for the terminal."""

import math
import sys
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dpbandits.privacy.concentrated import classical_epsilon
from dpbandits.privacy.notions import ConcentratedGuarantee
from dpbandits.privacy.table import Row, rows

WIDTH = 100  # columns if the output is no terminal


def show(
    names: Sequence[str],
    epsilon: float,
    horizon: int,
    arms: int,
    delta: float | None,
    rho: float = 1.0,
) -> int:
    """Print the table, the definitions of the notions and reasons why numbers differ; return 0."""
    table_rows = rows(names, epsilon, horizon, arms, delta, rho)
    budgets = f"epsilon = {epsilon:g}"
    if any(row.rho is not None for row in table_rows):
        budgets += f", rho = {rho:g}"
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "reading"):
        table.add_column(column, overflow="fold")
    for column in ("claimed", "composed", "tightly", "at delta"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in table_rows:
        table.add_row(
            row.label,
            row.reading,
            *_claimed_and_composed(row),
            "?" if row.tight is None else _number(row.tight),
            _number(row.stated.delta),
        )
    console.print(f"Privacy at {budgets}, {int(horizon):,} rounds, {arms} arms")
    console.print(table)
    print()
    for line in notes(table_rows):
        indent = "    " if line.startswith(" ") else ""
        print(textwrap.fill(line, console.width, subsequent_indent=indent))
    return 0


def notes(table_rows: Sequence[Row]) -> list[str]:
    """Return the notes below the table, one paragraph each."""
    lines = [
        "claimed: the budget in the paper. composed: all releases that read the worst-case reward,"
        " composed as in the papers: by a sum or, at a delta, by the theorem of Dwork, Rothblum and"
        " Vadhan. tightly: the smallest epsilon that follows from the same releases at this delta.",
        "",
    ]
    for notion in dict.fromkeys(row.claim.notion for row in table_rows):
        lines.append(f"{notion.title} ({'; '.join(notion.sources)}): {notion.definition}")
        of_notion = [row for row in table_rows if row.claim.notion is notion]
        claims = dict.fromkeys((row.label, row.claim.where) for row in of_notion)
        lines += [f"  {label}: {where}" for label, where in claims]
        lines += list(dict.fromkeys(_stated(row) for row in of_notion if row.rho is not None))
    differences: dict[str, list[str]] = {}
    for row in table_rows:
        if row.why:
            named = f"{row.label} ({row.reading})" if row.reading else row.label
            differences.setdefault(row.why, []).append(named)
    if differences:
        lines += ["", "Claims that differ from the composed budget:"]
        lines += [
            f"  {', '.join(dict.fromkeys(labels))}: {why}." for why, labels in differences.items()
        ]
    if any(row.tight is None for row in table_rows):
        lines += [
            "",
            "?: dp-accounting is not installed: .venv/bin/python -m pip install -r"
            " requirements-accounting.lock",
        ]
    return lines


def _claimed_and_composed(row: Row) -> tuple[str, str]:
    if isinstance(row.claim, ConcentratedGuarantee):
        return f"rho = {_number(row.claim.rho)}", f"rho = {_number(row.rho or 0.0)}"
    return _number(row.claim.epsilon), _number(row.composed)


def _stated(row: Row) -> str:
    rho, delta = row.rho or 0.0, row.stated.delta
    return (
        f"  {row.label}: rho = {_number(rho)} implies, at delta = {delta:g}, epsilon ="
        f" {_number(classical_epsilon(rho, delta))} as rho + 2 sqrt(rho log(1/delta)) (Bun and"
        f" Steinke), {_number(row.composed)} by the best order alpha (Canonne, Kamath and"
        " Steinke); tightly: the exact curve of Gaussian noise (Balle and Wang)"
    )


def _number(value: float) -> str:
    return "no bound" if math.isinf(value) else f"{value:.4g}"
