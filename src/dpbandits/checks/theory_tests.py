"""Tests of claims that evaluate functions of theory/ or compose privacy budgets."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.budget import budget, given
from dpbandits.checks.comparisons import (
    ROUNDING,
    TINY,
    Compared,
    Silence,
    Verdict,
    plain,
    quotient,
    ratio,
)
from dpbandits.checks.findings import Finding, decisive
from dpbandits.checks.lines import Lines, each
from dpbandits.config import bound_arguments
from dpbandits.core import registry
from dpbandits.spec import claim_tests as tests
from dpbandits.spec.claim_tests import EVERY_X
from dpbandits.spec.figure import Bound


def bounded(test: tests.Bounded, lines: Lines) -> Iterator[Finding]:
    """Compare curves with a function of theory/ at their own parameters."""
    function = theory.function(test.function)
    for panel, line in each(lines, test.panels, test.of):
        compared, vacuous = list[Compared](), ""
        for i in line.points(test.at, EVERY_X):
            cell = line.curve.sources[0 if line.curve.x is None else i]
            assert isinstance(cell, Cell)
            arguments = bound_arguments.known(cell) | dict(test.arguments)
            if line.curve.x is None:
                arguments["horizon"] = int(line.all_x[i])
            bound = function(
                **{name: arguments[name] for name in bound_arguments.accepted(test.function)}
            )
            words = (
                f"({panel}) {line.text(i)} : bound {plain(bound)} = {ratio(line.mean(i), bound)}"
            )
            words += line.where(i, test.at)
            largest = largest_regret(cell, arguments["horizon"])
            if bound >= largest:
                vacuous = f"{words}; no regret exceeds {plain(largest)}"
                continue
            numbers, errors = (line.mean(i), bound), (line.error(i), 0.0)
            compared.append(quotient(test.limits, numbers, errors, words))
        if compared:
            yield decisive(compared, test.at)
        else:
            yield Finding(Verdict.NOT_TESTED, vacuous, silence=Silence.VACUOUS)


def largest_regret(cell: Cell, rounds: int) -> float:
    """Return the largest possible regret of a run, that of the worst arm in every round."""
    module = registry.environment(cell.environment)
    if hasattr(module, "table"):
        return float(module.largest_regret(cell.instance, rounds))
    return float(module.law(cell.instance).gaps.max()) * rounds


def within_budget(test: tests.WithinBudget, lines: Lines) -> Iterator[Finding]:
    """Compare the composed budgets of curves with the budgets that they were given."""
    # A composition above the budget is a gap in the proof, and no counterexample.
    for panel, line in each(lines, test.panels, test.of):
        findings = list[tuple[float, Finding]]()
        for i, source in enumerate(line.curve.sources):
            assert not isinstance(source, Bound)  # the reader rejects bounds and non-private curves
            granted, spent = given(source), budget(source) or 0.0
            to = (
                f"composes to {spent:.4g}" if math.isfinite(spent) else "the releases have no bound"
            )
            where = "" if line.curve.x is None else line.where(i)
            words = f"({panel}) {line.label}{where}: given {granted:.4g}, {to}"
            kept = spent <= granted * (1 + ROUNDING)
            finding = (
                Finding(Verdict.HOLDS, words)
                if kept
                else Finding(Verdict.NOT_TESTED, words, silence=Silence.NOT_SHOWN)
            )
            findings.append(((granted - spent) / max(granted, TINY), finding))
        yield min(findings, key=lambda pair: pair[0])[1]


def formula(test: tests.Formula, lines: Lines) -> Iterator[Finding]:
    """Compare two functions of theory/, or one with a number."""
    value = float(theory.function(test.function)(**dict(test.arguments)))
    words = f"{_call(test.function, test.arguments)} = {plain(value)}"
    to = 1.0
    if test.to:
        to = float(theory.function(test.to)(**dict(test.to_arguments)))
        words += f" : {_call(test.to, test.to_arguments)} = {plain(to)} = {ratio(value, to)}"
    yield decisive([quotient(test.limits, (value, to), (0.0, 0.0), words)], up_to_noise=True)


def _call(function: str, arguments: Sequence[tuple[str, Any]]) -> str:
    written = ", ".join(f"{name} = {value:g}" for name, value in arguments)
    return f"{function.rpartition('.')[2]}({written})"


def not_applicable(test: tests.NotApplicable, lines: Lines) -> Iterator[Finding]:
    """Report that the sentence says nothing here."""
    yield Finding(Verdict.NOT_TESTED, test.reason, silence=Silence.NOT_APPLICABLE)
