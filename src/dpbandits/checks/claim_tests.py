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
    told: str  # the numbers, in words
    reading: str = ""


def _decisive(
    found: Iterable[Compared], at: At | float = At.EVERYWHERE, up_to_noise: bool = False
) -> Finding:
    # The comparison that decides: the worst one, or the best one if a single point is enough.
    pick: Callable[..., Compared] = max if at is At.SOMEWHERE else min
    chosen = pick(found, key=lambda c: c.order(up_to_noise))
    return Finding(chosen.verdict(up_to_noise), chosen.told)


def _ratio(test: claims.Ratio, lines: Lines) -> Iterator[Finding]:
    what, by_mean = test.statistic, test.statistic == "mean"
    up_to_noise = test.up_to_noise or not by_mean  # only a mean has a standard error
    for panel, other in zip(test.panels, test.to_panels or test.panels, strict=True):
        place = f"({other}) " if test.to_panels else ""
        for name in test.of:
            found: list[Compared] = []
            for a, b in pairs(lines[panel][name], lines[other], test.of, test.to):
                for i, j in common(a, b, test.at, test.between):
                    numbers = a.statistic(i, what), b.statistic(j, what)
                    errors = (a.error(i), b.error(j)) if by_mean else (0.0, 0.0)
                    told = f"({panel}) {a.told(i, what)} : {place}{b.told(j, what)}"
                    told += f" = {ratio(*numbers)}"
                    found.append(quotient(test.limits, numbers, errors, told + a.where(i, test.at)))
                if found and test.at is At.SOMEWHERE:  # a point of its own for each other curve
                    yield _decisive(found, test.at, up_to_noise)
                    found = []
            if found:
                yield _decisive(found, test.at, up_to_noise)


def _bounded(test: claims.Bounded, lines: Lines) -> Iterator[Finding]:
    function = theory.function(test.function)
    for panel, line in each(lines, test.panels, test.of):
        found: list[Compared] = []
        for i in line.points(test.at, EVERY_X):
            cell = line.curve.sources[0 if line.curve.x is None else i]
            assert isinstance(cell, Cell)
            given = bound_arguments.known(cell) | dict(test.given)
            if line.curve.x is None:
                given["horizon"] = int(line.series.x[i])
            bound = function(
                **{name: given[name] for name in bound_arguments.accepted(test.function)}
            )
            told = f"({panel}) {line.told(i)} : bound {plain(bound)} = {ratio(line.mean(i), bound)}"
            numbers, errors = (line.mean(i), bound), (line.error(i), 0.0)
            found.append(quotient(test.limits, numbers, errors, told + line.where(i, test.at)))
        yield _decisive(found, test.at, up_to_noise=True)


def _value(test: claims.Value, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        found: list[Compared] = []
        for i in line.points(test.at, test.between):
            told = f"({panel}) {line.told(i, test.statistic)}{line.where(i, test.at)}"
            found.append(within(test.limits, line.statistic(i, test.statistic), 0.0, told))
        if found:
            yield _decisive(found, test.at, up_to_noise=True)


def _extremes(test: claims.Extremes, lines: Lines) -> Iterator[Finding]:
    for name in test.of:
        every = list(each(lines, test.panels, (name,)))
        inside = [[(p, n, i) for i in n.points(At.EVERYWHERE, test.between)] for p, n in every]
        ends = [[(panel, line, len(line.series.x) - 1) for panel, line in every]]
        for group in filter(None, ends if test.across_panels else inside):
            high, low = _extreme(group, At.END if test.across_panels else At.EVERYWHERE)
            numbers, errors = (high.mean, low.mean), (high.error, low.error)
            told = f"{high.told} : {low.told} = {ratio(*numbers)}"
            yield _decisive([quotient(test.limits, numbers, errors, told)])


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error."""

    mean: float
    error: float
    told: str


def _extreme(group: Iterable[tuple[str, Line, int]], at: At) -> tuple[Mean, Mean]:
    # The largest and the smallest mean.
    means = [
        Mean(line.mean(i), line.error(i), f"({panel}) {line.told(i)}{line.where(i, at)}")
        for panel, line, i in group
    ]
    return max(means, key=lambda m: m.mean), min(means, key=lambda m: m.mean)


def _growth(test: claims.Growth, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        first, last = line.index(test.since), line.index(test.until)
        numbers = line.mean(last), line.mean(first)
        told = (
            f"({panel}) {line.told(first)}{line.where(first)}, {line.told_mean(last)}"
            f"{line.where(last)}: {ratio(*numbers)} times"
        )
        # Both means come from the same runs, so their difference is more certain than these errors
        # suggest. Regret never falls in a run: if both means are equal, no run has grown.
        errors = line.error(last), line.error(first)
        if math.isclose(*numbers, rel_tol=ROUNDING):
            errors = 0.0, 0.0
        yield _decisive([quotient(test.limits, numbers, errors, told)])


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
        told = (
            f"({panel}) {line.series.label}: slope {slope:.2f} ({error:.1g}) from"
            f" {line.x(points[0])} to {line.x(points[-1])}"
        )
        yield _decisive([within(test.limits, slope, error, told)])


def _gap(test: claims.Gap, lines: Lines) -> Iterator[Finding]:
    for panel in test.panels:
        for a, b in product(*(lines[panel][name] for name in (*test.of, *test.to))):
            points = common(a, b, At.EVERYWHERE, (test.since, math.inf))
            gaps = [a.mean(i) - b.mean(j) for i, j in points]
            errors = [math.hypot(a.error(i), b.error(j)) for i, j in points]
            found, lowest = [], 0
            for k in range(1, len(points)):
                told = (
                    f"({panel}) {a.series.label} - {b.series.label}: {plain(gaps[lowest])}"
                    f"{a.where(points[lowest][0])}, {plain(gaps[k])} ({plain(errors[k])})"
                    f"{a.where(points[k][0])}"
                )
                # Both gaps come from the same runs: the larger error is large enough.
                error = max(errors[k], errors[lowest])
                found.append(Compared(gaps[lowest] - gaps[k], error, told))
                lowest = k if gaps[k] < gaps[lowest] else lowest
            if found:
                yield _decisive(found, up_to_noise=True)


def _contrast(test: claims.Contrast, lines: Lines) -> Iterator[Finding]:
    changes = []
    for name in (*test.of, *test.to):
        every = each(lines, test.panels, (name,))
        last = ((panel, line, len(line.series.x) - 1) for panel, line in every)
        high, low = _extreme(last, At.END)
        changes.append((high, low, math.hypot(high.error / high.mean, low.error / low.mean)))
    numbers = tuple(high.mean / low.mean for high, low, _ in changes)
    errors = tuple(number * e for number, (_, _, e) in zip(numbers, changes, strict=True))
    told = "; ".join(f"{high.told} : {low.told}" for high, low, _ in changes)
    told += f"; {numbers[0]:.3g} times against {numbers[1]:.3g}"
    yield _decisive([quotient(test.limits, numbers, errors, told)])  # type: ignore[arg-type]


def _alike(test: claims.Alike, lines: Lines) -> Iterator[Finding]:
    for name in test.of:
        for p, q in combinations(test.panels, 2):
            for a, b in zip(lines[p][name], lines[q][name], strict=True):
                ((i, j),) = common(a, b, test.at, EVERY_X)
                room = ERRORS * math.hypot(a.error(i), b.error(j)) + ROUNDING * abs(a.mean(i))
                alike = abs(a.mean(i) - b.mean(j)) <= room
                told = f"({p}) {a.told(i)}, ({q}) {b.told_mean(j)}{a.where(i, test.at)}"
                yield Finding(Verdict.HOLDS if alike else Verdict.FAILS, told)


def _spent(test: claims.Spent, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        found: list[Compared] = []
        for i, source in enumerate(line.curve.sources):
            assert not isinstance(source, Bound)  # the reader rejects bounds and non-private curves
            given, spent = source.params._asdict()["epsilon"], budget(source) or 0.0
            to = f"composes to {spent:.4g}" if math.isfinite(spent) else "it is spent without bound"
            where = "" if line.curve.x is None else line.where(i)
            told = f"({panel}) {line.series.label}{where}: given {given:.4g}, {to}"
            room = given * (1 + ROUNDING) - spent
            found.append(Compared(room, 0.0, told, room / given))
        yield _decisive(found)


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
