"""Overrides that commands and names record: all but those of folders and engines."""

import re
from collections.abc import Iterable

ELSEWHERE = re.compile(r"[+~]*(?:paths|engine)(?:[.=]|$)")  # these change no numbers


def is_recorded(override: str) -> bool:
    """Return whether an override, or a key alone, concerns neither folders nor engines."""
    return not ELSEWHERE.match(override)


def recorded(overrides: Iterable[str]) -> list[str]:
    """Return the words of a command without overrides of folders and engines."""
    return [override for override in overrides if is_recorded(override)]
