"""One-line messages for exceptions of Python and of libraries.

Separate from errors.py, on which every stored result depends: rewording a message here invalidates
no result.
"""

import traceback
from pathlib import Path


def in_one_line(error: BaseException) -> str:
    """Return an exception's class and the first line of its text.

    For a MemoryError, return the advice to run less at once instead of the class.
    """
    text = str(error).strip().partition("\n")[0]
    if isinstance(error, MemoryError):
        quoted = f" ({text})" if text else ""
        return f"out of memory{quoted}; fewer runs at once need less, engine.workers=1 the least"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place_and_reason(error: Exception, folder: Path, name: str) -> str:
    """Return the exception and the last line inside `folder` that its traceback passes through.

    Outer frames belong to Python's import, inner frames to the libraries that the line calls.
    The message refers to the folder as `name`; without a line in the folder it gives `name` alone.
    """
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename or "", error.lineno))
    own = [(Path(file), line) for file, line in places if Path(file).is_relative_to(folder)]
    where = name
    if own:
        file, line = own[-1]
        where = f"{name}/{file.relative_to(folder).as_posix()}, line {line}"
    text = error.msg if isinstance(error, SyntaxError) else str(error).partition("\n")[0]
    return f"{where}: {type(error).__name__}{f': {text}' if text else ''}"
