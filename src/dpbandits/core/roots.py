"""Packages that members, kernels and fingerprints are taken from: today dpbandits alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# The kernel island: the packages that compiled code is made of. They import nothing else, so that
# their sources decide the machine code.
ISLAND = (
    "algorithms",
    "audit_kernels",
    "core",
    "environments",
    "mechanisms",
    "privacy",
    "stopping",
)


class Root(NamedTuple):
    """A package on the import path with folders such as algorithms/ in it."""

    package: str  # name in import statements
    folder: Path  # of its sources

    def island(self) -> Iterator[Path]:
        """Sources of the kernel island, in a fixed order."""
        for name in ISLAND:
            yield from sorted((self.folder / name).rglob("*.py"))


ROOTS = (Root("dpbandits", Path(__file__).parents[1]),)


def source_file(path: str, roots: tuple[Root, ...] = ROOTS) -> Path:
    """File of a path below any of the roots, such as algorithms/ucb.py: the first that exists.

    Raises FileNotFoundError where no root has it.
    """
    for root in roots:
        if (root.folder / path).is_file():
            return root.folder / path
    raise FileNotFoundError(path)
