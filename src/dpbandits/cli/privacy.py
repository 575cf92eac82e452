"""`dpbandits audit` and `dpbandits privacy`: what is typed, and the results for the terminal."""

import math
import shlex
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from dpbandits.api.games import player
from dpbandits.api.privacy import AuditResult, run_audit
from dpbandits.core import registry
from dpbandits.core.errors import UserError, shown
from dpbandits.privacy.table import Row, rows
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.progress import duration

WIDTH = 100  # columns if the output is no terminal


def value_of(text: str) -> str | bool | int | float:
    """Return the number, the truth value or else the text that a word stands for.

    Numbers may have underscores: 1_000_000. Nothing is checked.
    """
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text.replace("_", ""))
        except ValueError:
            continue
    return text


def parameters_of(words: Sequence[str]) -> dict[str, Any]:
    """Return the values of words `name=value`. Raises UserError for any other or a repeated one."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UserError(f"parameters are written as name=value, got {shown(word)}")
        if name in values:
            raise UserError(f"{name} is set twice")
        values[name] = value_of(value)
    return values


def audit(
    algorithm: str, parameters: Sequence[str], epsilon: str, **options: str | None
) -> ExitStatus:
    """Audit an algorithm and print the result; return ALARM if a promise is refuted.

    `options` are those of `run_audit`, as typed. Raises UserError for an invalid argument.
    """
    given = parameters_of(parameters)
    if "epsilon" in given:
        raise UserError("the privacy budget is set by --epsilon, not by 'epsilon=...'")
    member = player(algorithm, {}).algorithm
    if "epsilon" in registry.algorithm(member).Params._fields:
        given = {"epsilon": value_of(epsilon), **given}
    asked: dict[str, Any] = {
        key: value_of(text) for key, text in options.items() if text is not None
    }
    start = time.monotonic()
    found = run_audit(algorithm, **asked, **given)
    for line in lines(found):
        print(line)
    took = duration(time.monotonic() - start)
    print(f"  {asked['plays']:,} games in {took}, seed {asked['seed']}")
    exceeded = []
    if found.refutes_claim:
        exceeded.append("the budget that its paper claims")
    if found.refutes_releases:
        exceeded.append("the budget of its declared releases")
    if not exceeded:
        return ExitStatus.DONE
    sys.stdout.flush()
    print(f"dpbandits: {algorithm} exceeds {' and '.join(exceeded)}", file=sys.stderr)
    return ExitStatus.ALARM


def lines(found: AuditResult) -> Iterator[str]:
    """Yield the lines of the result for the terminal."""
    settings = shlex.join(f"{name}={value}" for name, value in found.parameters.items())
    claim = found.findings[0].claim
    yield f"{found.algorithm} {settings}"
    yield f"  claimed: {_budget(claim.epsilon, claim.delta)}, {claim.notion.title}, {claim.where}"
    for finding in found.findings:
        loss, delta = finding.loss, finding.claim.delta
        observed = "one choice" if finding.one_choice else "all arms"
        if not finding.cells:
            yield f"  {observed}: no difference was seen; with few games an audit has little power"
            continue
        yield f"  {observed}, on tables of {finding.tables}"
        if not finding.one_choice:
            declared = _budget(*finding.declared[:2])
            yield f"    declared: {declared} by its releases in such a game"
        bounds = [f"epsilon >= {finding.pure_epsilon:.4g}"]
        if delta:
            bounds.append(f"epsilon >= {finding.epsilon:.4g} at delta = {delta:g}")
        if finding.delta:
            bounds.append(f"delta >= {finding.delta:.3g} at epsilon = {finding.claim.epsilon:g}")
        likely = loss.likely_epsilon(0.0)
        yield (
            f"    audited: {'; '.join(bounds)}; with 99 % confidence; observed frequencies:"
            f" epsilon = {likely:.4g}"
        )
        yield (
            f"    event: {finding.cells} values of {finding.feature}; {loss.more:,} and"
            f" {loss.fewer:,} of {loss.games:,} games"
        )


def show(
    names: Sequence[str], *, epsilon: Any, rho: Any, horizon: Any, arms: Any, delta: Any
) -> int:
    """Print the table, the definitions of the notions and reasons why numbers differ; return 0."""
    table_rows = rows(names, epsilon, horizon, arms, delta, rho)
    given = {"epsilon": epsilon, "rho": rho}
    asked = {"epsilon", *(row.claim.notion.budget for row in table_rows)}
    budgets = ", ".join(f"{name} = {value:g}" for name, value in given.items() if name in asked)
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
        if remark := notion.remark:
            lines += dict.fromkeys(
                f"  {row.label}: {remark(row.spent, row.stated.delta, row.composed)}"
                for row in of_notion
            )
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
    unit = f"{row.claim.notion.budget} = " if row.claim.notion.conversion else ""
    return f"{unit}{_number(row.claim.budget)}", f"{unit}{_number(row.spent)}"


def _number(value: float) -> str:
    return "no bound" if math.isinf(value) else f"{value:.4g}"


def _budget(epsilon: float, delta: float) -> str:
    if math.isinf(epsilon):
        return "no bound"
    return f"epsilon = {epsilon:.4g}" + (f", delta = {delta:g}" if delta else "")
