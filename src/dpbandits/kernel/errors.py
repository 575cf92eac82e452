"""Error that a user can fix, and helpers that word error messages."""

import difflib
import os
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST = 100  # characters of a value in a message
ROOM = 400  # characters for a list of names in a message
MEANT = {"delta": "risk"}  # a wrong name, and the valid one that it stands for


class UserError(Exception):
    """Mistake or obstacle that the user can fix: printed in one line, exit status 2."""


class Located(UserError):
    """Mistake whose message names the figure or the parameter, and the file or the command line."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return a clause for an error message: the valid name closest to `name`.

    If none is close, list the valid names, as many as fit into ROOM characters.
    """
    valid = sorted(set(valid))
    if MEANT.get(name) in valid:
        return f"did you mean {MEANT[name]!r}?"
    if near := closest(name, valid):
        return f"did you mean {near!r}?"
    listed = [name for i, name in enumerate(valid) if len(", ".join(valid[: i + 1])) <= ROOM]
    more = f" and {len(valid) - len(listed)} more" if len(listed) < len(valid) else ""
    return f"valid: {', '.join(listed)}{more}" if valid else "there are none"


def closest(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name closest to `name`; None if none is close."""
    close = difflib.get_close_matches(name.lower()[:LONGEST], sorted(set(valid)), n=1)
    return close[0] if close else None


def shown(value: Any) -> str:
    """Return a value as messages print it: on one line, `null` for None.

    A text longer than LONGEST characters loses its middle.
    """
    text = "null" if value is None else repr(value)
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}...{text[-half:]}"


def installing(extra: str) -> str:
    """Return the command that installs an optional dependency, by the name of the extra."""
    return f"pip install 'dpbandits[{extra}]', in a checkout pip install '.[{extra}]'"


def in_one_line(error: BaseException) -> str:
    """Return an exception's class and the first line of its text, or what to do without memory."""
    text = str(error).strip().partition("\n")[0]
    if isinstance(error, MemoryError):
        quoted = f" ({text})" if text else ""
        return f"out of memory{quoted}; fewer runs at once need less, engine.workers=1 the least"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place_and_reason(error: Exception, folder: Path, name: str) -> str:
    """Return the exception and the last line inside `folder` that its traceback passes through.

    The message calls the folder `name`. Inner frames belong to libraries that the line calls.
    """
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    inside = [(Path(file), line) for file, line in places if Path(file).is_relative_to(folder)]
    if inside:
        file, line = inside[-1]
        name = f"{name}/{file.relative_to(folder).as_posix()}, line {line}"
    text = error.msg if isinstance(error, SyntaxError) else str(error).partition("\n")[0]
    return f"{name}: {type(error).__name__}{f': {text}' if text else ''}"


@contextmanager
def variables_of(library: str, *prefixes: str) -> Iterator[None]:
    """Turn an error in the import of `library` into a UserError that names environment variables.

    The library reads variables with these prefixes; if none is set, the error stays as it is.
    """
    try:
        with warnings.catch_warnings():
            # numba ignores a value that it cannot parse, after ten lines of warning.
            warnings.filterwarnings("error", message="Environment variable")
            yield
    except (OSError, ValueError, OverflowError, Warning) as error:
        names = [name for name in sorted(os.environ) if name.startswith(prefixes)]
        if not (guilty := [name for name in names if name in str(error)] or names):
            raise
        values = " or ".join(f"{name}={os.environ[name]}" for name in guilty)
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            f"{library} cannot work with the environment variable {values} ({reason}):"
            " correct it or unset it"
        ) from error
