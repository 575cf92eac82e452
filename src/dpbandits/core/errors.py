"""The error that a person can mend, and the words that errors share."""

import difflib
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

LONGEST = 100  # characters of a value in a message
ROOM = 400  # characters for names in a message


class UserError(Exception):
    """A mistake or an obstacle that a person can mend: shown in one line, exit status 2."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A clause for an error message: the nearest valid names, or all of them; of many, some."""
    known = sorted(set(known))
    asked = name.lower()[:LONGEST]
    matches = difflib.get_close_matches(asked, known, n=3, cutoff=0.6)
    if matches:
        # Names with a long part in common all look near: only those that compare with the nearest.
        far = {match: 1 - difflib.SequenceMatcher(None, match, asked).ratio() for match in matches}
        likely = [match for match in matches if far[match] <= 2 * far[matches[0]]]
        return f"did you mean {' or '.join(repr(match) for match in likely)}?"
    lengths = accumulate(len(name) + 2 for name in known)
    told = [name for name, length in zip(known, lengths, strict=True) if length <= ROOM]
    more = f" and {len(known) - len(told)} more" if len(told) < len(known) else ""
    return f"valid: {', '.join(told)}{more}" if known else "there are none"


def shown(value: Any) -> str:
    """A value as messages show it: in one line, a long one without its middle, `null` for None."""
    try:
        text = "null" if value is None else repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        return "a number of thousands of digits"
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}...{text[-half:]}"


@contextmanager
def variables_of(library: str, *prefixes: str) -> Iterator[None]:
    """Around an import: a library that stumbles over an environment variable is told in one line.

    Where no variable with one of the prefixes is set, the error is none of the user's.
    """
    try:
        with warnings.catch_warnings():
            # numba goes on without a value that it cannot read, after ten lines of warning.
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
