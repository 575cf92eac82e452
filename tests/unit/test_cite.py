"""BibTeX of the project and of the papers that figures and algorithms come from."""

import re
import tomllib

import pytest
import yaml
from commands import ROOT

from dpbandits.cli.listing import cite
from dpbandits.core.errors import UserError
from dpbandits.factory.papers import OWN, PAPERS, paper
from dpbandits.files import project

ENTRY = re.compile(r"@(\w+)\{([\w-]+),\n(?:  \w+ *= \{.*\},?\n)+\}\n")


def cited(capsys: pytest.CaptureFixture[str], *names: str) -> list[str]:
    """Return the keys of the entries that are printed, which is nothing but entries."""
    assert cite(names) == 0
    out = capsys.readouterr().out
    assert ENTRY.sub("", out).strip() == ""
    assert out.count("{") == out.count("}")
    return [key for _, key in ENTRY.findall(out)]


def test_without_names_all_papers_are_cited(capsys: pytest.CaptureFixture[str]) -> None:
    assert cited(capsys) == ["dpbandits", *(paper.key for paper in PAPERS if paper.key != OWN)]


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
    found = {*cited(capsys, name)}
    assert papers | {"dpbandits"} <= found
    assert papers or found == {"dpbandits"}


def test_every_figure_can_be_cited(capsys: pytest.CaptureFixture[str]) -> None:
    for figure in project.names("figure"):
        assert "dpbandits" in cited(capsys, figure)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"'adap-c22' is not a figure, paper or algorithm; did you"):
        cite(["adap-c22"])


def test_a_paper_is_cited_by_the_last_names_of_its_authors() -> None:
    assert paper("azize2022").short == "Azize and Basu 2022"
    assert paper("ren2020").short == "Ren et al. 2020"
    assert paper("wang2024").venue == "Journal of Machine Learning Research 25 (2024)"


def test_the_citation_file_agrees_with_the_project_and_its_papers() -> None:
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (content["version"], content["license"]) == (own["version"], own["license"])
    titles = {paper.title for paper in PAPERS if paper.key != OWN}
    assert {reference["title"] for reference in content["references"]} == titles
