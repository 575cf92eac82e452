"""Requirements of a worker: it must compute the same numbers as the command's own process.

It needs the same versions of Python, NumPy, numba, SciPy and dpbandits, the same kernel island and,
for every cell, the same sources. Workers report the first two before the first task. Every task
carries a digest of the kernel island, its versions and the cell's sources, because a worker may
join later.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata

from dpbandits.cells.kinds import AnyCell
from dpbandits.core.errors import UserError
from dpbandits.core.machine_code import island_digest
from dpbandits.core.messages import in_one_line
from dpbandits.core.own_project import VARIABLE
from dpbandits.core.roots import ROOTS
from dpbandits.store import fingerprint
from dpbandits.store.identity import version

ISLAND = "source digest"  # of the kernel island, with the versions


@cache
def facts() -> dict[str, str]:
    """Return what determines the bits of a result beside its cell: versions and sources here."""
    return {
        "Python": " ".join(sys.version.split()),
        **{name: version(name) for name in ("numpy", "numba", "scipy")},
        "dpbandits": metadata.version("dpbandits"),
        "projects and plugins": ", ".join(root.package for root in ROOTS[1:]) or "none",
        ISLAND: island_digest(),
    }


def differences(others: Mapping[str, str]) -> list[str]:
    """Return the facts that differ in another process, with both values."""
    return [
        f"{name} {others.get(name, 'unknown')}, here {own}"
        for name, own in facts().items()
        if others.get(name) != own
    ]


@cache
def sources_of(cell: AnyCell) -> str:
    """Return the digest of everything in this process that determines the numbers of a cell."""
    try:
        sources = fingerprint.sources(cell.roots)
    except (OSError, SyntaxError, UserError):  # the task fails too and reports the reason
        sources = {}
    decisive = {"island": facts()[ISLAND], "sources": sources}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]


def refusal(cell: AnyCell, wanted: str | None) -> str | None:
    """Return why this process must not play a cell whose sources have the digest `wanted`.

    None if it may play it. A task without a digest runs in the process that made it.
    """
    if wanted is None or sources_of(cell) == wanted:
        return None
    return (
        f"the worker {_address()} has other sources or versions than the command"
        f" (source digest {sources_of(cell)}, wanted {wanted}): start it again from the same"
        " checkout and environment"
    )


def unreadable(error: Exception) -> str:
    """Return why this process cannot read a task, with the remedy."""
    return (
        f"the worker {_address()} cannot read the task ({in_one_line(error)}): start it again from"
        f" the same checkout and environment, with {VARIABLE} set to the project's folder if there"
        " is one"
    )


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)
