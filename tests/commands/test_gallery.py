"""The gallery as files: its pages, the numbers on them, and its behaviour if something is wrong."""

import re
import shutil
from collections import Counter
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from commands import FIGURES, ROOT
from matplotlib.figure import Figure

from dpbandits import gallery
from dpbandits.drawing import plotting
from dpbandits.factory import papers, stored_results
from dpbandits.gallery import algorithms
from dpbandits.judge import about, claims_files
from dpbandits.kernel import registry
from dpbandits.privacy import table
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.run import ExitStatus

MEMBERS = [*registry.algorithm_names(), *registry.stopping_rule_names()]
DRAWN = "adap-headline"
EVIL = "<script>alert('&')</script>"
Loaded = dict[str, stored_results.Result]


class Page:
    """Page of a gallery."""

    def __init__(self, path: Path) -> None:
        self.path, self.html = path, path.read_text("utf-8")
        self.text = unescape(re.sub(r"<[^>]*>", "", self.html))
        self.ids = re.findall(r'\bid="([^"]*)"', self.html)
        self.links = [unescape(a) for a in re.findall(r'\b(?:href|src)="([^"]*)"', self.html)]

    def parts(self, tag: str, cls: str = "") -> list[str]:
        """Return the texts of the elements of a tag, with this class."""
        pattern = rf'<{tag}\b[^>]*class="[^"]*\b{cls}\b[^"]*"' if cls else rf"<{tag}\b"
        found = re.findall(rf"{pattern}[^>]*>(.*?)</{tag}>", self.html, re.DOTALL)
        return [" ".join(unescape(re.sub(r"<[^>]*>", "", part)).split()) for part in found]


def read(folder: Path) -> dict[str, Page]:
    """Return every page of a gallery, whose links must lead to files in it."""
    pages = {p.relative_to(folder).as_posix(): Page(p) for p in sorted(folder.rglob("*.html"))}
    for page in pages.values():
        assert len(page.ids) == len(set(page.ids)), page.path
        for link in page.links:
            parts = urlsplit(link)
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            if link != "data:,":  # no icon
                assert not parts.scheme + parts.netloc, (page.path, link)
                assert target.is_file(), (page.path, link)
                name = target.relative_to(folder).as_posix()
                assert not parts.fragment or unquote(parts.fragment) in pages[name].ids, link
    return pages


# Stand-ins for what is slow and tested elsewhere --------------------------------------------------

mark, rows = cache(algorithms._mark), cache(lambda *names: table.rows(names))


def replace_pictures(patch: pytest.MonkeyPatch) -> None:
    """Let figures have empty pictures, and share budgets and the marks of lines."""

    def without_ink(draw: Any, drawing: Any, keywords: str, look: Any = None) -> dict[str, bytes]:
        look(Figure((1, 1)))
        return {"pdf": b"%PDF-", "svg": b"<svg/>", "png": b"\x89PNG"}

    patch.setattr(plotting, "render", without_ink)
    patch.setattr(table, "tight_epsilon", lambda *composed: 0.5 * composed_epsilon(*composed))
    patch.setattr(algorithms, "rows", lambda names: rows(*names))
    patch.setattr(algorithms, "_mark", mark)


# All figures --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    """Results of all figures, as the gallery of all figures has loaded them."""
    return {}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, loaded: Loaded) -> Path:
    """Gallery of all figures, with empty pictures."""
    folder, load = tmp_path_factory.mktemp("gallery") / "whole", stored_results.load

    def recorded(figure: str, overrides: Any = ()) -> stored_results.Result:
        loaded[figure] = load(figure, overrides)
        return loaded[figure]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        replace_pictures(patch)
        patch.setattr(stored_results, "load", recorded)
        assert gallery.build(folder) == 0
    return folder


@pytest.fixture(scope="module")
def pages(whole: Path) -> dict[str, Page]:
    return read(whole)


def test_every_figure_algorithm_rule_and_paper_has_a_page_and_every_page_a_link(
    pages: dict[str, Page], whole: Path
) -> None:
    names = {f"figures/{name}.html" for name in FIGURES}
    names |= {f"algorithms/{name}.html" for name in MEMBERS}
    names |= {f"reproducibility-{paper}.html" for paper in claims_files.papers()}
    names |= {"index.html", "deviations.html"}
    assert names <= pages.keys()
    assert all(name.startswith("sources/") for name in pages.keys() - names)
    linked = {
        (page.path.parent / unquote(urlsplit(link).path)).resolve()
        for page in pages.values()
        for link in page.links
        if urlsplit(link).path
    }
    assert {page.path for page in pages.values()} - {whole / "index.html"} <= linked
    index = pages["index.html"]
    assert all(f"paper-{p.key}" in index.ids and p.title in index.text for p in papers.PAPERS)
    for asset in (whole / "assets").iterdir():  # nothing is loaded from elsewhere
        assert not re.search(r"https?:|@import|url\(", asset.read_text())


def test_pages_have_the_verdicts_of_the_judge_and_the_numbers_of_claims(
    pages: dict[str, Page], loaded: Loaded
) -> None:
    for name in FIGURES:
        page, claims = pages[f"figures/{name}.html"], loaded[name].claims
        if counts := about.count(claims):
            words = " ".join(f"{number} {word}" for word, number in counts.items())
            assert page.parts("p", "intro")[0] == words
        assert {f"claim-{claim.judged.name}" for claim in claims} <= {*page.ids}
        assert all(claim.numbers in page.text for claim in claims)
        folder = page.path.with_suffix("")
        assert {path.name.removeprefix(name) for path in folder.iterdir()} == {
            *(".pdf", ".svg", ".dark.svg", ".png", ".csv", ".txt", ".yaml")
        }
    rows = re.findall(r'<tr[^>]* data-verdicts="([^"]*)"', pages["index.html"].html)
    every = {c.judged.id: c.verdict for name in FIGURES for c in loaded[name].claims}
    assert Counter(row.replace("-", " ") for row in rows) == Counter(every.values())


# Faults -------------------------------------------------------------------------------------------


@pytest.fixture
def project(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Project of three figures, one of which has a reference; without claims or a cache."""
    shutil.rmtree(checkout / "conf" / "claims")
    for path in (checkout / "conf" / "figure").glob("*.yaml"):
        if path.stem not in (DRAWN, "adap-c1", "lower-bounds"):
            path.unlink()
    reference = Path("figures") / "reference"
    (checkout / reference).mkdir()
    for ending in (".csv", ".json"):
        shutil.copy(ROOT / reference / f"{DRAWN}{ending}", checkout / reference)
    replace_pictures(monkeypatch)
    return checkout


def test_a_figure_that_fails_is_named_in_one_line_and_the_others_are_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = project / "figures" / "azize2022.py"
    drawing.write_text(drawing.read_text() + "\n1 / 0\n")
    (project / "conf" / "figure" / "broken.yaml").write_text("paper: [")
    (project / "conf" / "figure" / "lower-bounds.yaml").unlink()
    shutil.copy(ROOT / "conf" / "figure" / "stopping-rules.yaml", project / "conf" / "figure")
    assert gallery.build(project / "g") == ExitStatus.FAILED
    pages = read(project / "g")
    err = capsys.readouterr().err.splitlines()
    assert {line.split(": ")[1] for line in err} == {DRAWN, "broken"}
    assert "ZeroDivisionError" in pages[f"figures/{DRAWN}.html"].text
    page = pages["figures/adap-c1.html"]  # which has no curves yet
    assert "dpbandits run adap-c1" in page.text
    assert "<img" not in page.html
    assert "figures/stopping-rules.html" in pages


def test_what_a_file_says_is_text_and_never_markup(project: Path) -> None:
    path = project / "conf" / "figure" / f"{DRAWN}.yaml"
    text = path.read_text().replace("title: Evolution of regret over time", f'title: "{EVIL}"')
    said = f'about: "About {EVIL}"\nnote: "Of {EVIL} noted"\n'
    path.write_text(re.sub(r"(?m)^about: .*\n(?:  .*\n)*", said, text))
    shutil.rmtree(project / "figures" / "reference")
    (project / "docs").mkdir()
    (project / "docs" / "deviations.md").write_text(f"# Of {EVIL}\n\n{EVIL}\n\n`{EVIL}`\n")
    assert gallery.build(project / "g") == 0
    pages = read(project / "g")
    assert not any(EVIL in page.html for page in pages.values())
    for name in (f"figures/{DRAWN}.html", "index.html", "deviations.html"):
        assert EVIL in unescape(pages[name].html)


# Curves and overrides -----------------------------------------------------------------------------
