"""`dpbandits compare` of algorithms that identify the best arm: medians, and shares of the runs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from rich.table import Table

from dpbandits.api.identifications import IdentifyResult
from dpbandits.api.plays import privacy_of
from dpbandits.api.standings import NONE, literal
from dpbandits.checks.comparisons import with_error
from dpbandits.cli.process import console
from dpbandits.drawing.styles import in_mathtext
from dpbandits.tables.series import written

COLUMNS = (
    "Columns: median of the pulls until the answer, with quartiles; mean with its standard error,"
    " if every run has answered; undecided and wrong: shares of all runs, with 95 % intervals"
    " (Clopper and Pearson); claimed and composed: epsilon that the paper claims, and that the"
    " releases compose to."
)
WRAPPED = "quartiles", "undecided", "wrong"  # columns that may have two lines on a terminal
HEAD = "median", "quartiles", "mean", "undecided", "wrong", "claimed", "composed"
CSV = (
    *("epsilon", "privacy", "algorithm", "median", "lower quartile", "upper quartile"),
    *("mean", "mean ± (standard error)", "undecided", "wrong", "claimed epsilon"),
    "composed epsilon",
)


class Row(NamedTuple):
    """Result of an algorithm at one epsilon, with its definition of privacy."""

    epsilon: float
    privacy: str
    result: IdentifyResult

    def mean(self) -> tuple[float, float]:
        """Return the mean and its standard error; nan if a run is undecided."""
        rounds = self.result.rounds
        if self.result.undecided.count:
            return math.nan, math.nan
        error = rounds.std(ddof=1) / math.sqrt(len(rounds)) if len(rounds) > 1 else math.nan
        return float(rounds.mean()), float(error)

    def cells(self) -> list[str]:
        """Return the texts of HEAD."""
        result, (mean, error) = self.result, self.mean()
        lower, median, upper = (result.in_words(q) for q in result.quantiles())
        cells = [median, f"{lower} to {upper}", "" if math.isnan(mean) else with_error(mean, error)]
        return [*cells, str(result.undecided), str(result.wrong), *self.budgets("no bound")]

    def budgets(self, infinite: str) -> tuple[str, str]:
        """Return the claimed and the composed epsilon, or empty texts."""
        if not (spent := self.result.budget):
            return "", ""
        claimed, composed = f"{spent.claimed:.4g}", f"{spent.composed:.4g}"
        return claimed, composed.replace("inf", infinite)


class Identifications:
    """Results of a comparison in the order of their epsilons, the lowest median first."""

    def __init__(self, title: str, results: Iterable[tuple[float, IdentifyResult]]) -> None:
        rows = (Row(x, privacy_of(r.parameters, r.budget), r) for x, r in results)
        self.title = title
        self.rows = sorted(rows, key=lambda row: (row.epsilon, row.privacy, row.result.median))

    def _blocks(self) -> Iterator[tuple[tuple[float, str], list[Row]]]:
        blocks = groupby(self.rows, lambda row: row[:2])
        return ((key, [*block]) for key, block in blocks)

    def verdict(self, epsilon: float) -> str:
        """Return sentences on the lowest medians at one epsilon, by definition of privacy."""
        blocks = [rows for (of, _), rows in self._blocks() if of == epsilon]
        several = [rows for rows in blocks if len(rows) > 1] or blocks
        under = (f"{rows[0].privacy[:1].upper()}{rows[0].privacy[1:]}: " for rows in several)
        sentences = [_lowest(rows) for rows in several]
        if len(blocks) > 1:
            sentences = [f"{head}{text}" for head, text in zip(under, sentences, strict=True)]
        return " ".join(sentences)

    def show(self) -> None:
        """Print a table and a verdict for every epsilon."""
        terminal, first = console(), self.rows[0].result
        runs, limit = f"{len(first.rounds):,} runs", f"limit = {first.limit:,}"
        for epsilon, panel in groupby(self.rows, lambda row: row.epsilon):
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
            table.add_column("", min_width=max(len(row.result.label) + 2 for row in self.rows))
            for column in HEAD:
                table.add_column(column, justify="right", no_wrap=column not in WRAPPED)
            for privacy, rows in groupby(panel, lambda row: row.privacy):
                table.add_row(privacy)
                for row in rows:
                    table.add_row(f"  {row.result.label}", *row.cells())
            title = f"\n{self.title}, epsilon = {epsilon:g}, {limit}, {runs}"
            terminal.print(title, soft_wrap=True)
            terminal.print(table)
            terminal.print(self.verdict(epsilon))
        terminal.print(f"\n{COLUMNS}")

    def csv(self) -> bytes:
        """Return a row for every algorithm and epsilon."""
        lines = []
        for row in self.rows:
            result, (lower, median, upper) = row.result, row.result.quantiles()
            numbers = [median, lower, upper, *row.mean(), result.undecided, result.wrong]
            texts = ("" if math.isnan(number) else repr(float(number)) for number in numbers)
            head = f"{row.epsilon:g}", row.privacy, result.label
            lines.append((*head, *texts, *row.budgets("inf")))
        return written(CSV, lines)

    def latex(self) -> str:
        """Return a table with the rules of booktabs, a block for every epsilon and privacy."""
        heads = " & ".join(["Algorithm", *(f"{head[:1].upper()}{head[1:]}" for head in HEAD)])
        lines = [f"% dpbandits, {self.title}; needs \\usepackage{{booktabs}}"]
        lines += [rf"\begin{{tabular}}{{l{'r' * len(HEAD)}}}", r"\toprule", rf"{heads} \\"]
        for (epsilon, privacy), rows in self._blocks():
            title = literal(f"{privacy[:1].upper()}{privacy[1:]}, $\\epsilon = {epsilon:g}$")
            lines += [r"\midrule", rf"\multicolumn{{{len(HEAD) + 1}}}{{l}}{{\emph{{{title}}}}} \\"]
            for row in rows:
                cells = [literal(cell).replace("≥", r"$\geq$") for cell in row.cells()]
                label = literal(in_mathtext(row.result.label))
                lines.append(" & ".join([label, *(cell or NONE for cell in cells)]) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _lowest(rows: Sequence[Row]) -> str:
    # Intervals of 95 % of the medians tell two algorithms apart if they have no common value.
    best, *rest = (row.result for row in rows)
    if 2 * best.undecided.count >= best.undecided.runs:
        return f"Half of the runs or more are undecided, also of {best.label}: no median is known."
    if not rest:
        return f"{best.label} has a median stopping time of {best.in_words(best.median)}."
    lowest = f"{best.label} has the lowest median of the {len(rows)} algorithms"
    end = best.interval()[1]
    if math.isnan(end):
        return f"{lowest}, but {len(best.rounds)} runs are too few to decide."
    if near := ", ".join(other.label for other in rest if other.interval()[0] <= end):
        return f"{lowest}, but its 95 % interval meets that of {near}."
    return f"{lowest}; its 95 % interval is below the others."
