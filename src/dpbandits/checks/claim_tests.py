"""Tests of the papers' claims: one function per kind of test yields findings by panel and curve.

Statistics are compared with their standard errors: a statistic within three standard errors of a
limit is undecided. Tests of shapes and of theory are in modules of their own. A new kind of test
also needs a class in spec/claim_tests.py and its keys in config/readers/claim_tests.py.
"""

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from dpbandits.checks import shape_tests, theory_tests
from dpbandits.checks.comparisons import (
    ERRORS,
    ROUNDING,
    Compared,
    Measure,
    Verdict,
    plain,
    quotient,
    ratio,
    within,
)
from dpbandits.checks.findings import Finding, decisive
from dpbandits.checks.lines import Lines, common, each, pairs
from dpbandits.spec import claim_tests as tests
from dpbandits.spec.claim_tests import EVERY_X, At, Test


def _ratio(test: tests.Ratio, lines: Lines) -> Iterator[Finding]:
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
                    yield decisive(compared, test.at, test.up_to_noise)
                    compared = []
            if compared:
                yield decisive(compared, test.at, test.up_to_noise)


def _value(test: tests.Value, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        compared: list[Compared] = []
        for i in line.points(test.at, test.between):
            words = f"({panel}) {line.text(i, test.statistic)}{line.where(i, test.at)}"
            value, error = line.statistic(i, test.statistic), line.error(i, test.statistic)
            compared.append(within(test.limits, value, error, words))
        if compared:
            yield decisive(compared, test.at)


def _alike(test: tests.Alike, lines: Lines) -> Iterator[Finding]:
    for name in test.of:
        for p, q in combinations(test.panels, 2):
            for a, b in zip(lines[p][name], lines[q][name], strict=True):
                ((i, j),) = common(a, b, test.at, EVERY_X)
                error, away = math.hypot(a.error(i), b.error(j)), a.mean(i) - b.mean(j)
                alike = abs(away) <= ERRORS * error + ROUNDING * abs(a.mean(i))
                words = f"({p}) {a.text(i)}, ({q}) {b.mean_text(j)}{a.where(i, test.at)}"
                measure = Measure(away, error, 0.0, "about")
                yield Finding(Verdict.HOLDS if alike else Verdict.FAILS, words, measure)


def _published(test: tests.Published, lines: Lines) -> Iterator[Finding]:
    for panel, line in each(lines, test.panels, test.of):
        evidence, points = line.evidence, line.curve.published
        theirs = ", ".join(plain(regret) for _, regret in points)
        ours = ", ".join(plain(line.mean(line.index(t))) for t, _ in points)
        rounds = ", ".join(f"{t:,.0f}" for t, _ in points)
        words = (
            f"({panel}) {line.label} at t = {rounds}: published {theirs}; mean of"
            f" {evidence.runs} runs {ours}; share of curves at least as far from the median:"
            f" {evidence.place:.2g}"
        )
        # The place has the law of a rank, whatever the law of the runs: no standard error.
        yield decisive([within(test.limits, evidence.place, 0.0, words)])


BY_KIND: dict[type[Test], Callable[[Any, Lines], Iterator[Finding]]] = {
    tests.Ratio: _ratio,
    tests.Bounded: theory_tests.bounded,
    tests.Value: _value,
    tests.Extremes: shape_tests.extremes,
    tests.Growth: shape_tests.growth,
    tests.Slope: shape_tests.slope,
    tests.Difference: shape_tests.difference,
    tests.Contrast: shape_tests.contrast,
    tests.Improvement: shape_tests.improvement,
    tests.Bend: shape_tests.bend,
    tests.Alike: _alike,
    tests.Published: _published,
    tests.WithinBudget: theory_tests.within_budget,
    tests.Formula: theory_tests.formula,
    tests.NotApplicable: theory_tests.not_applicable,
}
