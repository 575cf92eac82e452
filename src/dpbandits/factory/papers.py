"""Papers whose figures are reproduced, from papers.bib, as pages and captions cite them.

Other sources of algorithms are in sources.bib, those of a user's project in its references.bib.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pybtex.database import Entry, Person, parse_string
from pybtex.exceptions import PybtexError
from pybtex.richtext import Text

from dpbandits.kernel import roots
from dpbandits.kernel.errors import UserError, in_one_line
from dpbandits.spec.figure import OURS as OURS
from dpbandits.spec.figure import OWN as OWN
from dpbandits.spec.figure import RESULTS

REFERENCES = "references.bib"  # beside dpbandits.toml


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
        """Citation of the paper, as `Azize and Basu 2022`; its title without authors or year."""
        return f"{self.cited} {self.year}" if self.cited and self.year else self.title


def _paper(key: str, entry: Entry, file: str) -> Paper:
    fields, year = entry.fields, entry.fields.get("year", "")
    if "title" not in fields:
        raise UserError(f"{file}: {key} has no title")
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    *others, last = [*map(_name, people)] or [""]
    surnames = [_plain(" ".join(person.prelast_names + person.last_names)) for person in people]
    journal = " ".join(fields[name] for name in ("journal", "volume") if name in fields)
    return Paper(
        key,
        _plain(fields["title"]),
        authors=" and ".join(filter(None, (", ".join(others), last))),
        venue=_plain(fields.get("booktitle") or (f"{journal} ({year})" if journal else year)),
        cited=" and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al.",
        year=int(year) if year.isdecimal() else 0,
        bibtex=_written(key, entry),
    )


def _plain(latex: str) -> str:
    return str(Text.from_latex(latex))


def _name(of: Person) -> str:
    first, last = of.first_names + of.middle_names, of.prelast_names + of.last_names
    return _plain(" ".join(first + last + of.lineage_names))


def _written(key: str, entry: Entry) -> str:
    # Not by pybtex, which escapes what is escaped already: `\&` would become `\\&`.
    people = {role: " and ".join(map(str, persons)) for role, persons in entry.persons.items()}
    fields = {"title": "", **{k.lower(): v for k, v in {**people, **entry.fields}.items()}}
    width = max(map(len, fields))
    lines = (f"  {name:<{width}} = {{{value}}}" for name, value in fields.items())
    return f"@{entry.type}{{{key},\n" + ",\n".join(lines) + "\n}"


@cache
def _entries(text: str, file: str) -> Mapping[str, Entry]:
    try:
        return parse_string(text, "bibtex").entries
    except PybtexError as error:
        raise UserError(f"{file} cannot be read as BibTeX: {in_one_line(error)}") from None


def _shipped(file: str) -> tuple[Paper, ...]:
    text = Path(__file__).with_name(file).read_text("utf-8")
    return tuple(_paper(key, entry, file) for key, entry in _entries(text, file).items())


SOURCES = _shipped("sources.bib")
PAPERS = (
    *_shipped("papers.bib"),
    Paper(OWN, "Across the papers", venue="Figures of our own"),
    Paper(RESULTS, "Results of our own", venue="Questions that no paper asks"),
)
BY_KEY = {paper.key: paper for paper in PAPERS}


def of_project() -> Mapping[str, Entry]:
    """Return the entries of the project's references.bib, none without one.

    Raises UserError for a file that cannot be read.
    """
    project = roots.discovery().project
    try:
        text = (project.folder / REFERENCES).read_text("utf-8") if project else ""
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"{REFERENCES} cannot be read: {in_one_line(error)}") from None
    return _entries(text, REFERENCES)


def paper(key: str) -> Paper:
    """Return the paper of a key; one without an entry has the key as its title.

    Raises UserError for an entry without a title and for a references.bib that cannot be read.
    """
    if shipped := BY_KEY.get(key):
        return shipped
    entry = of_project().get(key)
    return Paper(key, key) if entry is None else _paper(key, entry, REFERENCES)
