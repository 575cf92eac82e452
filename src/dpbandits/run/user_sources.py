"""Sources of the user's project or of a plugin: place of an error in them, advice on algorithms."""

import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numba

from dpbandits.core import registry
from dpbandits.core.errors import in_one_line
from dpbandits.core.roots import PACKAGE, found
from dpbandits.experiments import Experiment

DECORATE = "decorate it with @kernel of dpbandits.core.kernel"


def error_place(error: BaseException) -> str:
    """Return the file, the line and the reason of an error of a project's or plugin's source.

    Below `releases` or `claim`, also the arguments. Return '' if the innermost frame outside
    libraries belongs to dpbandits.
    """
    call, place = "", ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        for root in found().roots:
            path = code.co_filename.removeprefix(f"{root.folder}/")
            if path not in root.sources():
                continue
            shown = path if root == found().project else code.co_filename
            place = "" if root is PACKAGE else f"{shown}, line {line}: {in_one_line(error)}"
            if place and not call and code.co_name in ("releases", "claim"):
                names = code.co_varnames[1 : code.co_argcount]
                values = [f"{n}={frame.f_locals[n]!r}" for n in names if n in frame.f_locals]
                call = f"{code.co_name}({', '.join(['...', *values])}) in "
    return f"{call}{place}" if place else ""


def is_kernel(play: Callable[..., Any]) -> bool:
    """Return True if numba compiles this function, or if it compiles none."""
    settings: Any = numba.config
    return hasattr(play, "py_func") or bool(settings.DISABLE_JIT)


def report_uncompiled(cells: Iterable[Experiment]) -> None:
    """Print one line for each algorithm of a user whose `play` is not a kernel."""
    for name in sorted({cell.member for cell in cells if _is_users(cell)}):
        if not is_kernel(registry.algorithm(name).play):
            print(
                f"dpbandits: {registry.member('algorithm', name).shown}: `play` is not a kernel,"
                f" so it runs in plain Python, about a hundred times slower: {DECORATE}",
                file=sys.stderr,
            )


def advice(cell: Experiment) -> str:
    """Return the command that explains a failed run of a user's algorithm; '' for built-in ones."""
    return f"; `dpbandits verify {cell.member}` explains what to change" if _is_users(cell) else ""


def _is_users(cell: Experiment) -> bool:
    # An algorithm that was passed as an object has no source (in_memory.py).
    if cell.family != "algorithm" or cell.member in registry.NOT_STORED:
        return False
    return registry.member(cell.family, cell.member).root is not PACKAGE
