"""Tests of the shape of curves: their growth, slopes and bends, and how those of two differ."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from dpbandits.checks.comparisons import Compared, plain, quotient, ratio, within
from dpbandits.checks.findings import Finding, decisive
from dpbandits.checks.lines import Line, Lines, common, each
from dpbandits.spec import claim_tests as tests
from dpbandits.spec.claim_tests import At, Limits, Span


def extremes(test: tests.Extremes, lines: Lines) -> Iterator[Finding]:
    """Compare the largest mean of a curve with its smallest."""
    for name in test.of:
        every = list(each(lines, test.panels, (name,)))
        inside = [[(p, n, i) for i in n.points(At.EVERYWHERE, test.between)] for p, n in every]
        ends = [[(panel, line, len(line.all_x) - 1) for panel, line in every]]
        for group in filter(None, ends if test.across_panels else inside):
            high, low = _extreme(group, At.END if test.across_panels else At.EVERYWHERE)
            numbers, errors = (high.mean, low.mean), (high.error, low.error)
            words = f"{high.words} : {low.words} = {ratio(*numbers)}"
            yield decisive([quotient(test.limits, numbers, errors, words)])


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


def growth(test: tests.Growth, lines: Lines) -> Iterator[Finding]:
    """Compare two points of a curve."""
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
            errors = _of_growth(test.limits, errors, line.error(first, "rest")), 0.0
        yield decisive([quotient(test.limits, numbers, errors, words)])


def _of_growth(limits: Limits, errors: tuple[float, float], of_rest: float) -> float:
    # Bounds the error of last - limit first, by the errors of the terms of either sum:
    # (last - first) - (limit - 1) first, and last - limit first.
    limit = limits.at_least if math.isfinite(limits.at_least) else limits.at_most
    of_last, of_first = errors
    return min(of_rest + abs(limit - 1.0) * of_first, of_last + abs(limit) * of_first)


def slope(test: tests.Slope, lines: Lines) -> Iterator[Finding]:
    """Fit a line to log mean against log x."""
    for panel, line in each(lines, test.panels, test.of):
        points = line.points(At.EVERYWHERE, test.between)
        if len(points) < 2:
            continue
        mean, log_x = line.evidence.statistics["mean"][points], np.log(line.all_x[points])
        weights = (log_x - log_x.mean()) / np.sum((log_x - log_x.mean()) ** 2)
        value = float(weights @ np.log(mean))
        relative = np.array([line.error(i) for i in points]) / mean
        error = math.sqrt(float(np.sum((weights * relative) ** 2)))
        words = (
            f"({panel}) {line.label}: slope {value:.2f} ({error:.1g}) from"
            f" {line.x(points[0])} to {line.x(points[-1])}"
        )
        yield decisive([within(test.limits, value, error, words)])


def difference(test: tests.Difference, lines: Lines) -> Iterator[Finding]:
    """Compare the difference of two curves with its smallest value at an earlier point."""
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
                yield decisive(compared)


def contrast(test: tests.Contrast, lines: Lines) -> Iterator[Finding]:
    """Compare the changes of two curves across panels."""
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
    yield decisive([quotient(test.limits, numbers, errors, words)])  # type: ignore[arg-type]


def improvement(test: tests.Improvement, lines: Lines) -> Iterator[Finding]:
    """Compare the factors by which one curve is below another."""
    for panel, name in product(test.panels, test.of):
        (over,), (to,) = lines[panel][test.over], lines[panel][test.to[0]]
        (of,), (to_over,) = lines[panel][name], lines[panel][test.to_over]
        ours, theirs = _lower_by(of, over), _lower_by(to, to_over)
        numbers, errors = (ours.mean, theirs.mean), (ours.error, theirs.error)
        words = f"({panel}) {ours.words}; {theirs.words}: {ratio(*numbers)}"
        yield decisive([quotient(test.limits, numbers, errors, words)])


def _lower_by(one: Line, other: Line) -> Mean:
    # The factor by which the last mean of `one` is below that of `other`.
    i, j = len(one.all_x) - 1, len(other.all_x) - 1
    factor = other.mean(j) / one.mean(i)
    relative = math.hypot(one.error(i) / one.mean(i), other.error(j) / other.mean(j))
    return Mean(factor, factor * relative, f"{other.text(j)} : {one.text(i)} = {plain(factor)}")


def bend(test: tests.Bend, lines: Lines) -> Iterator[Finding]:
    """Compare the changes of the log-log slopes of two curves."""
    for panel in test.panels:
        for one, other in product(*(lines[panel][name] for name in (*test.of, *test.to))):
            a, b = (_changes_of_slope(line, test.between, test.summed) for line in (one, other))
            numbers, errors = (a.mean, b.mean), (a.error, b.error)
            words = f"({panel}) {a.words}, {b.words}: {ratio(*numbers)}"
            yield decisive([quotient(test.limits, numbers, errors, words)])


def _changes_of_slope(line: Line, between: Span, summed: bool) -> Mean:
    # The largest change of the log-log slope at a point, or the sum of all changes. The logarithms
    # of the means enter linearly, so their errors add up by the weights.
    points = line.points(At.EVERYWHERE, between)
    mean, log_x = line.evidence.statistics["mean"][points], np.log(line.all_x[points])
    slopes = np.diff(np.eye(len(points)), axis=0) / np.diff(log_x)[:, None]
    weights = np.diff(slopes, axis=0)  # shape (points - 2, points)
    changes = weights @ np.log(mean)
    k = int(np.argmax(np.abs(changes)))
    signs = np.where(changes < 0.0, -1.0, 1.0)
    chosen = signs @ weights if summed else signs[k] * weights[k]
    relative = np.array([line.error(i) for i in points]) / mean
    value, error = float(chosen @ np.log(mean)), math.sqrt(float(np.sum((chosen * relative) ** 2)))
    where = " in all" if summed else line.where(points[k + 1])
    words = f"slope of {line.label} changes by {value:.2f} ({error:.1g}){where}"
    return Mean(value, error, words)
