"""Claims with their verdicts: those of a paper, or those about a figure as it is."""

from functools import cache
from pathlib import Path

from dpbandits.checks import verdicts
from dpbandits.checks.lines import Lines
from dpbandits.checks.verdicts import ClaimResult
from dpbandits.config import claims
from dpbandits.curves import evidence, evidence_records
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store


def of_paper(paper: str) -> list[ClaimResult]:
    """Return the verdicts on all claims of a paper, from the committed evidence alone."""
    return [verdicts.evaluate(claim, committed) for claim in claims.of_paper(paper)]


def about(spec: FigureSpec, store: Store) -> list[ClaimResult]:
    """Return the verdicts on the claims about a figure; none for a changed figure.

    They are judged by the committed evidence if it was computed from the sources of this process,
    or confirmed for them (gather_evidence.py).
    Otherwise the runs of the store take its place: those of the figure, and of other figures that a
    claim is about if all of them are there.
    """
    if spec.changes:
        return []

    @cache
    def lines(figure: str) -> Lines | None:
        of = spec if figure == spec.name else claims.figure_of_claims(figure)
        summaries = committed(figure)
        if summaries is not None and evidence_records.is_current(of):
            return summaries
        runs = of.runs_of_cells()
        if any(store.missing(cell, number) for cell, number in runs.items()):
            return None
        return verdicts.lines_of(of, evidence.of_runs(of, of, store))

    return [verdicts.evaluate(claim, lines) for claim in claims.about(spec.name)]


def committed(figure: str) -> Lines | None:
    """Return the curves of a figure with the committed evidence; None if there is none."""
    return _committed(project.layers(), figure)


@cache
def _committed(layers: tuple[Path, ...], figure: str) -> Lines | None:
    spec = claims.figure_of_claims(figure)
    summaries = evidence.read(spec)
    return None if summaries is None else verdicts.lines_of(spec, summaries)
