"""The command `report`: gathers evidence if asked to, and writes the pages."""

from collections.abc import Sequence

from dpbandits.config import claims
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.factory.gather_evidence import gather
from dpbandits.factory.papers import PAPERS
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.report import content, pages

FOLDER = "docs/reproducibility"


def report(papers: Sequence[str], gathers: bool) -> int:
    """Write the pages of some papers, or of all, and the page over all; return the exit status.

    With `gathers`, the missing runs of their evidence are computed first. Raises UserError for an
    unknown paper, or evidence that cannot be read.
    """
    known = claims.papers()
    for paper in papers:
        if paper not in known:
            raise UserError(f"{shown(paper)} has no claims; {nearest(paper, known)}")
    chosen = list(papers) or known
    if gathers:
        figures = [f for paper in chosen for c in claims.of_paper(paper) for f in c.figures]
        for figure in dict.fromkeys(figures):
            if status := gather(figure):
                return status
    for name, text in texts(chosen).items():
        write_atomically(project.folder() / FOLDER / name, text.encode())
        print(f"{FOLDER}/{name}")
    return 0


def texts(papers: Sequence[str]) -> dict[str, str]:
    """Return the page of each of these papers, and that over all papers, by their file names."""
    order = [paper.key for paper in PAPERS]
    known = [key for key in order if key in claims.papers()]
    known += [key for key in claims.papers() if key not in order]
    reports = {paper: content.read(paper) for paper in known}
    written = {f"{paper}.md": pages.of_paper(reports[paper]) for paper in papers}
    return written | {"README.md": pages.index(reports.values())}
