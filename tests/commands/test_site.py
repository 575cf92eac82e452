"""The site of the documentation: built without a warning, links alive."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from commands import ROOT

import dpbandits

pytest.importorskip("mkdocs", reason="no MkDocs: pip install -r requirements-docs.lock")
NOTEBOOKS = ("notebooks/play-and-compare/", "notebooks/your-own-algorithm/")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Site as `make docs` builds it."""
    out = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def test_the_site_has_every_page_and_its_links_and_pictures_lead_to_files(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("index.html")}
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        short = name.removesuffix("README").removesuffix("index").rstrip("/")
        assert f"{short}/index.html".lstrip("/") in pages
    checked = 0
    for page in pages:
        text = (site / page).read_text("utf-8")
        for link in re.findall(r'(?:href|src)="([^"#:?]+)(?:[#?][^"]*)?"', text):
            target = (site / page).parent / unquote(link)
            assert (target / "index.html").is_file() or target.is_file(), (page, link)
            checked += 1
    assert checked > 500


def test_the_interface_is_documented_in_full_and_notebooks_are_executed(site: Path) -> None:
    text = (site / "api" / "index.html").read_text("utf-8")
    public = [name for name in dpbandits.__all__ if not name.startswith("_")]
    assert [name for name in public if f'id="dpbandits.{name}"' not in text] == []
    for name in NOTEBOOKS:  # each has a picture that a cell has drawn
        assert 'class="jp-RenderedImage' in (site / name / "index.html").read_text("utf-8")
