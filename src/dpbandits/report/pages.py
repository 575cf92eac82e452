"""Pages of the reports, in Markdown: one per paper and one over all."""

import math
from collections.abc import Iterable, Iterator, Sequence

from dpbandits.checks import verdicts
from dpbandits.checks.comparisons import Verdict
from dpbandits.checks.verdicts import ClaimResult, ReadingResult
from dpbandits.curves import evidence_records
from dpbandits.factory.papers import Paper, paper
from dpbandits.report.content import Report, number, runs_needed, turns_at
from dpbandits.spec.claims import Kind

WORDS = {
    Verdict.HOLDS: "reproduces",
    Verdict.FAILS: "does not reproduce",
    Verdict.DEPENDS: "depends on the reading",
    Verdict.UNDECIDED: "undecided",
    Verdict.NOT_TESTED: "not tested",
}
COUNTS = tuple(WORDS)


def of_paper(report: Report) -> str:
    """Return the page of a paper."""
    of = paper(report.paper)
    return "\n".join(
        [
            f"# Reproducibility of {of.short}",
            "",
            f"{of.authors}, *{of.title}*, {of.venue}.",
            "",
            f"**{report.headline}**",
            "",
            "This page is written by `make report` from the claims in"
            f" `conf/claims/{report.paper}.yaml` and the committed statistics of their runs.",
            "[How claims are judged](../checks.md#3-verdicts-which-published-claims-reproduce).",
            "",
            *_scope(report),
            *_method(report),
            *_results(report),
            *_lists(report),
            *_cite(of),
        ]
    )


def _scope(report: Report) -> Iterator[str]:
    yield from ("## Scope", "", "The central claims, in the paper's words:", "")
    for result in report.central:
        yield f"* {_quote(result)} ({result.claim.section}): {_verdict(result)}."
    yield ""


def _method(report: Report) -> Iterator[str]:
    yield from ("## Method", "", report.method, "")
    if report.choices:
        yield from ("Readings that had to be chosen:", "")
        yield from (f"* {choice}" for choice in report.choices)
        yield ""
    yield "| figure | runs | seconds of a core | revision | machine |"
    yield "|---|---:|---:|---|---|"
    for run in report.runs:
        yield (
            f"| `{run.figure}` | {run.runs} | {run.seconds:,.0f} | {run.revision} | {run.machine} |"
        )
    yield ""


def _results(report: Report) -> Iterator[str]:
    kinds = (
        (Kind.SENTENCE, "Sentences of the paper"),
        (Kind.THEOREM, "Theorems"),
        (Kind.OURS, "Statements of this project"),
    )
    yield from ("## Results", "")
    yield "A number is followed by its interval of 95 %. The last column has the number at which"
    yield "the verdict would turn, where the limit is one that this project gave to a word."
    yield ""
    for kind, heading in kinds:
        results = report.of_kind(kind)
        if results:
            yield from (f"### {heading}", "", *_table(results), *_details(results))


def _table(results: Sequence[ClaimResult]) -> Iterator[str]:
    yield "| claim | the paper's number | here | verdict | turns at |"
    yield "|---|---|---|---|---|"
    for result in results:
        first = _deciding(result)
        here = number(first.decisive.measure) if first and first.decisive else ""
        turns = turns_at(first) if first else ""
        yield (
            f"| [{result.claim.name}](#{_anchor(result)}) | {result.claim.published} | {here} |"
            f" {_verdict(result)} | {turns} |"
        )
    yield ""


def _details(results: Sequence[ClaimResult]) -> Iterator[str]:
    for result in results:
        claim = result.claim
        yield from (f"#### {claim.name}", "", f"> {claim.quote}", "")
        figures = ", ".join(f"`{figure}`" for figure in claim.figures)
        yield f"{claim.section}. Figures: {figures}. **{_verdict(result)}**."
        if claim.explanation:
            yield from ("", claim.explanation)
        yield from ("", "| reading | verdict | numbers |", "|---|---|---|")
        for reading in result.readings:
            yield f"| {reading.name} | {_of_reading(reading)} | {_numbers(reading)} |"
        yield ""


def _lists(report: Report) -> Iterator[str]:
    sentences = report.of_kind(Kind.SENTENCE)
    parts = (
        ("Reproduced", (Verdict.HOLDS,)),
        ("Not reproduced", (Verdict.FAILS,)),
        ("Dependent on the reading", (Verdict.DEPENDS,)),
        ("Undecided or not tested", (Verdict.UNDECIDED, Verdict.NOT_TESTED)),
    )
    for heading, kinds in parts:
        chosen = [result for result in sentences if result.verdict in kinds]
        if chosen:
            yield from (f"## {heading}", "")
            yield from (f"* {_quote(r)}{_reason(r)}" for r in chosen)
            yield ""
    for heading, texts in (
        ("Errata", report.errata),
        ("Easy parts", report.easy),
        ("Hard parts", report.hard),
    ):
        if texts:
            yield from (f"## {heading}", "", *(f"* {text}" for text in texts), "")


def _reason(result: ClaimResult) -> str:
    silences = ", ".join(silence.value for silence in result.silences)
    about = f" ({silences})" if silences else ""
    return f"{about}. {result.claim.explanation}" if result.claim.explanation else f"{about}."


def _cite(of: Paper) -> Iterator[str]:
    yield from ("## How to cite", "")
    yield f"dpbandits, reproducibility report on {of.short}, with the revision of the table above;"
    yield f"and the paper itself: {of.authors}, {of.title}, {of.venue}."
    yield ""


def _deciding(result: ClaimResult) -> ReadingResult | None:
    own = [reading for reading in result.readings if reading.verdict is result.verdict]
    return next(iter(own or result.readings), None)


def _verdict(result: ClaimResult) -> str:
    silences = ", ".join(silence.value for silence in result.silences)
    return WORDS[result.verdict] + (f": {silences}" if silences else "")


def _of_reading(reading: ReadingResult) -> str:
    if reading.verdict is Verdict.UNDECIDED:
        # The others may be about a figure without runs, which has no record of its evidence.
        undecided = [f for f in reading.findings if f.verdict is Verdict.UNDECIDED]
        runs = max(_runs(finding.figure) for finding in undecided)
        needed = runs_needed(reading, runs)
        return (
            f"undecided; about {needed:,} runs would decide" if needed < math.inf else "undecided"
        )
    silences = dict.fromkeys(f.silence.value for f in reading.findings if f.silence)
    own = reading.verdict is Verdict.NOT_TESTED and silences
    return f"not tested: {', '.join(silences)}" if own else reading.verdict.value


def _runs(figure: str) -> int:
    # The largest number of runs of its curves.
    return max(evidence_records.read_record(figure)["runs"])


def _numbers(reading: ReadingResult) -> str:
    decisive = reading.decisive
    if decisive is None:
        return ""
    several = len(reading.findings) > 1
    words = decisive.numbers.replace("|", "\\|")
    more = f" (the decisive one of {len(reading.findings)})" if several else ""
    turns = f"; turns at {turns_at(reading)}" if turns_at(reading) else ""
    return f"`{decisive.figure}` {words}{more}{turns}"


def _quote(result: ClaimResult) -> str:
    quote = result.claim.quote
    return quote if quote.startswith("[") else f"“{quote}”"


def _anchor(result: ClaimResult) -> str:
    return result.claim.name


def index(reports: Iterable[Report]) -> str:
    """Return the page over all papers."""
    lines = [
        "# Reproducibility of the papers",
        "",
        "One report per paper, written by `make report`. Counts are of distinct sentences of a",
        "paper.",
        "",
        "| paper | in one sentence | " + " | ".join(WORDS[v] for v in COUNTS) + " |",
        "|---|---|" + "---:|" * len(COUNTS),
    ]
    for report in reports:
        counted = verdicts.count(report.results)
        counts = " | ".join(str(counted.get(v.value, "")) for v in COUNTS)
        name = paper(report.paper).short
        lines.append(f"| [{name}]({report.paper}.md) | {report.headline} | {counts} |")
    return "\n".join([*lines, ""])
