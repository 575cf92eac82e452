"""Verdicts on the papers' claims, from the tests in claim_tests.py applied to the curves."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpbandits.checks.claim_tests import BY_KIND, Finding
from dpbandits.checks.comparisons import Line, Lines, Verdict
from dpbandits.curves.series import Series
from dpbandits.spec.claims import Claim
from dpbandits.spec.figure import FigureSpec


@dataclass(frozen=True)
class ClaimResult:
    """A claim with its verdict and the findings of all its tests."""

    claim: Claim
    verdict: Verdict
    findings: tuple[Finding, ...]


def evaluate(spec: FigureSpec, series: Sequence[Series]) -> list[ClaimResult]:
    """Return the verdicts on all claims of the figure, in the order of its file."""
    series_of = {(s.panel, s.label): s for s in series}
    lines: Lines = {panel.letter: {} for panel in spec.panels}
    for panel in spec.panels:
        for curve in panel.curves:
            line = Line(curve, series_of[panel.letter, curve.label])
            lines[panel.letter].setdefault(curve.name, []).append(line)
    return [_evaluate(claim, lines) for claim in spec.claims]


def count(results: Iterable[ClaimResult]) -> dict[str, int]:
    """Return the number of claims by the word of their verdict, without verdicts that have none."""
    counted = Counter(result.verdict for result in results)
    return {verdict.value: counted[verdict] for verdict in Verdict if counted[verdict]}


def as_json(results: Iterable[ClaimResult]) -> list[dict[str, Any]]:
    """Return the claims and verdicts as JSON values."""
    return [
        {
            "claim": result.claim.name,
            "says": result.claim.says,
            "where": result.claim.where,
            "verdict": result.verdict.value,
            "because": result.claim.because,
            "findings": [
                {"reading": f.reading, "verdict": f.verdict.value, "numbers": f.numbers}
                for f in result.findings
            ],
        }
        for result in results
    ]


def _evaluate(claim: Claim, lines: Lines) -> ClaimResult:
    all_findings: list[Finding] = []
    of_readings = []
    for reading, tests in claim.readings:
        findings = [
            replace(f, reading=reading) for test in tests for f in BY_KIND[type(test)](test, lines)
        ]
        of_readings.append(_all(f.verdict for f in findings))
        all_findings += findings
    alike = len(set(of_readings)) == 1
    return ClaimResult(claim, of_readings[0] if alike else Verdict.DEPENDS, tuple(all_findings))


def _all(verdicts: Iterable[Verdict]) -> Verdict:
    # All must hold. Without any finding the verdict is UNDECIDED.
    seen = set(verdicts)
    if Verdict.FAILS in seen:
        return Verdict.FAILS
    return Verdict.HOLDS if seen == {Verdict.HOLDS} else Verdict.UNDECIDED
