"""Content of a paper's report: its texts, and its claims with their verdicts."""

from collections.abc import Iterable
from dataclasses import dataclass

from dpbandits.checks.comparisons import Measure, Verdict, plain, runs_to_decide
from dpbandits.checks.verdicts import ClaimResult, ReadingResult
from dpbandits.config import claims
from dpbandits.curves import evidence_records
from dpbandits.factory import judged_claims
from dpbandits.spec.claims import Kind

TEXTS = ("headline", "method")
LISTS = ("choices", "errata", "easy", "hard")


@dataclass(frozen=True)
class Run:
    """Provenance of the evidence from a figure."""

    figure: str
    runs: str
    seconds: float  # of one core
    revision: str
    machine: str


@dataclass(frozen=True)
class Report:
    """Report on a paper."""

    paper: str
    headline: str
    method: str
    choices: tuple[str, ...]  # readings that were chosen, and why
    errata: tuple[str, ...]
    easy: tuple[str, ...]
    hard: tuple[str, ...]
    results: tuple[ClaimResult, ...]
    runs: tuple[Run, ...]

    def of_kind(self, kind: Kind) -> tuple[ClaimResult, ...]:
        """Return the claims of a kind."""
        return tuple(result for result in self.results if result.claim.kind is kind)

    @property
    def central(self) -> tuple[ClaimResult, ...]:
        """The central claims."""
        return tuple(result for result in self.results if result.claim.central)


def read(paper: str) -> Report:
    """Return the report on a paper. Raises UserError for an invalid file of claims."""
    texts = claims.texts(paper)
    texts.keys((*TEXTS, *LISTS), TEXTS)
    results = tuple(judged_claims.of_paper(paper))
    return Report(
        paper=paper,
        headline=texts.text("headline"),
        method=texts.text("method"),
        results=results,
        runs=tuple(_runs(results)),
        **{name: texts.texts(name) for name in LISTS},
    )


def _runs(results: Iterable[ClaimResult]) -> Iterable[Run]:
    figures = dict.fromkeys(figure for result in results for figure in result.claim.figures)
    for figure in figures:
        if claims.figure_of_claims(figure).cells():
            record = evidence_records.read_record(figure)
            yield Run(
                figure,
                ", ".join(f"{runs:,}" for runs in record["runs"]),
                float(record["seconds"]),
                str(record["revision"]),
                str(record["machine"]),
            )


def number(measure: Measure | None) -> str:
    """Return the measured number with its interval of 95 %, empty if there is none."""
    if measure is None:
        return ""
    low, high = measure.interval
    value = _digits(measure.value)
    if measure.error == 0 or _digits(low) == _digits(high):
        return value
    return f"{value} ({_digits(low)} to {_digits(high)})"


def turns_at(reading: ReadingResult) -> str:
    """Return the number at which a verdict would turn, if its limit is one of this project."""
    decisive = reading.decisive
    if decisive is None or decisive.measure is None or not decisive.measure.word:
        return ""
    return _digits(decisive.measure.value)


def runs_needed(reading: ReadingResult, runs: int) -> float:
    """Return about how many runs would decide a reading that `runs` leave undecided.

    The number exceeds `runs`; it is inf if no number of runs would decide at these differences.
    """
    factors = [
        f.measure.runs_factor
        for f in reading.findings
        if f.measure and f.verdict is Verdict.UNDECIDED
    ]
    return runs_to_decide(factors, runs)


def _digits(value: float) -> str:
    return f"{value:.3f}" if 0.9 < abs(value) < 1.1 else plain(value)
