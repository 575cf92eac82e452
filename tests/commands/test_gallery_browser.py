"""The gallery in a browser, opened from the disk as users do."""

import json
from pathlib import Path
from typing import Any

import pytest
from browser import Tab
from commands import ROOT

from dpbandits import gallery

FIGURE = "adap-headline"
PHONE, DESK = {"width": 375, "height": 800}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Path:
    """Gallery of a few figures."""
    out = tmp_path_factory.mktemp("gallery") / "gallery"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        assert gallery.build(out, (FIGURE, "dpucb-2arms", "lower-bounds")) == 0
    return out


def test_every_page_loads_without_an_error_and_fits_a_phone(chromium: Any, folder: Path) -> None:
    paths = [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*.html"))]
    sources = [p for p in paths if p.startswith("sources/")]  # they share one template
    with Tab(chromium, "file:", viewport=PHONE) as page:
        for path in [p for p in paths if p not in sources] + sources[:3]:
            page.goto((folder / path).as_uri())
            # Pictures further down are loaded lazily.
            page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
            broken = page.evaluate(
                "Promise.all([...document.images].map(i => i.decode().then(() => '', () => i.src)))"
            )
            assert not any(broken), broken
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path


def test_filters_survive_a_reload_and_a_claim_leads_to_its_figure(
    chromium: Any, folder: Path
) -> None:
    with Tab(chromium, "file:", viewport=DESK) as page:
        page.goto((folder / "index.html").as_uri())
        page.select_option("#paper", "tossou2016")
        page.reload()
        cards = [card for card in page.query_selector_all(".card") if card.is_visible()]
        assert [card.get_attribute("data-paper") for card in cards] == ["tossou2016"]
        page.select_option("#paper", "")
        page.click(f"table.claims a[href*={FIGURE}] >> nth=0")
        assert page.is_visible(f"#{page.url.partition('#')[2]} blockquote")


def test_the_values_under_the_pointer_and_both_themes_are_shown(
    chromium: Any, folder: Path
) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    with Tab(chromium, "file:", viewport=DESK, color_scheme="light") as page:
        page.goto((folder / "figures" / f"{FIGURE}.html").as_uri())
        line = json.loads(page.text_content("#points"))[0]
        left, top, x, *_ = line["points"][-1]
        sheet = page.locator("#sheet")
        sheet.scroll_into_view_if_needed()
        box = sheet.bounding_box()
        page.mouse.move(box["x"] + left * box["width"], box["y"] + top * box["height"])
        tip = page.inner_text(".tip")
        assert line["label"] in tip
        assert f"{x:,.0f}" in tip
        # The dot lies on the point: the coordinates are those of the picture.
        dot = page.locator(".dot").bounding_box()
        middle = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
        expected = box["x"] + left * box["width"], box["y"] + top * box["height"]
        assert middle == pytest.approx(expected, abs=1.5)
        light = page.evaluate(background)
        page.click("#theme")
        page.reload()
        assert page.evaluate(background) != light
        (picture,) = (i for i in page.query_selector_all(".sheet img") if i.is_visible())
        assert picture.get_attribute("src").endswith(".dark.svg")
