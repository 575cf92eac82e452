"""README.md and docs/figures.md state the figures and the results as the references have them."""

import re

import make_readme
import pytest
from commands import FIGURES, ROOT

README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize("file", make_readme.TABLES)
def test_a_table_is_the_one_that_the_script_writes(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    assert make_readme.with_table(file) == text, "python scripts/make_readme.py"


def test_every_figure_is_listed() -> None:
    listed = (ROOT / "docs" / "figures.md").read_text("utf-8")
    assert all(f"| `{figure}` |" in listed for figure in FIGURES)


def test_its_links_lead_to_existing_files() -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[\w-]*)?\)", README)
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_its_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+)(?:-%)?:", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert named
    assert named <= targets
