"""BibTeX of the project and of the papers that figures and algorithms come from."""

import re
import tomllib

import pytest
import yaml
from commands import ROOT

from dpbandits.cli.listing import cite
from dpbandits.factory.papers import OWN, PAPERS
from dpbandits.files import project
from dpbandits.kernel.errors import UserError

ENTRY = re.compile(r"@(\w+)\{([\w-]+),\n(?:  \w+ *= \{.*\},?\n)+\}\n")
KEYS = [paper.key for paper in PAPERS if paper.key != OWN]


@pytest.mark.parametrize(
    ("names", "papers"),
    [
        ((), {*KEYS}),
        (("azize2022",), {"azize2022"}),
        (("adap-klucb",), {"azize2022"}),
        (("klucb",), set()),
        (("adap-c2",), {"azize2022", "sajed2019"}),
        (("ftpl-pure-dp",), {"wang2024", "tossou2016"}),
        (project.names("figure"), {*KEYS} - {"honda2015"}),
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


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"'adap-c22' is not a figure, paper or algorithm; did you"):
        cite(["adap-c22"])


def test_the_citation_file_agrees_with_the_project_and_its_papers() -> None:
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    own = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (content["version"], content["license"]) == (own["version"], own["license"])
    titles = {paper.title for paper in PAPERS if paper.key != OWN}
    assert {reference["title"] for reference in content["references"]} == titles
