"""What a worker must be: one that computes what the command's own process would.

With the same sources and the same versions of what draws the numbers. Every worker is asked before
the first task, and every task says which sources it wants, for a worker may join later.
"""

import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from dpbandits.core.kernel import PACKAGE, source_digest

SOURCES = "source digest"  # of the package; the versions of Python, NumPy and numba are in it too


@cache
def facts() -> dict[str, str]:
    """What decides the bits of a result beside its cell, as this process has it."""
    return {
        "Python": " ".join(sys.version.split()),
        **{name: version(name) for name in ("numpy", "numba", "dpbandits")},
        SOURCES: source_digest(PACKAGE),
    }


def differences(others: Mapping[str, str]) -> list[str]:
    """What another process has otherwise, with both values."""
    return [
        f"{name} {others.get(name, 'unknown')}, here {own}"
        for name, own in facts().items()
        if others.get(name) != own
    ]


def refusal(wanted: str | None) -> str | None:
    """Why this process must not play a task that wants these sources; None where it may.

    A task that says nothing is played by the process that made it.
    """
    if wanted is None or facts()[SOURCES] == wanted:
        return None
    from distributed import get_worker

    return (
        f"the worker {get_worker().address} has other sources or versions than the command"
        f" ({SOURCES} {facts()[SOURCES]}, wanted {wanted}): start it again from the same checkout"
        " and environment"
    )
