"""Pages in a browser, with the errors that they cause."""

import shutil
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


class Tab:
    """Context of a page that must cause no error and ask for nothing but its origin."""

    def __init__(self, chromium: Any, origin: str, **options: Any) -> None:
        self.errors: list[str] = []
        self.context = chromium.new_context(**options)
        self.context.set_default_timeout(60_000)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("request", lambda request: self._check(request.url, origin))

    def _check(self, address: str, origin: str) -> None:
        if not address.startswith((origin, "data:")):
            self.errors.append(f"asks for {address}")

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *_: object) -> None:
        self.context.close()
        assert self.errors == []
