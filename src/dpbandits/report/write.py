"""The command `report`: gathers evidence if asked to, and writes the pages."""

from collections.abc import Sequence

from dpbandits.config import claims
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.roots import PROJECT
from dpbandits.factory.gather_evidence import confirm, gather
from dpbandits.factory.papers import PAPERS
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.report import content, pages

FOLDER = "docs/reproducibility"


def report(names: Sequence[str], gathers: bool, confirms: bool = False) -> int:
    """Write the pages of some papers, or of all, and the page over all; return the exit status.

    With `gathers`, the missing runs of their evidence are computed first, and a name may also be a
    figure's: then only that figure's evidence is gathered, and the pages of the papers with claims
    about it are written. With `confirms`, evidence is confirmed in the same way; pages are written
    if all of it is. Raises UserError for both together, an unknown name, or evidence that cannot be
    read.
    """
    if gathers and confirms:
        raise UserError("report takes --gather or --confirm, not both")
    about = {paper: _figures_of(paper) for paper in _papers()}
    if not about:
        raise UserError(
            "report: this project has no claims of its own, conf/claims/<paper>.yaml; the reports"
            " of dpbandits are in docs/reproducibility/ of its repository"
        )
    every = {figure for figures in about.values() for figure in figures}
    valid = [*about, *(sorted(every) if gathers or confirms else ())]
    for name in names:
        if name not in valid:
            raise UserError(f"{shown(name)} has no claims; {nearest(name, valid)}")
    asked = set(names) or set(about)
    chosen = [paper for paper in about if asked & {paper, *about[paper]}]
    figures = [figure for paper in chosen for figure in about[paper] if asked & {paper, figure}]
    figures = list(dict.fromkeys(figures))
    if gathers and (status := gather(figures)):
        return status
    if confirms and (status := max(map(confirm, figures), default=0)):
        return status
    for name, text in texts(chosen).items():
        write_atomically(project.folder() / FOLDER / name, text.encode(), remedy="")
        print(f"{FOLDER}/{name}")
    return 0


def _papers() -> list[str]:
    # The papers with claims; in a project of the user, those with claims of the project's own.
    every = claims.papers()
    if PROJECT is None:
        return every
    return [paper for paper in every if project.home("claims", paper) == PROJECT.folder]


def _figures_of(paper: str) -> list[str]:
    # The figures that the paper's claims are about.
    return list(dict.fromkeys(f for claim in claims.of_paper(paper) for f in claim.figures))


def texts(papers: Sequence[str]) -> dict[str, str]:
    """Return the page of each of these papers, and that over all papers, by their file names."""
    order = [paper.key for paper in PAPERS]
    every = _papers()
    known = [key for key in order if key in every]
    known += [key for key in every if key not in order]
    reports = {paper: content.read(paper) for paper in known}
    written = {f"{paper}.md": pages.of_paper(reports[paper]) for paper in papers}
    return written | {"README.md": pages.index(reports.values())}
