"""The errors of others, in one line.

Beside errors.py, which every result depends on: a better word here throws no result away.
"""

import traceback
from pathlib import Path


def in_one_line(error: BaseException) -> str:
    """What an exception says; some have many lines, some have none."""
    text = str(error).strip().partition("\n")[0]
    if isinstance(error, MemoryError):
        told = f" ({text})" if text else ""
        return f"out of memory{told}; fewer runs at once need less, engine.workers=1 the least"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place_and_reason(error: Exception, folder: Path, name: str) -> str:
    """The last line of a file in a folder that was run, and the exception: one's own line.

    The frames above it are of Python's import, those below it of the libraries that it calls.
    `name` is how the folder is called in the message.
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
