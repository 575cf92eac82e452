"""Advice on algorithms of the user's project or of a plugin, for the terminal."""

import sys
from collections.abc import Iterable
from typing import Any

import numba

from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.core import registry
from dpbandits.core.roots import PACKAGE

_reported = set[str]()


def report_uncompiled(cells: Iterable[AnyCell]) -> None:
    """Print one line for each algorithm whose `play` is no kernel, once per process."""
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        return
    for name in dict.fromkeys(cell.member for cell in cells if _is_own(cell)):
        member = registry.member("algorithm", name)
        if not hasattr(registry.algorithm(name).play, "py_func") and name not in _reported:
            _reported.add(name)
            print(
                f"dpbandits: {member.shown}: `play` is no kernel, so Python plays it, a hundred"
                " times slower: decorate it with @kernel of dpbandits.core.kernel",
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
