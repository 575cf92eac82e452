"""The site of the documentation: built without a warning, links alive, readable in a browser.

Skipped where MkDocs (`pip install -r requirements-docs.lock`) is not installed; the tests in a
browser also where Playwright or Chromium is not.
"""

import functools
import http.server
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import make_commands
import make_configuration
import pytest
import site_gallery
from commands import ROOT

pytest.importorskip("mkdocs", reason="no MkDocs: pip install -r requirements-docs.lock")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NOTEBOOKS = ("notebooks/play-and-compare/", "notebooks/your-own-algorithm/")
PAGES = (
    "",
    "start/",
    "tutorials/change-a-figure/",
    "tutorials/audit/",
    "gallery/",
    "projects/",
    "verify/",
    "commands/",
    "api/",
    "figures/",
    "deviations/",
    *NOTEBOOKS,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Site as `make docs` builds it."""
    out = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def test_the_page_of_commands_is_the_one_that_the_script_writes() -> None:
    assert make_commands.FILE.read_text("utf-8") == make_commands.page(), "make_commands.py"


def test_the_page_of_configuration_keys_is_that_of_the_code() -> None:
    assert make_configuration.FILE.read_text("utf-8") == make_configuration.page()


def test_every_page_of_the_documentation_is_on_the_site(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("index.html")}
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        short = name.removesuffix("README").removesuffix("index").rstrip("/")
        assert f"{short}/index.html".lstrip("/") in pages


def test_its_links_and_pictures_lead_to_files(site: Path) -> None:
    checked = 0
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its links are relative to the host
            continue
        text = page.read_text("utf-8")
        for link in re.findall(r'(?:href|src)="([^"#:?]+)(?:[#?][^"]*)?"', text):
            target = page.parent / unquote(link)
            assert (target / "index.html").is_file() or target.is_file(), (page, link)
            checked += 1
    assert checked > 500


def test_the_interface_is_documented_in_full(site: Path) -> None:
    import dpbandits

    text = (site / "api" / "index.html").read_text("utf-8")
    public = [name for name in dpbandits.__all__ if not name.startswith("_")]
    assert [name for name in public if f'id="dpbandits.{name}"' not in text] == []


def test_the_site_has_the_gallery_where_there_is_one(tmp_path: Path) -> None:
    site, page = tmp_path / "site", SimpleNamespace(file=SimpleNamespace(src_uri="gallery.md"))
    config = {"config_file_path": str(tmp_path / "mkdocs.yml"), "site_dir": str(site)}
    without = site_gallery.on_page_markdown("Text\n<!-- gallery -->", page, config)
    site_gallery.on_post_build(config)
    assert "href" not in without
    assert not site.exists()
    (tmp_path / "out" / "gallery").mkdir(parents=True)
    (tmp_path / "out" / "gallery" / "index.html").write_text("figures")
    text = site_gallery.on_page_markdown("Text\n<!-- gallery -->", page, config)
    site_gallery.on_post_build(config)
    (link,) = re.findall('href="([^"]+)"', text)
    assert (site / "gallery" / link).read_text() == "figures"


def test_the_page_of_the_gallery_has_the_mark_of_its_link() -> None:
    assert (ROOT / "docs" / "gallery.md").read_text("utf-8").count(site_gallery.MARK) == 1


def test_the_notebooks_are_executed(site: Path) -> None:
    for name in NOTEBOOKS:
        text = (site / name / "index.html").read_text("utf-8")
        assert 'class="jp-RenderedImage' in text  # a picture that a cell has drawn
    assert "has the lowest regret" in (site / NOTEBOOKS[0] / "index.html").read_text("utf-8")


# In a browser ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Address of a server of the site on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright")
    if not CHROMIUM:
        pytest.skip("no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_pages_fit_without_errors_or_other_hosts(
    width: int, scheme: str, chromium: Any, address: str
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on(
        "request", lambda r: None if r.url.startswith((address, "data:")) else errors.append(r.url)
    )
    backgrounds = set()
    for path in PAGES:
        page.goto(address + path)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{path} is {wide} pixels too wide"
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    context.close()
    assert errors == []
    assert len(backgrounds) == 1
    brightness = sum(map(int, re.findall(r"\d+", backgrounds.pop())[:3]))
    assert (brightness > 600) == (scheme == "light")


def test_the_search_finds_a_page(chromium: Any, address: str) -> None:
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(address)
    # Typed, not filled in: the page may not listen yet, and only looks again at the next key.
    box = page.locator("input.md-search__input")
    box.click()
    box.press_sequentially("entry points", delay=50)
    page.wait_for_selector(".md-search-result__link")
    links = [
        each.get_attribute("href") for each in page.query_selector_all(".md-search-result__link")
    ]
    context.close()
    assert any("projects" in link for link in links)
