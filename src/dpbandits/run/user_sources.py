"""Sources of the user's project or of a plugin: place of an error in them, advice on algorithms."""

import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba

from dpbandits.core import registry
from dpbandits.core.messages import in_one_line
from dpbandits.core.roots import PACKAGE, found
from dpbandits.experiments import Experiment
from dpbandits.experiments.regret import RegretExperiment

DECLARING = ("releases", "claim")  # functions whose arguments a message gives
DECORATE = "decorate it with @kernel of dpbandits.core.kernel"
_reported = set[str]()


def error_place(error: BaseException) -> str:
    """Return the call, the place and the reason of an error of a project's or plugin's source.

    Return '' if the innermost frame outside libraries belongs to dpbandits.
    """
    frames = []  # with the root, and the path below it, of every frame that is not of a library
    for frame, line in traceback.walk_tb(error.__traceback__):
        for root in found().roots:
            file = Path(frame.f_code.co_filename)
            if file.is_relative_to(root.folder):
                path = file.relative_to(root.folder).as_posix()
                if path in root.sources():
                    frames.append((frame, line, root, path))
    if not frames or frames[-1][2] is PACKAGE:
        return ""
    call = ""
    for frame, _, root, _ in frames:
        code = frame.f_code
        if root is not PACKAGE and code.co_name in DECLARING:
            local = frame.f_locals
            names = [name for name in code.co_varnames[1 : code.co_argcount] if name in local]
            values = [f"{name}={local[name]!r}" for name in names]
            call = f"{code.co_name}({', '.join(['...', *values])}) in "
            break
    frame, line, root, path = frames[-1]
    shown = path if root == found().project else frame.f_code.co_filename
    return f"{call}{shown}, line {line}: {in_one_line(error)}"


def is_kernel(play: Callable[..., Any]) -> bool:
    """Return True if numba compiles this function, or if it compiles none."""
    settings: Any = numba.config
    return hasattr(play, "py_func") or bool(settings.DISABLE_JIT)


def report_uncompiled(cells: Iterable[Experiment]) -> None:
    """Print one line for each algorithm whose `play` is not a kernel, once per process."""
    for name in sorted({cell.member for cell in cells if _is_users(cell)} - _reported):
        if not is_kernel(registry.algorithm(name).play):
            _reported.add(name)
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
    if type(cell) is not RegretExperiment or cell.member in registry.NOT_STORED:
        return False
    return registry.member("algorithm", cell.member).root is not PACKAGE
