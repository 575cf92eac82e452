"""Tests of the papers' claims: one function per kind of test yields findings by panel and curve.

Statistics are compared with their standard errors: one within three of them of a limit is
undecided.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.budget import budget
from dpbandits.checks.comparisons import (
    ERRORS,
    ROUNDING,
    TINY,
    Compared,
    Line,
    Lines,
    Measure,
    Silence,
    Verdict,
    common,
    each,
    pairs,
    plain,
    quotient,
    ratio,
    within,
)
from dpbandits.config import bound_arguments
from dpbandits.core import registry
from dpbandits.spec import claims
from dpbandits.spec.claims import EVERY_X, At, Limits, Test
from dpbandits.spec.figure import Bound


@dataclass(frozen=True)
class Finding:
    """Verdict of a test at the point that decides it."""

    verdict: Verdict
    numbers: str  # the numbers, in words
    measure: Measure | None = None
    silence: Silence | None = None  # why the test says nothing, if it does
    figure: str = ""
    reading: str = ""


def _decisive(
    compared: Iterable[Compared], at: At | float = At.EVERYWHERE, up_to_noise: bool = False
) -> Finding:
    # The comparison that decides: the worst one, or the best one if a single point is enough.
    pick: Callable[..., Compared] = max if at is At.SOMEWHERE else min
    chosen = pick(compared, key=lambda c: c.order(up_to_noise))
    return Finding(chosen.verdict(up_to_noise), chosen.words, chosen.measure)


def _ratio(test: claims.Ratio, lines: Lines) -> Iterator[Finding]:
    statistic = test.statistic
    for panel, other in zip(test.panels, test.to_panels or test.panels, strict=True):
        place = f"({other}) " if test.to_panels else ""
        for name in test.of:
            compared: list[Compared] = []
            for a, b in pairs(lines[panel][name], lines[other], test.of, test.to):
                for i, j in common(a, b, test.at, test.between):
                    numbers = a.statistic(i, statistic), b.statistic(j, statistic)
                    errors = a.error(i, statistic), b.error(j, statistic)
                    words = f"({panel}) {a.text(i, statistic)} : {place}{b.text(j, statistic)}"
                    words += f" = {ratio(*numbers)}"
                    compared.append(
                        quotient(test.limits, numbers, errors, words + a.where(i, test.at))
                    )
                if compared and test.at is At.SOMEWHERE:  # a point of its own for each other curve
                    yield _decisive(compared, test.at, test.up_to_noise)
                    compared = []
            if compared:
                yield _decisive(compared, test.at, test.up_to_noise)


def _bounded(test: claims.Bounded, lines: Lines) -> Iterator[Finding]:
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
            largest = _largest_regret(cell, arguments["horizon"])
            if bound >= largest:
                vacuous = f"{words}; no regret exceeds {plain(largest)}"
                continue
            numbers, errors = (line.mean(i), bound), (line.error(i), 0.0)
            compared.append(quotient(test.limits, numbers, errors, words))
        if compared:
            yield _decisive(compared, test.at)
        else:
            yield Finding(Verdict.NOT_TESTED, vacuous, silence=Silence.VACUOUS)


def _largest_regret(cell: Cell, rounds: int) -> float:
    module = registry.environment(cell.environment)
    if hasattr(module, "table"):
        return float(module.largest_regret(cell.instance, rounds))
    return float(module.law(cell.instance).gaps.max()) * rounds


def _value(test: claims.Value, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        compared: list[Compared] = []
        for i in line.points(test.at, test.between):
            words = f"({panel}) {line.text(i, test.statistic)}{line.where(i, test.at)}"
            value, error = line.statistic(i, test.statistic), line.error(i, test.statistic)
            compared.append(within(test.limits, value, error, words))
        if compared:
            yield _decisive(compared, test.at)


def _extremes(test: claims.Extremes, lines: Lines) -> Iterator[Finding]:
    for name in test.of:
        every = list(each(lines, test.panels, (name,)))
        inside = [[(p, n, i) for i in n.points(At.EVERYWHERE, test.between)] for p, n in every]
        ends = [[(panel, line, len(line.all_x) - 1) for panel, line in every]]
        for group in filter(None, ends if test.across_panels else inside):
            high, low = _extreme(group, At.END if test.across_panels else At.EVERYWHERE)
            numbers, errors = (high.mean, low.mean), (high.error, low.error)
            words = f"{high.words} : {low.words} = {ratio(*numbers)}"
            yield _decisive([quotient(test.limits, numbers, errors, words)])


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error."""

    mean: float
    error: float
    words: str


def _extreme(group: Iterable[tuple[str, Line, int]], at: At) -> tuple[Mean, Mean]:
    # The largest and the smallest mean.
    means = [
        Mean(line.mean(i), line.error(i), f"({panel}) {line.text(i)}{line.where(i, at)}")
        for panel, line, i in group
    ]
    return max(means, key=lambda m: m.mean), min(means, key=lambda m: m.mean)


def _growth(test: claims.Growth, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        first, last = line.index(test.since), line.index(test.until)
        numbers = line.mean(last), line.mean(first)
        words = (
            f"({panel}) {line.text(first)}{line.where(first)}, {line.mean_text(last)}"
            f"{line.where(last)}: {ratio(*numbers)} times"
        )
        # Both means come from the same runs. Up to the end, the error of their difference is known.
        errors = line.error(last), line.error(first)
        if last == len(line.all_x) - 1:
            errors = line.error(first, "rest"), 0.0
        yield _decisive([_grown(test.limits, numbers, errors, line.error(first), words)])


def _grown(
    limits: Limits,
    numbers: tuple[float, float],
    errors: tuple[float, float],
    of_first: float,
    words: str,
) -> Compared:
    # last - limit first = (last - first) - (limit - 1) first: the errors of both terms add up.
    if errors[1]:
        return quotient(limits, numbers, errors, words)
    limit = limits.at_least if math.isfinite(limits.at_least) else limits.at_most
    return quotient(limits, numbers, (errors[0] + abs(limit - 1.0) * of_first, 0.0), words)


def _slope(test: claims.Slope, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        points = line.points(At.EVERYWHERE, test.between)
        if len(points) < 2:
            continue
        mean, log_x = line.evidence.statistics["mean"][points], np.log(line.all_x[points])
        weights = (log_x - log_x.mean()) / np.sum((log_x - log_x.mean()) ** 2)
        slope = float(weights @ np.log(mean))
        relative = np.array([line.error(i) for i in points]) / mean
        error = math.sqrt(float(np.sum((weights * relative) ** 2)))
        words = (
            f"({panel}) {line.label}: slope {slope:.2f} ({error:.1g}) from"
            f" {line.x(points[0])} to {line.x(points[-1])}"
        )
        yield _decisive([within(test.limits, slope, error, words)])


def _difference(test: claims.Difference, lines: Lines) -> Iterator[Finding]:
    for panel in test.panels:
        for a, b in product(*(lines[panel][name] for name in (*test.of, *test.to))):
            points = common(a, b, At.EVERYWHERE, (test.since, math.inf))
            gaps = [a.mean(i) - b.mean(j) for i, j in points]
            errors = [math.hypot(a.error(i), b.error(j)) for i, j in points]
            compared, lowest = list[Compared](), 0
            for k in range(1, len(points)):
                words = (
                    f"({panel}) {a.label} - {b.label}: {plain(gaps[lowest])}"
                    f"{a.where(points[lowest][0])}, {plain(gaps[k])} ({plain(errors[k])})"
                    f"{a.where(points[k][0])}"
                )
                numbers, of_both = (gaps[k], gaps[lowest]), (errors[k], errors[lowest])
                compared.append(quotient(test.limits, numbers, of_both, words))
                lowest = k if gaps[k] < gaps[lowest] else lowest
            if compared:
                yield _decisive(compared)


def _contrast(test: claims.Contrast, lines: Lines) -> Iterator[Finding]:
    changes = []
    for name in (*test.of, *test.to):
        every = each(lines, test.panels, (name,))
        last = ((panel, line, len(line.all_x) - 1) for panel, line in every)
        high, low = _extreme(last, At.END)
        changes.append((high, low, math.hypot(high.error / high.mean, low.error / low.mean)))
    numbers = tuple(high.mean / low.mean for high, low, _ in changes)
    errors = tuple(number * e for number, (_, _, e) in zip(numbers, changes, strict=True))
    words = "; ".join(f"{high.words} : {low.words}" for high, low, _ in changes)
    words += f"; {numbers[0]:.3g} times against {numbers[1]:.3g}"
    yield _decisive([quotient(test.limits, numbers, errors, words)])  # type: ignore[arg-type]


def _alike(test: claims.Alike, lines: Lines) -> Iterator[Finding]:
    for name in test.of:
        for p, q in combinations(test.panels, 2):
            for a, b in zip(lines[p][name], lines[q][name], strict=True):
                ((i, j),) = common(a, b, test.at, EVERY_X)
                error, away = math.hypot(a.error(i), b.error(j)), a.mean(i) - b.mean(j)
                alike = abs(away) <= ERRORS * error + ROUNDING * abs(a.mean(i))
                words = f"({p}) {a.text(i)}, ({q}) {b.mean_text(j)}{a.where(i, test.at)}"
                measure = Measure(away, error, 0.0, "about")
                yield Finding(Verdict.HOLDS if alike else Verdict.FAILS, words, measure)


def _published(test: claims.Published, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        evidence, points = line.evidence, line.curve.published
        theirs = ", ".join(plain(regret) for _, regret in points)
        ours = ", ".join(plain(line.mean(line.index(t))) for t, _ in points)
        rounds = ", ".join(f"{t:,.0f}" for t, _ in points)
        words = (
            f"({panel}) {line.label} at t = {rounds}: published {theirs}; mean of"
            f" {evidence.runs} runs {ours}; as far out: {evidence.place:.2g} of all curves"
        )
        # The place has the law of a rank, whatever the law of the runs: no standard error.
        yield _decisive([within(test.limits, evidence.place, 0.0, words)])


def _within_budget(test: claims.WithinBudget, lines: Lines) -> Iterator[Finding]:
    # A composition above the budget is a gap in the proof, and no counterexample.
    for panel, line in each(lines, test.panels, test.of):
        findings = list[tuple[float, Finding]]()
        for i, source in enumerate(line.curve.sources):
            assert not isinstance(source, Bound)  # the reader rejects bounds and non-private curves
            granted, spent = source.params._asdict()["epsilon"], budget(source) or 0.0
            to = (
                f"composes to {spent:.4g}" if math.isfinite(spent) else "the releases have no bound"
            )
            where = "" if line.curve.x is None else line.where(i)
            words = f"({panel}) {line.label}{where}: given {granted:.4g}, {to}"
            kept = spent <= granted * (1 + ROUNDING)
            found = (
                Finding(Verdict.HOLDS, words)
                if kept
                else Finding(Verdict.NOT_TESTED, words, silence=Silence.NOT_SHOWN)
            )
            findings.append(((granted - spent) / max(granted, TINY), found))
        yield min(findings, key=lambda found: found[0])[1]


def _formula(test: claims.Formula, lines: Lines) -> Iterator[Finding]:
    value = float(theory.function(test.function)(**dict(test.arguments)))
    words = f"{_call(test.function, test.arguments)} = {plain(value)}"
    to = 1.0
    if test.to:
        to = float(theory.function(test.to)(**dict(test.to_arguments)))
        words += f" : {_call(test.to, test.to_arguments)} = {plain(to)} = {ratio(value, to)}"
    yield _decisive([quotient(test.limits, (value, to), (0.0, 0.0), words)], up_to_noise=True)


def _call(function: str, arguments: Sequence[tuple[str, Any]]) -> str:
    given = ", ".join(f"{name} = {value:g}" for name, value in arguments)
    return f"{function.rpartition('.')[2]}({given})"


def _not_applicable(test: claims.NotApplicable, lines: Lines) -> Iterator[Finding]:
    yield Finding(Verdict.NOT_TESTED, test.reason, silence=Silence.NOT_APPLICABLE)


BY_KIND: dict[type[Test], Callable[[Any, Lines], Iterator[Finding]]] = {
    claims.Ratio: _ratio,
    claims.Bounded: _bounded,
    claims.Value: _value,
    claims.Extremes: _extremes,
    claims.Growth: _growth,
    claims.Slope: _slope,
    claims.Difference: _difference,
    claims.Contrast: _contrast,
    claims.Alike: _alike,
    claims.Published: _published,
    claims.WithinBudget: _within_budget,
    claims.Formula: _formula,
    claims.NotApplicable: _not_applicable,
}
