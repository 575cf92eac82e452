"""Tests of the papers' claims: one function per kind of test yields findings by panel and curve.

Means are compared with their standard errors: a mean within three of them of a limit is
undecided. All other statistics are compared as drawn.
"""

import math
from collections.abc import Callable, Iterable, Iterator
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
    Compared,
    Line,
    Lines,
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
from dpbandits.spec import claims
from dpbandits.spec.claims import EVERY_X, At, Test
from dpbandits.spec.figure import Bound


@dataclass(frozen=True)
class Finding:
    """Verdict of a test at the point that decides it."""

    verdict: Verdict
    numbers: str  # the numbers, in words
    reading: str = ""


def _decisive(
    compared: Iterable[Compared], at: At | float = At.EVERYWHERE, up_to_noise: bool = False
) -> Finding:
    # The comparison that decides: the worst one, or the best one if a single point is enough.
    pick: Callable[..., Compared] = max if at is At.SOMEWHERE else min
    chosen = pick(compared, key=lambda c: c.order(up_to_noise))
    return Finding(chosen.verdict(up_to_noise), chosen.words)


def _ratio(test: claims.Ratio, lines: Lines) -> Iterator[Finding]:
    statistic, by_mean = test.statistic, test.statistic == "mean"
    up_to_noise = test.up_to_noise or not by_mean  # only a mean has a standard error
    for panel, other in zip(test.panels, test.to_panels or test.panels, strict=True):
        place = f"({other}) " if test.to_panels else ""
        for name in test.of:
            compared: list[Compared] = []
            for a, b in pairs(lines[panel][name], lines[other], test.of, test.to):
                for i, j in common(a, b, test.at, test.between):
                    numbers = a.statistic(i, statistic), b.statistic(j, statistic)
                    errors = (a.error(i), b.error(j)) if by_mean else (0.0, 0.0)
                    words = f"({panel}) {a.text(i, statistic)} : {place}{b.text(j, statistic)}"
                    words += f" = {ratio(*numbers)}"
                    compared.append(
                        quotient(test.limits, numbers, errors, words + a.where(i, test.at))
                    )
                if compared and test.at is At.SOMEWHERE:  # a point of its own for each other curve
                    yield _decisive(compared, test.at, up_to_noise)
                    compared = []
            if compared:
                yield _decisive(compared, test.at, up_to_noise)


def _bounded(test: claims.Bounded, lines: Lines) -> Iterator[Finding]:
    function = theory.function(test.function)
    for panel, line in each(lines, test.panels, test.of):
        compared: list[Compared] = []
        for i in line.points(test.at, EVERY_X):
            cell = line.curve.sources[0 if line.curve.x is None else i]
            assert isinstance(cell, Cell)
            arguments = bound_arguments.known(cell) | dict(test.arguments)
            if line.curve.x is None:
                arguments["horizon"] = int(line.series.x[i])
            bound = function(
                **{name: arguments[name] for name in bound_arguments.accepted(test.function)}
            )
            words = (
                f"({panel}) {line.text(i)} : bound {plain(bound)} = {ratio(line.mean(i), bound)}"
            )
            numbers, errors = (line.mean(i), bound), (line.error(i), 0.0)
            compared.append(quotient(test.limits, numbers, errors, words + line.where(i, test.at)))
        yield _decisive(compared, test.at, up_to_noise=True)


def _value(test: claims.Value, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        compared: list[Compared] = []
        for i in line.points(test.at, test.between):
            words = f"({panel}) {line.text(i, test.statistic)}{line.where(i, test.at)}"
            compared.append(within(test.limits, line.statistic(i, test.statistic), 0.0, words))
        if compared:
            yield _decisive(compared, test.at, up_to_noise=True)


def _extremes(test: claims.Extremes, lines: Lines) -> Iterator[Finding]:
    for name in test.of:
        every = list(each(lines, test.panels, (name,)))
        inside = [[(p, n, i) for i in n.points(At.EVERYWHERE, test.between)] for p, n in every]
        ends = [[(panel, line, len(line.series.x) - 1) for panel, line in every]]
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
        # Both means come from the same runs, so their difference is more certain than these errors
        # suggest. Regret never falls in a run: if both means are equal, no run has grown.
        errors = line.error(last), line.error(first)
        if math.isclose(*numbers, rel_tol=ROUNDING):
            errors = 0.0, 0.0
        yield _decisive([quotient(test.limits, numbers, errors, words)])


def _slope(test: claims.Slope, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        points = line.points(At.EVERYWHERE, test.between)
        if len(points) < 2:
            continue
        mean, log_x = line.series.mean[points], np.log(line.series.x[points])
        weights = (log_x - log_x.mean()) / np.sum((log_x - log_x.mean()) ** 2)
        slope = float(weights @ np.log(mean))
        relative = np.array([line.error(i) for i in points]) / mean
        error = math.sqrt(float(np.sum((weights * relative) ** 2)))
        words = (
            f"({panel}) {line.series.label}: slope {slope:.2f} ({error:.1g}) from"
            f" {line.x(points[0])} to {line.x(points[-1])}"
        )
        yield _decisive([within(test.limits, slope, error, words)])


def _gap(test: claims.Gap, lines: Lines) -> Iterator[Finding]:
    for panel in test.panels:
        for a, b in product(*(lines[panel][name] for name in (*test.of, *test.to))):
            points = common(a, b, At.EVERYWHERE, (test.since, math.inf))
            gaps = [a.mean(i) - b.mean(j) for i, j in points]
            errors = [math.hypot(a.error(i), b.error(j)) for i, j in points]
            compared, lowest = [], 0
            for k in range(1, len(points)):
                words = (
                    f"({panel}) {a.series.label} - {b.series.label}: {plain(gaps[lowest])}"
                    f"{a.where(points[lowest][0])}, {plain(gaps[k])} ({plain(errors[k])})"
                    f"{a.where(points[k][0])}"
                )
                # Both gaps come from the same runs: the larger error is large enough.
                error = max(errors[k], errors[lowest])
                compared.append(Compared(gaps[lowest] - gaps[k], error, words))
                lowest = k if gaps[k] < gaps[lowest] else lowest
            if compared:
                yield _decisive(compared, up_to_noise=True)


def _contrast(test: claims.Contrast, lines: Lines) -> Iterator[Finding]:
    changes = []
    for name in (*test.of, *test.to):
        every = each(lines, test.panels, (name,))
        last = ((panel, line, len(line.series.x) - 1) for panel, line in every)
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
                room = ERRORS * math.hypot(a.error(i), b.error(j)) + ROUNDING * abs(a.mean(i))
                alike = abs(a.mean(i) - b.mean(j)) <= room
                words = f"({p}) {a.text(i)}, ({q}) {b.mean_text(j)}{a.where(i, test.at)}"
                yield Finding(Verdict.HOLDS if alike else Verdict.FAILS, words)


def _spent(test: claims.Spent, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        compared: list[Compared] = []
        for i, source in enumerate(line.curve.sources):
            assert not isinstance(source, Bound)  # the reader rejects bounds and non-private curves
            granted, spent = source.params._asdict()["epsilon"], budget(source) or 0.0
            to = (
                f"composes to {spent:.4g}" if math.isfinite(spent) else "the releases have no bound"
            )
            where = "" if line.curve.x is None else line.where(i)
            words = f"({panel}) {line.series.label}{where}: given {granted:.4g}, {to}"
            room = granted * (1 + ROUNDING) - spent
            compared.append(Compared(room, 0.0, words, room / granted))
        yield _decisive(compared)


BY_KIND: dict[type[Test], Callable[[Any, Lines], Iterator[Finding]]] = {
    claims.Ratio: _ratio,
    claims.Bounded: _bounded,
    claims.Value: _value,
    claims.Extremes: _extremes,
    claims.Growth: _growth,
    claims.Slope: _slope,
    claims.Gap: _gap,
    claims.Contrast: _contrast,
    claims.Alike: _alike,
    claims.Spent: _spent,
}
