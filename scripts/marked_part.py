"""Parts of a page that a script writes: from `<!-- name -->` to `<!-- end of name -->`."""

import re


class MissingPart(SystemExit):
    """A page lacks the two comments; a script that does not catch this prints it and exits."""


def read(page: str, name: str) -> str:
    """Return the part of a page between its two comments; raise MissingPart without them."""
    match = _between(name).search(page)
    if not match:
        raise MissingPart(f"the page has no `<!-- {name} -->` ... `<!-- end of {name} -->`")
    return match[0]


def replaced(page: str, name: str, part: str) -> str:
    """Return the page with another part between the two comments; MissingPart without them."""
    read(page, name)
    return _between(name).sub(lambda _: part, page)


def _between(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", re.DOTALL)
