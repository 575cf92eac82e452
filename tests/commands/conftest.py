"""Browser of the tests that look at pages."""

from collections.abc import Iterator
from typing import Any

import pytest
from browser import CHROMIUM


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Headless Chromium; a test is skipped where it or Playwright is not installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright")
    if CHROMIUM is None:
        pytest.skip("no Chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
