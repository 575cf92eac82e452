"""Packages that supply members, kernels and fingerprints: at present only dpbandits.

A process uses one state of their sources. All of them are read when dpbandits is imported; modules
are executed from these bytes (importer.py), and every digest is taken of these bytes. An edit while
a command runs therefore reaches neither its numbers nor its keys.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
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

    def sources(self) -> Mapping[str, bytes]:
        """Return its sources as the process uses them, by path below the folder, in path order."""
        return _read(self.folder)

    def island(self) -> Mapping[str, bytes]:
        """Return those of the kernel island."""
        return {n: text for n, text in self.sources().items() if n.partition("/")[0] in ISLAND}

    def is_edited(self) -> bool:
        """Return True if the files on disk are no longer these sources."""
        return self.sources() != _read.__wrapped__(self.folder)


@cache
def _read(folder: Path) -> Mapping[str, bytes]:
    found = {}
    for path in sorted(folder.rglob("*.py")):
        # An editor may be replacing the file, or keep a dangling link as a lock beside it. A
        # module without a source here cannot be imported.
        with suppress(OSError):
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return MappingProxyType(found)


ROOTS = (Root("dpbandits", Path(__file__).parents[1]),)


def source_file(path: str, roots: tuple[Root, ...] = ROOTS) -> Path:
    """Return the first existing file of a path below a root, such as algorithms/ucb.py.

    Raises FileNotFoundError if no root has it.
    """
    for root in roots:
        if path in root.sources():
            return root.folder / path
    raise FileNotFoundError(path)
