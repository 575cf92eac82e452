"""Packages that supply members, kernels and fingerprints: at present only dpbandits."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# The kernel island: the packages whose code is compiled. They import no other package of the
# project, so their sources alone determine the machine code.
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
    """Package on the import path that contains folders such as algorithms/."""

    package: str  # name in import statements
    folder: Path  # folder of its sources

    def island(self) -> Iterator[Path]:
        """Yield the source files of the kernel island, in a fixed order."""
        for name in ISLAND:
            yield from sorted((self.folder / name).rglob("*.py"))


ROOTS = (Root("dpbandits", Path(__file__).parents[1]),)


def source_file(path: str, roots: tuple[Root, ...] = ROOTS) -> Path:
    """Return the first existing file of a path below a root, such as algorithms/ucb.py.

    Raises FileNotFoundError if no root has it.
    """
    for root in roots:
        if (root.folder / path).is_file():
            return root.folder / path
    raise FileNotFoundError(path)
