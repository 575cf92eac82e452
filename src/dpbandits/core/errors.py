"""Error that a user can fix, and helpers that word error messages."""

import difflib
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

LONGEST = 100  # characters of a value in a message
ROOM = 400  # characters for a list of names in a message


class UserError(Exception):
    """Mistake or obstacle that the user can fix: printed in one line, exit status 2."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a clause for an error message: the valid names closest to `name`.

    If none is close, list the valid names, as many as fit into ROOM characters.
    """
    known = sorted(set(known))
    asked = name.lower()[:LONGEST]
    matches = difflib.get_close_matches(asked, known, n=3, cutoff=0.6)
    if matches:
        # Names that share a long part all look close: keep those comparable to the closest one.
        far = {match: 1 - difflib.SequenceMatcher(None, match, asked).ratio() for match in matches}
        likely = [match for match in matches if far[match] <= 2 * far[matches[0]]]
        return f"did you mean {' or '.join(repr(match) for match in likely)}?"
    lengths = accumulate(len(name) + 2 for name in known)
    listed = [name for name, length in zip(known, lengths, strict=True) if length <= ROOM]
    more = f" and {len(known) - len(listed)} more" if len(listed) < len(known) else ""
    return f"valid: {', '.join(listed)}{more}" if known else "there are none"


def shown(value: Any) -> str:
    """Return a value as messages print it: on one line, `null` for None.

    A text longer than LONGEST characters loses its middle.
    """
    try:
        text = "null" if value is None else repr(value)
    except ValueError:  # Python refuses to print an integer of more than 4300 digits
        return "a number of thousands of digits"
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}...{text[-half:]}"


@contextmanager
def variables_of(library: str, *prefixes: str) -> Iterator[None]:
    """Turn an import error caused by an environment variable into a one-line UserError.

    Use it around the import of `library`, which reads variables with these prefixes. If no such
    variable is set, the original error is raised unchanged: the user cannot have caused it.
    """
    try:
        with warnings.catch_warnings():
            # numba ignores a value that it cannot parse, after ten lines of warning.
            warnings.filterwarnings("error", message="Environment variable")
            yield
    except (OSError, ValueError, OverflowError, Warning) as error:
        if not (found := [name for name in sorted(os.environ) if name.startswith(prefixes)]):
            raise
        guilty = [name for name in found if name in str(error)] or found
        values = " or ".join(f"{name}={os.environ[name]}" for name in guilty)
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"{library} cannot work with the environment variable {values} ({reason}):"
            " correct it or unset it"
        ) from error
