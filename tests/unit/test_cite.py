"""BibTeX of the project and of the papers that figures and algorithms come from."""

import re
import tomllib
from importlib.metadata import version

import pytest
import yaml
from commands import ROOT

from dpbandits.cli.cite import cite
from dpbandits.core.errors import UserError
from dpbandits.factory.papers import OWN, PAPERS
from dpbandits.files import project

ENTRY = re.compile(r"@(\w+)\{([\w-]+),\n((?:  \w+ *= \{.*\},?\n)+)\}\n")
NEEDED = {
    "inproceedings": {"title", "author", "booktitle", "year"},
    "article": {"title", "author", "journal", "year"},
    "software": {"title", "author", "version", "note"},
}


def entries(capsys: pytest.CaptureFixture[str], *names: str) -> dict[str, dict[str, str]]:
    """Return the fields of every entry that is printed, by its key."""
    assert cite(names) == 0
    out = capsys.readouterr().out
    assert ENTRY.sub("", out).strip() == ""  # nothing but entries
    found: dict[str, dict[str, str]] = {}
    for kind, key, body in ENTRY.findall(out):
        assert key not in found
        pairs = (line.strip().rstrip(",").partition("=") for line in body.splitlines())
        found[key] = {name.strip(): text.strip()[1:-1] for name, _, text in pairs}
        assert NEEDED[kind] <= found[key].keys()
        assert all(text.count("{") == text.count("}") for text in found[key].values())
    return found


def test_without_names_all_papers_are_cited(capsys: pytest.CaptureFixture[str]) -> None:
    found = entries(capsys)
    assert [*found] == ["dpbandits", *(paper.key for paper in PAPERS if paper.key != OWN)]
    assert found["dpbandits"]["version"] == version("dpbandits")
    assert found["wang2024"]["journal"] == "Journal of Machine Learning Research"


@pytest.mark.parametrize(
    ("name", "papers"),
    [
        ("azize2022", {"azize2022"}),
        ("adap-klucb", {"azize2022"}),
        ("klucb", set()),
        ("adap-c2", {"azize2022", "sajed2019"}),
        ("ftpl-pure-dp", {"wang2024", "tossou2016"}),
    ],
)
def test_a_name_stands_for_its_papers(
    name: str, papers: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = entries(capsys, name)
    assert papers <= found.keys() - {"dpbandits"}
    assert papers or [*found] == ["dpbandits"]


@pytest.mark.parametrize("figure", project.names("figure"))
def test_every_figure_can_be_cited(figure: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "dpbandits" in entries(capsys, figure)


def test_an_algorithm_without_a_paper_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cite(["klucb", "dp-se"]) == 0
    err = capsys.readouterr().err
    assert err == "dpbandits: klucb has no paper: conf/algorithm/klucb.yaml names none\n"


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"'adap-c22' is not a figure, paper or algorithm; did you"):
        cite(["adap-c22"])


def test_the_citation_file_states_the_version_of_the_project() -> None:
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    needed = {"cff-version", "message", "title", "authors", "version", "license", "references"}
    assert needed <= content.keys()
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (content["version"], content["license"]) == (own["version"], own["license"])
    titles = {paper.title for paper in PAPERS if paper.key != OWN}
    assert {reference["title"] for reference in content["references"]} == titles
