"""Packages that supply members, kernels and fingerprints: dpbandits, plugins, the user's project.

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

from dpbandits.core import own_project, plugins

# The kernel island: the packages whose code is compiled. They import no other package of the
# project, so their sources alone determine the machine code.
ISLAND = (
    "algorithms",
    "audit",
    "core",
    "environments",
    "mechanisms",
    "privacy",
    "stopping",
)


class Root(NamedTuple):
    """Package that contains members, in folders such as algorithms/."""

    package: str  # name in import statements
    folder: Path  # folder of its sources
    inside: tuple[str, ...] | None = None  # folders with sources of the package; None: all
    compiled: tuple[str, ...] | None = None  # folders whose code may be compiled; None: all

    def sources(self) -> Mapping[str, bytes]:
        """Return its sources as the process uses them, by path below the folder, in path order."""
        return _read(self.folder, self.inside)

    def island(self) -> Mapping[str, bytes]:
        """Return those that may be compiled; of dpbandits, those of the kernel island."""
        return {n: text for n, text in self.sources().items() if self.compiles(n)}

    def compiles(self, path: str) -> bool:
        """Return True if the machine code of functions in this source can be kept."""
        return self.compiled is None or path.partition("/")[0] in self.compiled

    def is_edited(self) -> bool:
        """Return True if the files on disk are no longer these sources."""
        return self.sources() != _read.__wrapped__(self.folder, self.inside)


@cache
def _read(folder: Path, inside: tuple[str, ...] | None) -> Mapping[str, bytes]:
    folders = [folder] if inside is None else [folder / name for name in inside]
    contents = {}
    for path in sorted(path for each in folders for path in each.rglob("*.py")):
        # An editor may be replacing the file, or keep a dangling link as a lock beside it. A
        # module without a source here cannot be imported.
        with suppress(OSError):
            contents[path.relative_to(folder).as_posix()] = path.read_bytes()
    return MappingProxyType(contents)


PACKAGE = Root("dpbandits", Path(__file__).parents[1], compiled=ISLAND)


def _others() -> tuple[own_project.OwnProject | None, tuple[plugins.Plugin, ...], str]:
    # The user's project, the plugins, and the reason why they cannot be used, if there is one.
    try:
        return own_project.find(), plugins.find(), ""
    except own_project.Invalid as error:
        return None, (), str(error)


PROJECT, PLUGINS, PROBLEM = _others()
_folders = {plugin.package: plugin.folder for plugin in PLUGINS}
ROOTS = (
    PACKAGE,
    *(Root(package, folder) for package, folder in _folders.items() if package != "dpbandits"),
    *((Root(*PROJECT, inside=own_project.FOLDERS),) if PROJECT else ()),
)


def check() -> None:
    """Raise UserError if the user's project or a plugin cannot be used."""
    from dpbandits.core.errors import UserError  # late: the importer is not installed yet above

    if PROBLEM:
        raise UserError(PROBLEM)


def source_path(root: Root, path: str) -> str:
    """Return the name of a source among all roots; of roots but the first, it has the package's."""
    return path if root.package == PACKAGE.package else f"{root.package}/{path}"


def source(name: str) -> tuple[Root, str]:
    """Return the root of a source and its path there, by its name as `source_path` returns it.

    Raises FileNotFoundError if no root has it.
    """
    for root in ROOTS:
        path = name if root is PACKAGE else name.removeprefix(f"{root.package}/")
        if (root is PACKAGE or path != name) and path in root.sources():
            return root, path
    raise FileNotFoundError(name)


def source_file(name: str) -> Path:
    """Return the file of a source by its name. Raises FileNotFoundError if no root has it."""
    root, path = source(name)
    return root.folder / path
