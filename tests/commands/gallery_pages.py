"""Pages of a gallery, parsed for its tests: well-formed, with their links and their text.

Most galleries of tests are about pages, so stand-ins replace what is slow and tested elsewhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from matplotlib.figure import Figure

from dpbandits.drawing import plotting
from dpbandits.drawing.styles import Style
from dpbandits.gallery import algorithms
from dpbandits.privacy import accounting
from dpbandits.privacy.table import Row, rows

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}

mark = algorithms._mark


def without_ink(draw: Any, drawing: Any, keywords: str, look: Any = None) -> dict[str, bytes]:
    """Replace plotting.render in tests of pages, not pictures."""
    look(Figure((1, 1)))
    return {"pdf": b"%PDF-", "svg": b"<svg/>", "png": b"\x89PNG"}


def half(parts: Any, delta: float, composed: float) -> float:
    """Replace the accountant, which needs seconds for thousands of unlike releases."""
    return 0.5 * composed


@cache
def _rows(name: str) -> list[Row]:
    return rows([name])


@cache
def _mark(style: Style) -> bytes:
    return mark(style)


def replace_budgets(patch: pytest.MonkeyPatch) -> None:
    """Let galleries of this process share the budgets, and the marks of their lines."""
    patch.setattr(accounting, "_accounted", half)
    patch.setattr(algorithms, "rows", lambda names: _rows(*names))
    patch.setattr(algorithms, "_mark", _mark)


def replace_pictures(patch: pytest.MonkeyPatch) -> None:
    """Let figures have empty pictures, and the stand-ins of budgets."""
    patch.setattr(plotting, "render", without_ink)
    replace_budgets(patch)


@dataclass
class Element:
    """Element, with the text inside."""

    tag: str
    attributes: dict[str, str]
    text: str = ""

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())


@dataclass
class Page:
    """Page: its elements in order; raises AssertionError where its tags do not match."""

    path: Path
    elements: list[Element] = field(default_factory=list)

    def find(self, tag: str, cls: str = "") -> list[Element]:
        return [e for e in self.elements if e.tag == tag and (not cls or cls in e.classes)]

    @property
    def ids(self) -> set[str]:
        ids = [e.attributes["id"] for e in self.elements if "id" in e.attributes]
        assert len(ids) == len(set(ids)), f"{self.path}: an id twice"
        return set(ids)

    @property
    def text(self) -> str:
        return self.elements[0].text

    def addresses(self) -> Iterator[tuple[str, bool]]:
        """Yield every address, and whether the page loads it by itself."""
        for e in self.elements:
            for name in ("href", "src"):
                if name in e.attributes:
                    yield e.attributes[name], (e.tag, name) in LOADED


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__(convert_charrefs=True)
        self.page, self.open = page, list[Element]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{self.page.path}: {tag} has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.page.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"{self.page.path}: </{tag}> closes nothing"
        last = self.open.pop()
        assert last.tag == tag, f"{self.page.path}: </{tag}> closes <{last.tag}>"

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def read(path: Path) -> Page:
    """Read a page from the disk."""
    page = Page(path)
    reader = _Reader(page)
    text = path.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    reader.feed(text)
    reader.close()
    assert not reader.open, f"{path}: {[e.tag for e in reader.open]} never closed"
    return page


def read_all(folder: Path) -> dict[str, Page]:
    """Return every page of a gallery by its path in the folder."""
    paths = sorted(folder.rglob("*.html"))
    return {path.relative_to(folder).as_posix(): read(path) for path in paths}


def broken(pages: dict[str, Page], folder: Path) -> list[str]:
    """Return the addresses that lead nowhere, or out of the folder."""
    addresses = []
    ids = {name: page.ids for name, page in pages.items()}
    for name, page in pages.items():
        for address, _ in page.addresses():
            parts = urlsplit(address)
            if address == "data:,":  # no icon
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            inside = not parts.scheme and not parts.netloc and target.is_relative_to(folder)
            if not inside or not target.is_file():
                addresses.append(f"{name}: {address}")
            elif parts.fragment and target.suffix == ".html":
                there = ids[target.relative_to(folder).as_posix()]
                if unquote(parts.fragment) not in there:
                    addresses.append(f"{name}: {address}")
    return addresses
