"""The gallery in a browser, opened from the disk as users do.

Skipped where Playwright (`pip install -r requirements-browser.lock`) or Chromium is not installed.
"""

import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from commands import ROOT
from matplotlib.colors import to_hex

from dpbandits import gallery

playwright = pytest.importorskip(
    "playwright.sync_api", reason="no Playwright: pip install -r requirements-browser.lock"
)
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: apt-get install chromium")

SHOWN = ("adap-headline", "dpucb-2arms", "lower-bounds")
WITH_BAND = "adap-headline"
WIDE = "dpucb-2arms"
PHONE, DESK = {"width": 375, "height": 800}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gallery of a few figures."""
    out = tmp_path_factory.mktemp("gallery") / "gallery"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        assert gallery.build(out, SHOWN) == 0
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """Tab of a browser that opens pages of the gallery and collects errors."""

    def __init__(self, chromium: Any, folder: Path, **options: Any) -> None:
        self.folder = folder
        self.context = chromium.new_context(**{"viewport": DESK} | options)
        self.context.set_default_timeout(10_000)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._check)
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def _failed(self, request: Any) -> None:
        # A page may be left or reloaded before all its pictures are there.
        if request.failure != "net::ERR_ABORTED":
            self.errors.append(f"{request.url}: {request.failure}")

    def _check(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.errors.append(f"asks for {request.url}")

    def open(self, path: str) -> Any:
        self.page.goto(
            (self.folder / path.partition("#")[0]).as_uri() + "".join(path.partition("#")[1:])
        )
        return self.page

    def seen(self, selector: str) -> list[Any]:
        """Return the visible elements."""
        return [e for e in self.page.query_selector_all(selector) if e.is_visible()]

    @property
    def background(self) -> str:
        script = "getComputedStyle(document.body).backgroundColor"
        return str(self.page.evaluate(script))


@pytest.fixture
def tab(chromium: Any, folder: Path) -> Iterator[Tab]:
    one = Tab(chromium, folder)
    yield one
    one.context.close()
    assert one.errors == []


def test_every_page_loads_without_an_error_and_fits_a_phone(chromium: Any, folder: Path) -> None:
    tab = Tab(chromium, folder, viewport=PHONE)
    paths = [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*.html"))]
    # A few of the sources, which share one template.
    sources = [p for p in paths if p.startswith("sources/")]
    for path in [p for p in paths if p not in sources] + sources[:3]:
        page = tab.open(path)
        # Pictures further down are loaded lazily.
        page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
        broken = page.evaluate(
            "Promise.all([...document.images].map(i => i.decode().then(() => '', () => i.src)))"
        )
        assert not any(broken), broken
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        assert tab.errors == [], path
    tab.context.close()


def test_filters_work_on_cards_and_claims_together_and_survive_a_reload(tab: Tab) -> None:
    page = tab.open("index.html")
    cards, rows = len(tab.seen(".card")), len(tab.seen("table.claims tbody tr"))
    assert cards == len(SHOWN)
    assert rows >= 5
    page.select_option("#verdict", "not-reproduced")
    fails = tab.seen(".card"), tab.seen("table.claims tbody tr")
    assert 0 < len(fails[1]) < rows
    assert 0 < len(fails[0]) <= cards
    for element in (*fails[0], *fails[1]):
        assert "not-reproduced" in element.get_attribute("data-verdicts").split()
    assert "#verdict=not-reproduced" in page.url
    told = page.inner_text("#found")
    assert told == f"{len(fails[0])} of {cards} figures, {len(fails[1])} of {rows} claims"
    page.reload()
    assert page.input_value("#verdict") == "not-reproduced"
    assert page.inner_text("#found") == told
    page.click("#filters button[type=reset]")
    page.wait_for_function("!location.hash")
    assert len(tab.seen(".card")) == cards
    page.select_option("#paper", "tossou2016")
    assert [e.get_attribute("data-paper") for e in tab.seen(".card")] == ["tossou2016"]
    assert len(tab.seen(".group")) == 1
    page.select_option("#paper", "")
    page.select_option("#algorithm", "adap-klucb")
    assert len(tab.seen(".card")) == 1


def test_search_finds_words_of_titles_sentences_and_algorithms(tab: Tab) -> None:
    page = tab.open("index.html")
    page.fill("#q", "Klucb lowest")
    assert 1 <= len(tab.seen(".card")) < len(SHOWN)
    assert len(tab.seen("table.claims tbody tr")) >= 1
    page.fill("#q", "epsilon")  # spelled out, though the page shows the letter
    assert len(tab.seen(".card")) >= 1
    page.fill("#q", "no such thing <b>")
    assert tab.seen(".card") == []
    assert len(tab.seen(".nothing")) == 2
    assert "q=no+such+thing" in page.url
    page.reload()
    assert page.input_value("#q") == "no such thing <b>"
    page.click(".nothing .again >> visible=true >> nth=0")
    page.wait_for_function("document.querySelectorAll('.card[hidden]').length === 0")
    # A hash that another page made is no error.
    tab.open("index.html#verdict=perhaps&paper=%00")
    page.reload()
    assert len(tab.seen(".card")) == len(SHOWN)


def test_a_claim_leads_from_the_table_to_the_figure(tab: Tab) -> None:
    page = tab.open("index.html")
    page.click(f"table.claims a[href*={WITH_BAND}] >> nth=0")
    assert "figures/" in page.url
    anchor = page.url.partition("#")[2]
    assert page.is_visible(f"#{anchor} blockquote")


def points(page: Any) -> Any:
    return json.loads(page.text_content("#points"))


def test_the_values_of_the_point_under_the_pointer_are_shown(tab: Tab) -> None:
    page = tab.open(f"figures/{WITH_BAND}.html")
    line = points(page)[0]
    left, top, x, _, low, high = line["points"][-1]
    sheet = page.locator("#sheet")
    sheet.scroll_into_view_if_needed()
    box = sheet.bounding_box()
    page.mouse.move(box["x"] + left * box["width"], box["y"] + top * box["height"])
    tip = page.inner_text(".tip")
    assert line["label"] in tip
    assert f"{x:,.0f}" in tip
    assert len(re.findall(r"[\d,.]+", tip.partition("from")[2])) == 2
    assert low < high
    # The dot lies on the point: the coordinates are those of the picture.
    dot = page.locator(".dot").bounding_box()
    assert dot["x"] + dot["width"] / 2 == pytest.approx(box["x"] + left * box["width"], abs=1.5)
    assert dot["y"] + dot["height"] / 2 == pytest.approx(box["y"] + top * box["height"], abs=1.5)
    page.mouse.move(5, 5)
    assert not page.is_visible(".tip")


def test_the_values_can_be_read_with_the_keyboard_alone(tab: Tab) -> None:
    page = tab.open(f"figures/{WITH_BAND}.html")
    lines = points(page)
    page.focus("#sheet")
    page.keyboard.press("ArrowRight")
    assert lines[0]["label"] in page.inner_text(".tip")
    page.keyboard.press("ArrowDown")
    assert lines[1]["label"] in page.inner_text(".tip")
    page.keyboard.press("Home")
    assert f": {lines[1]['points'][0][2]:,.0f}" in page.inner_text(".tip")
    before = page.inner_text(".tip")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".tip") != before
    assert lines[1]["label"] in page.inner_text("#spoken")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert lines[-1]["label"] in page.inner_text(".tip")
    page.keyboard.press("Escape")
    assert not page.is_visible(".tip")


def test_the_tip_stays_inside_the_picture_on_a_phone(chromium: Any, folder: Path) -> None:
    tab = Tab(chromium, folder, viewport=PHONE, has_touch=True)
    page = tab.open(f"figures/{WITH_BAND}.html")
    page.focus("#sheet")
    page.keyboard.press("End")
    for key in ("Home", "ArrowDown", "End"):
        page.keyboard.press(key)
        sheet, tip = page.locator("#sheet").bounding_box(), page.locator(".tip").bounding_box()
        assert tip["x"] >= sheet["x"] - 1
        assert tip["x"] + tip["width"] <= sheet["x"] + sheet["width"] + 1
    tab.context.close()


def test_the_theme_is_the_systems_until_another_is_chosen_and_then_that(
    chromium: Any, folder: Path
) -> None:
    dark = Tab(chromium, folder, color_scheme="dark")
    dark.open("index.html")
    assert dark.page.inner_text("#theme") == "Light theme"
    light = Tab(chromium, folder, color_scheme="light")
    page = light.open("index.html")
    assert dark.background != light.background
    was = light.background
    page.click("#theme")
    assert light.background == dark.background
    page.reload()
    assert light.background == dark.background
    light.open(f"figures/{WITH_BAND}.html")
    assert light.background == dark.background
    assert [e.get_attribute("src").split(".", 1)[1] for e in light.seen(".sheet img")] == [
        "dark.svg"
    ]
    page.click("#theme")
    assert light.background == was
    assert [e.get_attribute("src").split(".", 1)[1] for e in light.seen(".sheet img")] == ["svg"]
    for tab in (dark, light):
        assert tab.errors == []
        tab.context.close()


def background(page: Any, selector: str) -> str:
    """Return the background of an element, #rrggbb."""
    script = f"getComputedStyle(document.querySelector('{selector}')).backgroundColor"
    red, green, blue, *_ = (int(part) for part in re.findall(r"\d+", page.evaluate(script)))
    return f"#{red:02x}{green:02x}{blue:02x}"


def pixels(page: Any, selector: str) -> np.ndarray:
    """Return an element as rendered, shape (height, width, 3), values from 0 to 1."""
    return plt.imread(io.BytesIO(page.locator(selector).screenshot()))[..., :3]


@pytest.mark.parametrize(
    "path", [f"figures/{WITH_BAND}.html", "index.html", "algorithms/adap-ucb.html"]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_are_on_the_pages_own_colour_in_its_ink(
    chromium: Any, folder: Path, path: str, scheme: str
) -> None:
    tab = Tab(chromium, folder, color_scheme=scheme)
    page = tab.open(path)
    selector = {"f": ".plate", "i": ".thumb >> nth=0", "a": "h1 .mark"}[path[0]]
    picture = page.locator(f"{selector} >> img >> visible=true")
    assert picture.count() == 1
    picture.scroll_into_view_if_needed()
    picture.evaluate("image => image.decode()")
    seen = pixels(page, selector)
    most = np.unique(seen.reshape(-1, 3), axis=0, return_counts=True)
    paper = most[0][most[1].argmax()]
    behind = {"f": ".plate", "i": ".thumb", "a": "body"}[path[0]]
    assert to_hex(tuple(paper)) == background(page, behind)
    # Nearly all of a picture is paper; on a dark page no part of it is as light as white paper.
    ink = np.abs(seen - paper).max(axis=2) > 0.1
    assert 0.01 < ink.mean() < 0.5
    assert (scheme == "dark") == (paper.max() < 0.2)
    white = (seen > 0.97).all(axis=2).mean()
    assert white == 0 if scheme == "dark" else white > 0.5 or path[0] == "a"
    assert tab.errors == []
    tab.context.close()


def test_the_dot_has_the_colour_that_the_curve_has_in_the_theme(
    chromium: Any, folder: Path
) -> None:
    for scheme, key in (("light", "colour"), ("dark", "dark")):
        tab = Tab(chromium, folder, color_scheme=scheme)
        page = tab.open(f"figures/{WITH_BAND}.html")
        page.focus("#sheet")
        page.keyboard.press("ArrowRight")
        for line in points(page):
            assert background(page, ".dot") == line[key].lower()
            page.keyboard.press("ArrowDown")
        assert background(page, ".tip") != background(page, ".plate")
        tab.context.close()


def test_a_wide_picture_has_a_shadow_on_the_sides_where_there_is_more(
    chromium: Any, folder: Path
) -> None:
    tab = Tab(chromium, folder, viewport={"width": 400, "height": 800})
    page = tab.open(f"figures/{WIDE}.html")
    hint = page.locator("p.sideways:has(+ .edges > .plate)")
    room = page.locator(".plate").evaluate("plate => plate.scrollWidth - plate.clientWidth")
    assert room > 100

    def await_shadows(left: str, right: str) -> None:
        page.wait_for_function(  # they fade in
            """expected => ["::before", "::after"].every((side, i) => expected[i]
                === getComputedStyle(document.querySelector(".edges:has(> .plate)"), side).opacity)
            """,
            arg=[left, right],
        )

    await_shadows("0", "1")
    assert hint.is_visible()
    assert "sideways" in hint.inner_text()
    for place, left, right in ((room / 2, "1", "1"), (room, "1", "0"), (0, "0", "1")):
        page.evaluate(f"document.querySelector('.plate').scrollLeft = {place}")
        await_shadows(left, right)
    # A wide screen shows everything, so no shadow appears.
    page.set_viewport_size(DESK)
    await_shadows("0", "0")
    assert not hint.is_visible()
    assert tab.errors == []
    tab.context.close()


def test_a_wide_table_has_the_same_and_names_it_to_screen_readers(
    chromium: Any, folder: Path
) -> None:
    tab = Tab(chromium, folder, viewport={"width": 400, "height": 800})
    page = tab.open(f"figures/{WIDE}.html")
    table = page.locator(".scroll:has(table.curves)")
    hint = page.locator(f"#{table.get_attribute('aria-describedby')}")
    assert hint.is_visible()
    assert page.locator(".edges[data-right]:not([data-left]) > .scroll").count() == 1
    page.set_viewport_size(DESK)
    page.wait_for_function("!document.querySelector('.edges[data-right]')")
    assert table.get_attribute("aria-describedby") is None
    assert not hint.is_visible()
    tab.context.close()


def test_the_keyboard_brings_points_beyond_the_edge_into_view(chromium: Any, folder: Path) -> None:
    tab = Tab(chromium, folder, viewport={"width": 400, "height": 800})
    page = tab.open(f"figures/{WIDE}.html")
    page.focus("#sheet")
    for keys in (["ArrowLeft", "End"], ["Home"], ["ArrowUp", "End"]):
        for key in keys:
            page.keyboard.press(key)
        plate = page.locator(".plate").bounding_box()
        for selector in (".dot", ".tip"):
            box = page.locator(selector).bounding_box()
            assert box["x"] >= plate["x"]
            assert box["x"] + box["width"] <= plate["x"] + plate["width"]
    tab.context.close()


def test_a_dark_page_is_printed_with_the_pictures_on_white(chromium: Any, folder: Path) -> None:
    tab = Tab(chromium, folder, color_scheme="dark", viewport={"width": 400, "height": 800})
    page = tab.open(f"figures/{WIDE}.html")
    page.wait_for_selector(".sideways >> nth=0")
    page.emulate_media(media="print", color_scheme="dark")
    for theme in ("", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        (picture,) = tab.seen(".sheet img")
        assert picture.get_attribute("src").endswith(f"{WIDE}.svg")
        assert background(page, ".plate") == "#ffffff"
        assert not tab.seen(".sideways")
    tab.context.close()


def test_the_first_stop_of_the_keyboard_leads_past_the_navigation(tab: Tab) -> None:
    page = tab.open("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_without_scripts_all_is_there_and_nothing_is_offered_that_does_not_work(
    chromium: Any, folder: Path
) -> None:
    tab = Tab(chromium, folder, java_script_enabled=False)
    tab.open("index.html")
    assert len(tab.seen(".card")) == len(SHOWN)
    assert tab.seen("#filters, #theme") == []
    tab.context.close()


def test_on_paper_ink_is_black_whatever_the_theme(chromium: Any, folder: Path) -> None:
    tab = Tab(chromium, folder, color_scheme="dark")
    page = tab.open("index.html")
    ink = "getComputedStyle(document.body).color"
    assert page.evaluate(ink) != "rgb(0, 0, 0)"
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.emulate_media(media="print")
        assert page.evaluate(ink) == "rgb(0, 0, 0)"
    tab.context.close()


def test_on_paper_there_are_no_controls_and_all_numbers(tab: Tab) -> None:
    page = tab.open(f"figures/{WITH_BAND}.html")
    before = len(page.query_selector_all("details[open]"))
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.seen("#theme, .turn, .hint") == []
    assert len(tab.seen(".judged > li")) == len(page.query_selector_all(".judged > li")) > 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert len(page.query_selector_all("details[open]")) == before
