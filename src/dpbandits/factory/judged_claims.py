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
        if (current := _current(spec, figure)) is not None:
            return current
        of = _figure(spec, figure)
        runs = of.runs_of_cells()
        if any(store.missing(cell, number) for cell, number in runs.items()):
            return None
        return verdicts.lines_of(of, evidence.of_runs(of, of, store))

    return [verdicts.evaluate(claim, lines) for claim in claims.about(spec.name)]


def before_runs(spec: FigureSpec) -> list[ClaimResult] | None:
    """Return the verdicts of `about`, or None if they depend on runs of the store."""
    if spec.changes:
        return []
    needed = claims.about(spec.name)
    figures = {test.figure for claim in needed for r in claim.readings for test in r.tests}
    lines = {figure: _current(spec, figure) for figure in figures}
    if None in lines.values():
        return None
    return [verdicts.evaluate(claim, lines.get) for claim in needed]


def _current(spec: FigureSpec, figure: str) -> Lines | None:
    # Returns the committed evidence of a figure if it is valid for the sources of this process.
    lines = committed(figure)
    current = lines is not None and evidence_records.is_current(_figure(spec, figure))
    return lines if current else None


def _figure(spec: FigureSpec, figure: str) -> FigureSpec:
    return spec if figure == spec.name else claims.figure_of_claims(figure)


def committed(figure: str) -> Lines | None:
    """Return the curves of a figure with the committed evidence; None if there is none."""
    return _committed(project.layers(), figure)


@cache
def _committed(layers: tuple[Path, ...], figure: str) -> Lines | None:
    spec = claims.figure_of_claims(figure)
    summaries = evidence.read(spec)
    return None if summaries is None else verdicts.lines_of(spec, summaries)
