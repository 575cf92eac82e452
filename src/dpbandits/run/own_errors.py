"""Errors raised by a source of the user's project or of a plugin, in one line."""

import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from dpbandits.core.messages import in_one_line
from dpbandits.core.roots import PACKAGE, PROJECT, ROOTS, Root

DECLARING = ("releases", "claim")  # functions whose arguments a message gives


def of_own_source(error: BaseException) -> str:
    """Return the call, the place and the reason of an error of a project's or plugin's source.

    Return '' if the innermost frame outside libraries belongs to dpbandits.
    """
    frames = [
        (frame, line, root, path)
        for frame, line in traceback.walk_tb(error.__traceback__)
        for root, path in _sources(frame.f_code.co_filename)
    ]
    if not frames or frames[-1][2] is PACKAGE:
        return ""
    frame, line, root, path = frames[-1]
    own = [frame for frame, _, other, _ in frames if other is not PACKAGE]
    call = next((_call(one) for one in own if one.f_code.co_name in DECLARING), "")
    shown = path if PROJECT and root.folder == PROJECT.folder else frame.f_code.co_filename
    return f"{call and f'{call} in '}{shown}, line {line}: {in_one_line(error)}"


def _sources(file: str) -> Iterator[tuple[Root, str]]:
    # The root of a file and its path there; nothing for a file of a library.
    for root in ROOTS:
        if Path(file).is_relative_to(root.folder):
            path = Path(file).relative_to(root.folder).as_posix()
            if path in root.sources():
                yield root, path


def _call(frame: FrameType) -> str:
    # `releases(..., arms=2, horizon=1)`
    code = frame.f_code
    names = code.co_varnames[1 : code.co_argcount]
    values = [f"{name}={frame.f_locals[name]!r}" for name in names if name in frame.f_locals]
    return f"{code.co_name}({', '.join(['...', *values])})"
