"""The error that a person can mend."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake or an obstacle that a person can mend: shown in one line, exit status 2."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A clause for an error message: the nearest valid names, or all of them."""
    known = sorted(set(known))
    matches = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if matches:
        return f"did you mean {' or '.join(repr(match) for match in matches)}?"
    return f"valid: {', '.join(known)}" if known else "there are none"
