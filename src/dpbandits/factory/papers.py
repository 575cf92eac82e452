"""Papers whose figures are reproduced, from papers.bib, as pages and captions cite them.

Other sources of algorithms are in sources.bib.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from dpbandits.spec.figure import OWN as OWN


@dataclass(frozen=True)
class Paper:
    """A paper, or the group of figures that belong to none."""

    key: str
    title: str
    authors: str = ""
    venue: str = ""
    cited: str = ""  # last names of its authors, as in a citation
    year: int = 0
    bibtex: str = ""  # its entry

    @property
    def short(self) -> str:
        """Citation of the paper, as `Azize and Basu 2022`; its title if it has no year."""
        return f"{self.cited} {self.year}" if self.year else self.title


def _read_bibtex(bibtex: str) -> Paper:
    # An entry has a field in every line, and braces within the title alone.
    key = bibtex.partition("{")[2].partition(",")[0]
    field = dict(re.findall(r"^ +(\w+) += \{+(.*?)\}+,?$", bibtex, re.MULTILINE))
    *others, last = field["author"].split(" and ")
    surnames = [author.rpartition(" ")[2] for author in (*others, last)]
    return Paper(
        key,
        field["title"],
        authors=" and ".join(filter(None, (", ".join(others), last))),
        venue=field.get("booktitle") or "{journal} {volume} ({year})".format_map(field),
        cited=" and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al.",
        year=int(field["year"]),
        bibtex=bibtex,
    )


def _entries(file: str) -> tuple[Paper, ...]:
    text = Path(__file__).with_name(file).read_text("utf-8")
    return tuple(map(_read_bibtex, text.strip().split("\n\n")))


SOURCES = _entries("sources.bib")
PAPERS = (
    *_entries("papers.bib"),
    Paper(OWN, "Across the papers", venue="Figures of our own"),
)
BY_KEY = {paper.key: paper for paper in PAPERS}


def paper(key: str) -> Paper:
    """Return the paper of a key; an unknown key gives a paper with the key as its title."""
    return BY_KEY.get(key) or Paper(key, key)
