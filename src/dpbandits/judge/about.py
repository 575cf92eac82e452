"""Claims about a figure with their verdicts: committed ones, or those of the figure's own runs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from dpbandits.core.errors import UserError
from dpbandits.judge import reader, table
from dpbandits.judge.figures import Figures
from dpbandits.judge.resampled import Resampler
from dpbandits.judge.texts import factor, filled
from dpbandits.judge.verdicts import Judge, Judged
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store


class About(NamedTuple):
    """Claim about a figure, in words."""

    judged: Judged
    verdict: str
    numbers: str  # by how much the decisive comparison holds or is missed
    because: str
    is_own: bool  # judged by the figure's own runs, not by the committed results


def about(spec: FigureSpec, store: Store) -> list[About]:
    """Return the claims about a figure with their verdicts.

    Committed results are quoted for a figure as its file describes it. A changed figure is judged
    by its own runs, as is one whose results are stale; then only claims about it alone are.
    """
    return [each for name in reader.papers() for each in _of_paper(name, spec, store)]


def _of_paper(name: str, spec: FigureSpec, store: Store) -> Iterator[About]:
    paper = reader.read(name)
    names = [claim for claim in paper.claims() if spec.name in paper.figures(claim)]
    gathered = None if spec.changes or not names else table.read(name)
    if gathered is not None and not table.stale(gathered, [spec]):
        for judged in (gathered.claims[claim] for claim in names):
            because = filled(judged.claim.because, gathered)
            yield About(judged, judged.status, factor(judged.drawn), because, is_own=False)
        return
    runs = spec.runs_of_cells()
    if any(store.missing(cell, number) for cell, number in runs.items()):
        return
    theirs = Resampler(store, runs, paper.runs or 1)
    judge = Judge(Figures(paper, spec), Resampler(store, runs), theirs)
    for claim in names:
        if paper.figures(claim) == [spec.name] and (paper.claims()[claim].holds):
            try:
                judged = judge.judge(Judged(paper, claim), [{}])
            except UserError:  # a curve or panel that a changed figure no longer has
                continue
            yield About(judged, judged.verdict.value, factor(judged.drawn), "", is_own=True)


def count(claims: Iterable[About]) -> dict[str, int]:
    """Return the number of distinct sentences by the word of their verdict."""
    return dict(Counter({e.judged.id: e.verdict for e in claims if e.judged.is_sentence}.values()))


def as_json(claims: Iterable[About]) -> list[dict[str, Any]]:
    """Return the claims and verdicts as JSON values."""
    return [
        {
            "claim": each.judged.id,
            "is_sentence": each.judged.is_sentence,
            "text": each.judged.claim.quote or each.judged.claim.says,
            "section": each.judged.claim.section,
            "verdict": each.verdict,
            "numbers": each.numbers,
            "because": each.because,
            "part": each.judged.claim.part or None,
            "judged_by": "own runs" if each.is_own else "committed results",
        }
        for each in claims
    ]
