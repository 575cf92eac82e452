"""Verdicts on the papers' claims, from the tests in claim_tests.py applied to the evidence."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from dpbandits.checks.claim_tests import BY_KIND
from dpbandits.checks.comparisons import Silence, Verdict
from dpbandits.checks.findings import Finding
from dpbandits.checks.lines import Line, Lines
from dpbandits.curves.evidence import OfFigure
from dpbandits.spec.claims import Claim, FigureTest, Kind
from dpbandits.spec.figure import FigureSpec


@dataclass(frozen=True)
class ReadingResult:
    """Verdict on one reading of a claim, with the findings of its tests."""

    name: str
    verdict: Verdict
    findings: tuple[Finding, ...]

    @property
    def decisive(self) -> Finding | None:
        """The finding that decides: the one nearest to its limit if all hold, else the farthest.

        Its number is also the one at which the verdict would turn if the limit were another.
        """
        own = [finding for finding in self.findings if finding.verdict is self.verdict]
        if not own:
            return None
        pick = min if self.verdict is Verdict.HOLDS else max
        return pick(own, key=lambda f: f.measure.distance if f.measure else 0.0)


@dataclass(frozen=True)
class ClaimResult:
    """A claim with its verdict, and those on its readings."""

    claim: Claim
    verdict: Verdict
    readings: tuple[ReadingResult, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all readings."""
        return tuple(finding for reading in self.readings for finding in reading.findings)

    @property
    def silences(self) -> tuple[Silence, ...]:
        """Reasons why the claim is not tested; empty for another verdict."""
        if self.verdict is not Verdict.NOT_TESTED:
            return ()
        return tuple(dict.fromkeys(f.silence for f in self.findings if f.silence))


LinesOf = Callable[[str], Lines | None]  # the lines of a figure, None if it has no evidence


def lines_of(spec: FigureSpec, evidence: OfFigure) -> Lines:
    """Return the curves of a figure with their evidence, by panel and name."""
    lines: Lines = {panel.letter: {} for panel in spec.panels}
    for panel in spec.panels:
        for curve in panel.curves:
            line = Line(curve, evidence[panel.letter, curve.label])
            lines[panel.letter].setdefault(curve.name, []).append(line)
    return lines


def evaluate(claim: Claim, lines: LinesOf) -> ClaimResult:
    """Return the verdict on a claim."""
    readings = []
    for reading in claim.readings:
        findings = tuple(
            replace(finding, figure=test.figure, reading=reading.name)
            for test in reading.tests
            for finding in _findings(test, lines(test.figure))
        )
        verdict = of_tests(finding.verdict for finding in findings)
        readings.append(ReadingResult(reading.name, verdict, findings))
    return ClaimResult(claim, of_readings({each.verdict for each in readings}), tuple(readings))


def _findings(test: FigureTest, lines: Lines | None) -> list[Finding]:
    if lines is None:
        words = f"the curves of {test.figure} have not been computed"
        return [Finding(Verdict.NOT_TESTED, words, silence=Silence.NO_EVIDENCE)]
    return list(BY_KIND[type(test.test)](test.test, lines))


def of_tests(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a reading whose tests must all hold.

    A test that says nothing is passed over beside others that say something.
    """
    seen = set(verdicts)
    for verdict in (Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS):
        if verdict in seen:
            return verdict
    return Verdict.NOT_TESTED


def of_readings(verdicts: Collection[Verdict]) -> Verdict:
    """Return the verdict on a claim: that of its readings if they agree.

    It depends on the reading if one holds and another fails. Any other mixture is decided by no
    reading: undecided if one of them is, else not tested.
    """
    if len(verdicts) == 1:
        (verdict,) = verdicts
        return verdict
    if {Verdict.HOLDS, Verdict.FAILS} <= set(verdicts):
        return Verdict.DEPENDS
    return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.NOT_TESTED


def count(results: Iterable[ClaimResult]) -> dict[str, int]:
    """Return the number of distinct sentences of papers by the word of their verdict."""
    of_sentence = {r.claim.id: r.verdict for r in results if r.claim.kind is Kind.SENTENCE}
    counted = Counter(of_sentence.values())
    return {verdict.value: counted[verdict] for verdict in Verdict if counted[verdict]}


def as_json(results: Iterable[ClaimResult]) -> list[dict[str, Any]]:
    """Return the claims and verdicts as JSON values."""
    return [
        {
            "claim": result.claim.id,
            "kind": result.claim.kind.value,
            "quote": result.claim.quote,
            "section": result.claim.section,
            "verdict": result.verdict.value,
            "explanation": result.claim.explanation,
            "readings": [
                {
                    "reading": reading.name,
                    "verdict": reading.verdict.value,
                    "findings": [_finding(finding) for finding in reading.findings],
                }
                for reading in result.readings
            ],
        }
        for result in results
    ]


def _finding(finding: Finding) -> dict[str, Any]:
    measure = finding.measure
    numbers: dict[str, Any] = {}
    if measure is not None:
        low, high = measure.interval
        numbers = {
            "value": measure.value,
            "interval_95": [low, high] if low > float("-inf") else None,
            "limit": measure.limit,
            "side": measure.side,
            "word": measure.word or None,
        }
    return {
        "figure": finding.figure,
        "verdict": finding.verdict.value,
        "says_nothing": finding.silence.value if finding.silence else None,
        "numbers": finding.numbers,
        **numbers,
    }
