"""Advice on algorithms of the user's project or of a plugin, for the terminal."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numba

from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.core import registry
from dpbandits.core.roots import PACKAGE

DECORATE = "decorate it with @kernel of dpbandits.core.kernel"
_reported = set[str]()


def is_kernel(play: Callable[..., Any]) -> bool:
    """Return True if numba compiles this function, or if it compiles none."""
    settings: Any = numba.config
    return hasattr(play, "py_func") or bool(settings.DISABLE_JIT)


def report_uncompiled(cells: Iterable[AnyCell]) -> None:
    """Print one line for each algorithm whose `play` is not a kernel, once per process."""
    for name in sorted({cell.member for cell in cells if _is_own(cell)} - _reported):
        if not is_kernel(registry.algorithm(name).play):
            _reported.add(name)
            print(
                f"dpbandits: {registry.member('algorithm', name).shown}: `play` is not a kernel,"
                f" so it runs in plain Python, about a hundred times slower: {DECORATE}",
                file=sys.stderr,
            )


def advice(cell: AnyCell) -> str:
    """Return the command that explains a failed run of one's own algorithm; '' for others."""
    return f"; `dpbandits verify {cell.member}` explains what to change" if _is_own(cell) else ""


def _is_own(cell: AnyCell) -> bool:
    # An algorithm that was passed as an object has no source (in_memory.py).
    if type(cell) is not Cell:
        return False
    return registry.member("algorithm", cell.algorithm).root.package != PACKAGE.package
