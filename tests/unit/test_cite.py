"""BibTeX of the project and of the papers that figures and algorithms come from."""

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import ROOT
from package_urls import PackageUrls
from pybtex.database import parse_string

from dpbandits.cli.listing import cite
from dpbandits.factory.papers import OURS, PAPERS, SOURCES, paper
from dpbandits.files import project
from dpbandits.kernel import roots
from dpbandits.kernel.errors import UserError

ENTRY = re.compile(r"@(\w+)\{([\w-]+),\n(?:  \w+ *= \{.*\},?\n)+\}\n")
KEYS = [paper.key for paper in PAPERS if paper.key not in OURS]


@pytest.mark.parametrize(
    ("names", "papers"),
    [
        ((), {*KEYS}),
        (("azize2022",), {"azize2022"}),
        (("adap-klucb",), {"azize2022"}),
        (("klucb",), {"garivier2011"}),
        (("uniform",), set()),
        (("adap-c2",), {"azize2022", "sajed2019", "mishra2015"}),
        (("ftpl-pure-dp",), {"wang2024", "tossou2016"}),
        (project.names("figure"), {*KEYS}),
    ],
)
def test_names_stand_for_their_papers_and_nothing_but_entries_is_printed(
    names: tuple[str, ...], papers: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    cite(names)
    out = capsys.readouterr().out
    assert ENTRY.sub("", out).strip() == ""
    first, *found = [key for _, key in ENTRY.findall(out)]
    assert first == "dpbandits"
    assert papers <= {*found}
    assert papers or not found


def test_bibtex_reads_every_entry_and_every_author(capsys: pytest.CaptureFixture[str]) -> None:
    cite(())
    entries = parse_string(capsys.readouterr().out, "bibtex").entries
    assert {*entries} == {"dpbandits", *KEYS, *(source.key for source in SOURCES)}
    needed = {
        "inproceedings": {"booktitle", "year"},
        "article": {"journal", "volume", "year"},
        "book": {"publisher", "year"},
    }
    for key, entry in entries.items():
        assert {"title", *needed.get(entry.type, {"version", "year"})} <= {*entry.fields}, key
        authors = entry.persons["author"]
        assert key == "dpbandits" or all(len(p.last_names) == 1 for p in authors), key


@pytest.mark.parametrize("name", project.names("algorithm"))
def test_every_source_that_an_algorithm_names_is_cited(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cite([name])
    found = {key for _, key in ENTRY.findall(capsys.readouterr().out)} - {"dpbandits"}
    assert found or name == "uniform"
    years = {str(paper.year) for paper in (*PAPERS, *SOURCES) if paper.key in found}
    content = (ROOT / "conf" / "algorithm" / f"{name}.yaml").read_text("utf-8")
    (member,) = re.findall(r"^(?:algorithm|rule): (\S+)", content, re.MULTILINE)
    (file,) = (ROOT / "src" / "dpbandits").glob(f"[as]*/{member.replace('-', '_')}.py")
    text = ast.get_docstring(ast.parse(Path(file).read_text("utf-8"))) or ""
    assert {*re.findall(r"\b(?:19|20)\d\d\b", text)} <= years


def test_a_figure_cites_those_of_the_figure_that_it_extends(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    yaml = "defaults: [adap-c2, { /algorithm@curves.other: imed }, _self_]\n"
    (checkout / "conf" / "figure" / "mine.yaml").write_text(yaml, "utf-8")
    cite(["mine"])
    found = {key for _, key in ENTRY.findall(capsys.readouterr().out)}
    assert {"azize2022", "sajed2019", "mishra2015", "honda2015"} <= found


def test_a_citation_has_one_or_two_names_and_a_year_else_it_is_a_title() -> None:
    cited = {"azize2022": "Azize and Basu 2022", "ren2020": "Ren et al. 2020", "mine": "mine"}
    assert {key: paper(key).short for key in cited} == cited
    assert [paper(key).short for key in OURS] == ["Across the papers", "Results of our own"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"'adap-c22' is not a figure, paper or algorithm; did you"):
        cite(["adap-c22"])


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File of the papers of a project."""
    found = roots.discovery()._replace(project=roots.Root("mine", tmp_path))
    monkeypatch.setattr(roots, "discovery", lambda: found)
    return tmp_path / "references.bib"


BIBLIOGRAPHY = r"""% as a reference manager writes it
@Article{mine2026, Author={M{\"u}ller, J. and Ludwig van Beethoven},
  Title = "A \& {B} at 5\%", journal={J}, year=2026, month=jan}
@misc{untitled, year=2020}
@misc{nobody, title={An Untitled Report}}
"""


def test_a_project_cites_the_entries_of_its_own_file(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own.write_text(BIBLIOGRAPHY, "utf-8")
    mine = paper("mine2026")
    assert (mine.short, mine.title) == ("Müller and van Beethoven 2026", "A & B at 5%")
    assert (mine.authors, mine.venue) == ("J. Müller and Ludwig van Beethoven", "J (2026)")
    assert (paper("nobody").short, paper("unknown").short) == ("An Untitled Report", "unknown")
    cite(["mine2026"])
    entries = parse_string(capsys.readouterr().out, "bibtex").entries
    assert [*entries] == ["dpbandits", "mine2026"]
    again, once = entries["mine2026"], parse_string(BIBLIOGRAPHY, "bibtex").entries["mine2026"]
    assert again.persons["author"] == once.persons["author"]
    assert {*again.fields.items()} == {(name.lower(), text) for name, text in once.fields.items()}


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        (BIBLIOGRAPHY, "untitled", "references.bib: untitled has no title"),
        ("@misc{a, title={b", "a", "references.bib cannot be read as BibTeX: PrematureEOF: syn"),
        ("@misc{a, title=b}", "a", "undefined string in line 1: b"),
        ("@misc{a,title={b}} @misc{a,title={c}}", "a", "repeated bibliography entry: a"),
        (BIBLIOGRAPHY, "mine2025", "did you mean 'mine2026'?; papers of yours: references.bib"),
    ],
)
def test_a_bibliography_that_cannot_be_used_is_refused_in_one_line(
    own: Path, content: str, name: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own.write_text(content, "utf-8")
    with pytest.raises(UserError) as caught:
        cite([name])
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().out == ""


def people(authors: list[dict[str, str]]) -> str:
    names = [f"{author['given-names']} {author['family-names']}" for author in authors]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def test_the_citation_file_agrees_with_the_project_and_its_papers() -> None:
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (content["version"], content["license"]) == (own["version"], own["license"])
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    latest, *_ = re.findall(r"^## (\S+) - (\S+)$", changes, re.MULTILINE)
    assert latest == (content["version"], str(content["date-released"]))
    deposit = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
    for key in ("title", "license", "keywords"):
        assert deposit[key] == content[key]
    assert [{"name": author["name"]} for author in content["authors"]] == deposit["creators"]
    papers = {paper.title: paper.authors for paper in PAPERS if paper.key not in OURS}
    assert {of["title"]: people(of["authors"]) for of in content["references"]} == papers
    assert "Aymen Al Marjani and Debabrota Basu" in paper("azize2023").authors


@pytest.mark.parametrize("repository", ["", "https://example.org/dpbandits"])
def test_the_package_names_its_repository_once_it_is_known(repository: str) -> None:
    metadata: dict[str, Any] = {}
    PackageUrls(str(ROOT), {"repository": repository}).update(metadata)
    assert [*metadata["urls"].values()] == [repository] * bool(repository)
