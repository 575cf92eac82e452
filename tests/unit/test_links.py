"""Links of Markdown pages lead to files, and their anchors to headings or ids, as on the site."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from commands import ROOT

markdown = pytest.importorskip("markdown")  # with MkDocs, whose slugs it makes
pytest.importorskip("pymdownx")

EXTENSIONS = ["attr_list", "md_in_html", "tables", "toc", "pymdownx.superfences"]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")})


class Page(HTMLParser):
    """Ids and links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids, self.links = set[str](), list[str]()
        self.feed(markdown.markdown(path.read_text("utf-8"), extensions=EXTENSIONS))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.add(value or "")
            elif tag in ("a", "img") and name in ("href", "src"):
                self.links.append(value or "")


page = cache(Page)


def leads_somewhere(link: str, path: Path) -> bool:
    parts = urlsplit(link)
    target = path.parent / unquote(parts.path) if parts.path else path
    if parts.scheme or not target.exists():
        return bool(parts.scheme)
    return not parts.fragment or unquote(parts.fragment) in page(target.resolve()).ids


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(path: Path) -> None:
    assert [link for link in page(path).links if not leads_somewhere(link, path)] == []
