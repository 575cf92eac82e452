"""Check that every text of a figure's configuration can be written to files and pages."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from dpbandits.config.origins import Origins

NONCHARACTERS = "\ufffe\uffff"  # XML, and with it SVG, forbids them


def refuse_unwritable(origins: Origins) -> None:
    """Raise UserError for a key or text with a character that no file can hold.

    Such characters are lone surrogates, which UTF-8 cannot encode, and control characters other
    than tabs and ends of lines, which XML forbids.
    """
    for path, text in _texts(origins.plain["figure"], "figure"):
        for character in text:
            control = unicodedata.category(character) in ("Cc", "Cs") and character not in "\t\n"
            if control or character in NONCHARACTERS:
                message = (
                    f"{path!a} has the character U+{ord(character):04X}, which no file can hold"
                )
                raise origins.error(message, path)


def _texts(node: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, Mapping):
        for name, child in node.items():
            yield f"{path}.{name}", str(name)
            yield from _texts(child, f"{path}.{name}")
    elif isinstance(node, list):
        for child in node:
            yield from _texts(child, path)
