"""Claims of the papers: conf/claims/<paper>.yaml, with the words of conf/thresholds.yaml."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dpbandits.config import compose, conf_files
from dpbandits.config.origins import OriginsOfFile
from dpbandits.config.readers.claims import ClaimsReader
from dpbandits.config.section import Section
from dpbandits.files import project
from dpbandits.spec.claims import Claim
from dpbandits.spec.figure import FigureSpec, Panel

THRESHOLDS = "conf/thresholds.yaml"


def papers() -> list[str]:
    """Return the papers that have claims."""
    return project.names("claims")


def of_paper(paper: str) -> tuple[Claim, ...]:
    """Return all claims of a paper, in the order of its file.

    Raises UserError for an invalid one.
    """
    reader, content = _reader(paper)
    return tuple(reader.read(name, claim) for name, claim in content.items())


def about(figure: str) -> tuple[Claim, ...]:
    """Return the claims of all papers about a figure. Raises UserError for an invalid one.

    Claims that are also about figures that this project does not have are left out.
    """
    return tuple(_about(figure))


def _about(figure: str) -> Iterator[Claim]:
    for paper in papers():
        reader, content = _reader(paper)
        for name, claim in content.items():
            named = reader.figures_of(name, claim)
            if figure in named and set(named) <= set(reader.figures):
                yield reader.read(name, claim)


def texts(paper: str) -> Section:
    """Return the texts of a paper's report. Raises UserError for a file that cannot be read."""
    return _file(paper).section("report")


def figure_of_claims(name: str) -> FigureSpec:
    """Return a figure as its file defines it, with the papers' parameters."""
    return _figure(project.layers(), name)


@cache
def _figure(layers: tuple[Path, ...], name: str) -> FigureSpec:
    spec, _ = compose.load(name, [])
    return spec


def thresholds() -> dict[str, tuple[float, str]]:
    """Return the words with a number of this project: the number and its reason."""
    whole = Section(OriginsOfFile("thresholds", THRESHOLDS), conf_files.read_yaml(THRESHOLDS), "")
    read = {}
    for word in whole.content:
        entry = whole.section(word)
        entry.keys(("value", "reason"), ("value", "reason"))
        read[word] = entry.checked(float, "value"), entry.text("reason")
    return read


def _panels(figure: str) -> Sequence[Panel]:
    return figure_of_claims(figure).panels


def _file(paper: str) -> Section:
    file = project.member_file("claims", paper)
    whole = Section(OriginsOfFile(paper, file), conf_files.read_yaml(file), "")
    whole.keys(("claims", "report"))
    return whole


def _reader(paper: str) -> tuple[ClaimsReader, dict[str, Any]]:
    whole = _file(paper)
    words = {word: value for word, (value, _) in thresholds().items()}
    reader = ClaimsReader(whole.origins, project.names("figure"), words, _panels)
    return reader, whole.section("claims").content
