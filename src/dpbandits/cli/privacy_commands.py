"""`dpbandits audit` and `dpbandits privacy`: the results for the terminal."""

import math
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from rich.table import Table

from dpbandits.api.privacy_results import AuditResult, budget
from dpbandits.checks.comparisons import plural
from dpbandits.cli.process import console
from dpbandits.kernel.errors import UserError
from dpbandits.tables.privacy_table import rows

COLUMNS = (
    "claimed: the budget in the paper. composed: all releases that read the worst-case reward,"
    " composed as in the papers: by a sum or, at a delta, by the theorem of Dwork, Rothblum and"
    " Vadhan. smallest: the smallest epsilon that these releases imply, at this delta."
)


def audit_lines(audit: AuditResult) -> Iterator[str]:
    """Yield the lines that report an audit."""
    guarantee = audit.findings[0].guarantee
    yield shlex.join([audit.algorithm, *(f"{k}={value}" for k, value in audit.parameters.items())])
    claimed = _budget(guarantee.epsilon, guarantee.delta)
    yield f"  claimed: {claimed}, {guarantee.notion.title}, {guarantee.where}"
    for finding in audit.findings:
        loss, delta = finding.loss, finding.guarantee.delta
        observed = "one choice" if finding.one_choice else "all arms"
        if not finding.cells:
            yield f"  {observed}: no difference was seen; with few games an audit has little power"
            continue
        yield f"  {observed}, on tables of {finding.tables}"
        if not finding.one_choice:
            declared = _budget(*finding.declared[:2])
            yield f"    declared: {declared} by its releases in such a game"
        bounds = f"epsilon >= {loss.epsilon(0.0):.4g}"
        if delta:
            bounds += f"; epsilon >= {finding.epsilon:.4g} at delta = {delta:g}"
        if finding.delta:
            bounds += f"; delta >= {finding.delta:.3g} at epsilon = {finding.guarantee.epsilon:g}"
        likely = f"observed frequencies: epsilon = {loss.likely_epsilon:.4g}"
        yield f"    audited: {bounds}; with 99 % confidence; {likely}"
        games = f"{loss.more:,} and {loss.fewer:,} of {loss.games:,} games"
        yield f"    event: {plural(finding.cells, 'value')} of {finding.feature}; {games}"


def show(
    names: Sequence[str], *, epsilon: Any, rho: Any, horizon: Any, arms: Any, delta: Any
) -> None:
    """Print the table, the definitions of the notions and reasons why numbers differ."""
    table_rows = rows(names, epsilon, horizon, arms, delta, rho)
    given = {"epsilon": epsilon, "rho": rho}
    asked = {"epsilon", *(row.guarantee.notion.budget for row in table_rows)}
    budgets = ", ".join(f"{name} = {value:g}" for name, value in given.items() if name in asked)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "variant"):
        table.add_column(column, overflow="fold")
    for column in ("claimed", "composed", "smallest", "at delta"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in table_rows:
        unit = f"{row.guarantee.notion.budget} = " if row.guarantee.notion.conversion else ""
        claimed, composed, tight, at_delta = (
            "?" if number is None else "no bound" if math.isinf(number) else f"{number:.4g}"
            for number in (row.guarantee.budget, row.spent, row.tight, row.stated.delta)
        )
        table.add_row(row.label, row.variant, unit + claimed, unit + composed, tight, at_delta)
    terminal = console()
    terminal.print(f"Privacy at {budgets}, {int(horizon):,} rounds, {arms} arms")
    terminal.print(table)
    print()
    lines = [COLUMNS, ""]
    for notion in dict.fromkeys(row.guarantee.notion for row in table_rows):
        lines.append(f"{notion.title} ({'; '.join(notion.sources)}): {notion.definition}")
        of_notion = [row for row in table_rows if row.guarantee.notion is notion]
        lines += dict.fromkeys(f"  {row.label}: {row.guarantee.where}" for row in of_notion)
    differences: dict[str, list[str]] = {}
    for row in filter(attrgetter("why"), table_rows):
        label = f"{row.label} ({row.variant})" if row.variant else row.label
        differences.setdefault(row.why, []).append(label)
    if differences:
        lines += ["", "Claims that differ from the composed budget:"]
    for why, labels in differences.items():
        lines.append(f"  {', '.join(dict.fromkeys(labels))}: {why}.")
    if reasons := dict.fromkeys(row.untight for row in table_rows if row.untight):
        lines += ["", *(f"?: {reason}" for reason in reasons)]
    for line in lines:
        indent = "    " if line.startswith(" ") else ""
        print(textwrap.fill(line, terminal.width, subsequent_indent=indent))


def calibrated_lines(
    names: Sequence[str], target: Any, delta: Any, game: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a line for each algorithm: the budget and the noise that cost at most `target`."""
    if not names:
        raise UserError("privacy: name the algorithms whose noise a target decides")
    given = {} if delta is None else {"delta": delta}
    for name in names:
        result = budget(name, target=target, **game, **given)
        ((unit, value),) = result.parameters.items()
        line = f"{name}: {unit} = {value:.6g} for {_budget(float(target), result.delta)}"
        if result.noise is not None:
            line += f"; noise of scale {result.noise:.4g} times the sensitivity of a release"
        yield line


def _budget(epsilon: float, delta: float) -> str:
    stated = f"epsilon = {epsilon:.4g}" + (f", delta = {delta:g}" if delta else "")
    return "no bound" if math.isinf(epsilon) else stated
