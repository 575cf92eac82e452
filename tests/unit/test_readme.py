"""README.md states the results of the figures as the references have them."""

import re

import make_readme
import pytest
from commands import FIGURES, ROOT

README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_the_table_of_figures_is_the_one_that_the_script_writes() -> None:
    assert make_readme.with_tables(README) == README, "python scripts/make_readme.py"
    assert all(f"| `{figure}` |" in README for figure in FIGURES)


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
