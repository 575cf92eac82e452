"""Claims in words: those about a figure with their verdicts, and texts with numbers of results."""

import math
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from dpbandits.checks.comparisons import readable
from dpbandits.drawing.formulas import without_tex
from dpbandits.judge import claims_files, claims_table
from dpbandits.judge.claims_table import Gathered
from dpbandits.judge.resampled import Resampler
from dpbandits.judge.variants import Figures
from dpbandits.judge.verdicts import Judge, Judged, Result
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables.references import PAPER

NOT_JUDGED = "not judged"
COMMITTED, OWN, NOTHING = "committed results", "own runs", "nothing"  # what judges a claim


class About(NamedTuple):
    """Claim about a figure, in words."""

    judged: Judged
    verdict: str
    numbers: str  # by how much the decisive comparison holds or is missed
    because: str
    judged_by: str  # COMMITTED, OWN or NOTHING

    @property
    def is_sentence(self) -> bool:
        """True for a sentence of the paper on its experiments, False for theorems and our own."""
        return self.judged.name in self.judged.paper.sentences


def about(spec: FigureSpec, store: Store) -> list[About]:
    """Return the claims about a figure with their verdicts.

    Committed results are quoted for a figure as its file describes it. A changed figure is judged
    by its own runs, as is one whose results are stale; then only claims about it alone are. Nothing
    is judged at another scale than the paper's.
    """
    claims, runs = list[About](), spec.runs_of_experiments()
    for paper in claims_files.naming(spec.name):
        names = [claim for claim in paper.claims() if spec.name in paper.figures(claim)]
        if spec.profile != PAPER:
            why = f"the profile {spec.profile} plays games of another scale than the paper's"
            claims += [About(Judged(paper, n), NOT_JUDGED, "", why, NOTHING) for n in names]
            continue
        is_quoted = spec.is_as_filed and names
        gathered = claims_table.read_results(paper.paper) if is_quoted else None
        if gathered is not None and not claims_table.stale(gathered, [spec]):
            for judged in (gathered.claims[claim] for claim in names):
                because = filled(judged.claim.because, gathered)
                claims.append(
                    About(judged, judged.status, factor(judged.drawn), because, COMMITTED)
                )
        elif names and not any(
            store.missing(experiment, number) for experiment, number in runs.items()
        ):
            theirs = Resampler(store, runs, paper.runs or 1)
            judge = Judge(Figures(paper, {(spec.name,): spec}), Resampler(store, runs), theirs)
            for claim in names:
                if paper.figures(claim) == [spec.name] and paper.claims()[claim].holds:
                    with suppress(UserError):  # a changed figure may lack a curve or panel
                        judged = judge.judge(Judged(paper, claim), [{}])
                        verdict, numbers = judged.verdict.value, factor(judged.drawn)
                        claims.append(About(judged, verdict, numbers, "", OWN))
    return claims


def count(claims: Iterable[About]) -> dict[str, int]:
    """Return the number of distinct sentences by the words of their verdict: 2 depend on ..."""
    sentences = (entry for entry in claims if entry.is_sentence and entry.judged_by != NOTHING)
    counts = Counter({about.judged.id: about.verdict for about in sentences}.values())
    return {w if n == 1 else w.replace("depends ", "depend "): n for w, n in counts.items()}


def as_json(claims: Iterable[About]) -> list[dict[str, Any]]:
    """Return the claims and verdicts as JSON values."""
    return [
        {
            "claim": entry.judged.id,
            "is_sentence": entry.is_sentence,
            "text": entry.judged.claim.quote or entry.judged.claim.says,
            "section": entry.judged.claim.section,
            "verdict": entry.verdict,
            "numbers": entry.numbers,
            "because": entry.because,
            "part": entry.judged.claim.part or None,
            "judged_by": entry.judged_by,
        }
        for entry in claims
    ]


def filled(text: str, gathered: Gathered) -> str:
    """Return a text with `{number}`, `{number:.2f}` and `{paper:10}` filled in, in Unicode.

    `{number:±}` and `{number:.2f±}` are followed by the interval of 95 %, unless it is a point.
    """
    whole = text
    for match in claims_files.TEMPLATE.finditer(text):
        name, shown = match[1], match[2] or ""
        if name != "paper":
            form = shown.removesuffix("±")
            several = gathered.numbers[name], *gathered.ends.get(name, ())
            texts = [format(number, form) if form else readable(number) for number in several]
            is_told = shown != form and len({*texts}) > 1  # medians of few values have points
            shown = ("{} ({} to {})" if is_told else "{}").format(*texts).replace("inf", "∞")
        whole = whole.replace(match[0], shown)
    return " ".join(without_tex(whole).split())


def factor(result: Result) -> str:
    """Return by how much a comparison holds or is missed, in words."""
    if not result.comparisons:
        return ""
    if result.equal:
        return "equal within 0.1 %"
    if not result.is_log:
        return f"{readable(result.left)} against {readable(result.right)}"
    if math.isinf(result.left + result.right):
        return "half of the runs or more are undecided"
    size = math.exp(abs(result.estimate))
    number = f"{size:.3f}" if size < 1.1 else readable(size)
    return f"{'holds' if result.estimate <= 0 else 'missed'} by a factor of {number}"


def interval(result: Result) -> str:
    """Return the factor between the sides with its interval of 95 %; at most 1 where it holds."""
    if not result.is_log or not result.comparisons:
        return factor(result)
    ends = (math.exp(number) for number in (result.estimate, result.low, result.high))
    value, low, high = (f"{end:.3f}" if 0.9 < end < 1.1 else readable(end) for end in ends)
    return value if low == high else f"{value} [{low}–{high}]"


def chance(share: float) -> str:
    """Return a chance in words; '' if it is unknown."""
    if math.isnan(share):
        return ""
    return {0: "below 1 %", 100: "above 99 %"}.get(round(100 * share), f"{100 * share:.0f} %")
