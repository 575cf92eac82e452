"""Packages that supply members, kernels and sources: dpbandits, plugins, the user's project.

A project is a folder marked by dpbandits.toml. With `package = "my_paper"` in that file,
algorithms/my_algorithm.py is the module my_paper.algorithms.my_algorithm. A plugin is an installed
package that names the module of a member in an entry point of the groups dpbandits.algorithms,
dpbandits.environments or dpbandits.stopping, as in `my-ucb = "my_plugin.policies.my_ucb"`.

The sources of a root are read before its modules are imported; all digests are taken of these
bytes. store/key.py compares them with the files before results are stored.
"""

import importlib.util
import keyword
import os
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from dpbandits.core.errors import UserError

MARKER = "dpbandits.toml"
VARIABLE = "DPBANDITS_PROJECT"  # names the project's folder; otherwise the current folder does
FOLDERS = ("algorithms", "environments", "mechanisms", "stopping")  # sources of a project
GROUPS = ("algorithms", "environments", "stopping")  # entry points of plugins

# The kernel island: the packages whose code is compiled. They import no other package of the
# project, so their sources alone determine the machine code.
ISLAND = (
    "algorithms",
    "audit",
    "core",
    "environments",
    "fast",
    "mechanisms",
    "privacy",
    "stopping",
)


class Root(NamedTuple):
    """Package that contains members, in folders such as algorithms/."""

    package: str  # name in import statements
    folder: Path  # folder of its sources
    inside: tuple[str, ...] = ("",)  # folders with sources of the package
    compiled: tuple[str, ...] | None = None  # folders whose code may be compiled; None: all

    def sources(self) -> Mapping[str, bytes]:
        """Return the sources as first read, by path below the folder, in path order."""
        return _read(self.folder, self.inside)

    def compiles(self, path: str) -> bool:
        """Return True if the machine code of functions in this source can be kept."""
        return self.compiled is None or path.partition("/")[0] in self.compiled


PACKAGE = Root("dpbandits", Path(__file__).parents[1], compiled=ISLAND)


class Plugin(NamedTuple):
    """Member that an installed package registers."""

    group: str  # one of GROUPS
    name: str
    package: str  # top-level package
    folder: Path  # of that package
    path: str  # of the member's source, below the folder


class Found(NamedTuple):
    """Project and plugins of a process, with all roots, PACKAGE first."""

    project: Root | None
    plugins: tuple[Plugin, ...]
    roots: tuple[Root, ...]


@cache
def found() -> Found:
    """Find the project of the current folder and the plugins, once, and make them importable.

    Called when a command or the Python interface first needs a member, a kernel or a file of
    theirs. The project is the marked folder at or above the current one, or the one that the
    variable DPBANDITS_PROJECT names. Raises UserError for a project or plugin that cannot be used.
    """
    project = _project()
    plugins = tuple(
        _plugin(*point)
        for point in sorted(
            (group, entry.name, entry.value)
            for group in GROUPS
            for entry in entry_points(group=f"dpbandits.{group}")
        )
    )
    packages = {plugin.package: plugin.folder for plugin in plugins}
    packages.pop(PACKAGE.package, None)
    roots = (PACKAGE, *(Root(*item) for item in packages.items()), *((project,) if project else ()))
    for root in roots:
        root.sources()
    if project is not None:
        for path in project.sources():
            # Python compares whole seconds and sizes: stale bytecode may look current.
            source = project.folder / path
            bytecode = Path(importlib.util.cache_from_source(str(source)))
            with suppress(OSError):
                if bytecode.stat().st_mtime < source.stat().st_mtime + 2:
                    bytecode.unlink()
        module = ModuleType(project.package)
        module.__path__ = [str(project.folder)]
        sys.modules.setdefault(project.package, module)
    return Found(project, plugins, roots)


@cache
def _read(folder: Path, inside: tuple[str, ...]) -> Mapping[str, bytes]:
    contents = {}
    for path in sorted(path for name in inside for path in (folder / name).rglob("*.py")):
        with suppress(OSError):  # a file that an editor is replacing, or its dangling lock
            contents[path.relative_to(folder).as_posix()] = path.read_bytes()
    return MappingProxyType(contents)


def _plugin(group: str, name: str, module: str) -> Plugin:
    package, *parts = module.split(".")
    path = "/".join(parts) + ".py"
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            if (Path(place) / path).is_file():
                return Plugin(group, name, package, Path(place), path)
    raise UserError(
        f"the plugin {name!r} (entry point dpbandits.{group}) names the module {module}, of which"
        " no source is installed: install its package again or remove it"
    )


def _project() -> Root | None:
    if named := os.environ.get(VARIABLE):
        folder = Path(named).absolute()
        if not (folder / MARKER).is_file():
            raise UserError(f"{VARIABLE}={named}: this folder has no {MARKER}")
    else:
        try:
            here = Path.cwd()
        except FileNotFoundError:  # the current folder has been deleted
            return None
        marked = [place for place in (here, *here.parents) if (place / MARKER).is_file()]
        if not marked:
            return None
        folder = marked[0]
    file = folder / MARKER
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:  # not readable, not UTF-8 or not TOML
        raise UserError(f"{file} cannot be read: {error}") from error
    package: Any = content.get("package")
    if not is_package_name(package):
        raise UserError(
            f"{file}: package must be a name in lower case, such as my_paper, and of no other"
            f" package of Python or dpbandits; got {package!r}"
        )
    if unknown := sorted(content.keys() - {"package"}):
        raise UserError(f"{file}: unknown key {unknown[0]!r}; the only key is package")
    if place := installed_elsewhere(package, folder):
        raise UserError(
            f"{file}: package {package!r} is installed already ({place}); choose another name"
        )
    return Root(package, folder, FOLDERS)


def is_package_name(name: object) -> bool:
    """Return True for a name that a project's package may have: lower case, and not yet taken."""
    return (
        isinstance(name, str)
        and name.isidentifier()
        and name.isascii()
        and name == name.lower()
        and not keyword.iskeyword(name)
        and name not in sys.stdlib_module_names
        and not (PACKAGE.folder / name).is_dir()  # paths of sources must stay distinct
        and name != PACKAGE.package
    )


def installed_elsewhere(package: str, folder: Path) -> str:
    """Return the place of an installed package of this name; '' if there is none.

    The project's own folder does not count: it may be installed as a package, too.
    """
    spec = PathFinder.find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    if spec is None or (places and all(Path(place) == folder for place in places)):
        return ""
    return spec.origin or ", ".join(places)


def source_path(root: Root, path: str) -> str:
    """Return the name of a source among all roots; of roots but the first, it has the package's."""
    return path if root.package == PACKAGE.package else f"{root.package}/{path}"


def source(name: str) -> tuple[Root, str]:
    """Return the root of a source and its path there, by its name as `source_path` returns it.

    Raises FileNotFoundError if no root has it.
    """
    for root in found().roots:
        prefix = source_path(root, "")
        path = name.removeprefix(prefix)
        if name.startswith(prefix) and path in root.sources():
            return root, path
    raise FileNotFoundError(name)


def source_file(name: str) -> Path:
    """Return the file of a source by its name. Raises FileNotFoundError if no root has it."""
    root, path = source(name)
    return root.folder / path
