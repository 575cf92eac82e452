"""Packages that supply members, kernels and sources: dpbandits, plugins, the user's project.

A project is a folder marked by dpbandits.toml. With `package = "my_paper"` in that file,
algorithms/my_algorithm.py is the module my_paper.algorithms.my_algorithm. A plugin is an installed
package that names the module of a member in an entry point, as in `my-ucb =
"my_plugin.policies.my_ucb"` of the group dpbandits.algorithms; each folder of members has a group.

The sources of a root are read before its modules are imported; all digests are taken of these
bytes, and the modules of a project or plugin are compiled from them (loading.py). store/key.py
compares them with the files before results are stored.
"""

import importlib.util
import keyword
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from dpbandits.kernel.errors import UserError
from dpbandits.kernel.loading import Finder

MARKER = "dpbandits.toml"
VARIABLE = "DPBANDITS_PROJECT"  # names the project's folder; otherwise the current folder does
MEMBERS = {  # folders of the members of a group; the groups of their plugins have these names
    "algorithm": ("algorithms", "stopping"),
    "environment": ("environments",),
    "kind": ("kinds",),
}
GROUPS = tuple(folder for folders in MEMBERS.values() for folder in folders)
FOLDERS = tuple(sorted((*GROUPS, "experiments", "mechanisms")))  # sources of a project

# The kernel island: the packages whose code is compiled. They import no other package of the
# project, so their sources alone determine the machine code.
TOOLS = ("audit", "fast", "kernel", "mechanisms", "privacy")
ISLAND = (*MEMBERS["algorithm"], *MEMBERS["environment"], *TOOLS)


class Root(NamedTuple):
    """Package that contains members, in folders such as algorithms/."""

    package: str  # name in import statements
    folder: Path  # folder of its sources
    inside: tuple[str, ...] = ("",)  # folders with sources of the package

    def sources(self) -> Mapping[str, bytes]:
        """Return the sources as first read, by path below the folder, in path order."""
        return _read_sources(self.folder, self.inside)

    def compiles(self, path: str) -> bool:
        """Return True if the machine code of functions in this source can be kept."""
        return self.package != PACKAGE.package or path.partition("/")[0] in ISLAND


PACKAGE = Root("dpbandits", Path(__file__).parents[1])


@cache
def _read_sources(folder: Path, inside: tuple[str, ...]) -> Mapping[str, bytes]:
    files = sorted(path for name in inside for path in (folder / name).rglob("*.py"))
    # An editor's lock is a link to no file.
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files if p.is_file()}


class Plugin(NamedTuple):
    """Member that an installed package registers."""

    group: str  # one of GROUPS
    name: str
    root: Root
    path: str  # of the member's source, below the folder of the root


class Discovery(NamedTuple):
    """Project and plugins of a process, with all roots, PACKAGE first."""

    project: Root | None
    plugins: tuple[Plugin, ...]
    roots: tuple[Root, ...]


@cache
def discovery() -> Discovery:
    """Find the project of the current folder and the plugins, once, and make them importable.

    The project is the marked folder at or above the current one, or the one that the variable
    DPBANDITS_PROJECT names, whoever owns that. Raises UserError for a project or plugin that
    cannot be used.
    """
    project = _project()
    plugins = []
    points = [(group, p) for group in GROUPS for p in entry_points(group=f"dpbandits.{group}")]
    for group, name, target in sorted((group, p.name, p.value) for group, p in points):
        package, *parts = target.split(".")
        path, locations = "/".join(parts) + ".py", list[str]()
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(package)
            locations += (spec.submodule_search_locations or ()) if spec else ()
        folders = [Path(location) for location in locations if (Path(location) / path).is_file()]
        if not folders:
            raise UserError(
                f"the plugin {name!r} (entry point dpbandits.{group}) names the module {target},"
                " of which no source is installed: install its package again or remove it"
            )
        plugins.append(Plugin(group, name, Root(package, folders[0]), path))
    roots = (PACKAGE, *dict.fromkeys(plugin.root for plugin in plugins))
    if project is not None:
        roots = (*roots, project)
        module = ModuleType(project.package)
        module.__path__ = [str(project.folder)]
        sys.modules.setdefault(project.package, module)
    for root in roots:
        root.sources()
        if any("\ud800" <= letter <= "\udfff" for letter in str(root.folder)):  # for numba
            raise UserError(
                f"the locale cannot spell the name of the folder {str(root.folder)!a}: set the"
                " environment variable PYTHONUTF8=1"
            )
    if packages := {root.package: (root.folder, root.sources()) for root in roots[1:]}:
        sys.meta_path.insert(0, Finder(packages))
    return Discovery(project, tuple(plugins), roots)


def _project() -> Root | None:
    here = Path.cwd()
    if setting := os.environ.get(VARIABLE):
        folder = Path(setting).absolute()
        if not (folder / MARKER).is_file():
            raise UserError(f"{VARIABLE}={setting}: this folder has no {MARKER}")
    elif marked := [path for path in (here, *here.parents) if (path / MARKER).is_file()]:
        folder = marked[0]
        check_owner(folder, MARKER)
    else:
        return None
    file = folder / MARKER
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:  # not readable, not UTF-8 or not TOML
        raise UserError(f"{file} cannot be read: {error}") from error
    package = content.pop("package", None)
    if content:
        raise UserError(f"{file}: unknown key {next(iter(content))!r}; the only key is package")
    if not is_new_package(package, folder):
        valid = "a name in lower case, such as my_paper, and of no other package installed here"
        raise UserError(f"{file}: package must be {valid}; got {package!r}")
    return Root(package, folder, FOLDERS)


def check_owner(folder: Path, *files: str) -> None:
    """Raise UserError if a folder or a file in it belongs to another user, except root.

    Commands run the Python files of a project or checkout that they find by themselves.
    """
    for path in (folder, *map(folder.joinpath, files)):
        if path.lstat().st_uid not in (0, os.geteuid()):
            raise UserError(
                f"{path} belongs to another user, whose Python files would be run: set the"
                f" environment variable {VARIABLE} to a project's folder, your own or, if you trust"
                " its files, this one"
            )


def is_new_package(name: object, folder: Path) -> bool:
    """Return True for a lower-case name that no package but the project in this folder has."""
    if not isinstance(name, str) or not re.fullmatch("[a-z_][a-z0-9_]*", name):
        return False
    # Paths of sources must stay distinct from those of dpbandits.
    taken = (*keyword.kwlist, *sys.stdlib_module_names, PACKAGE.package)
    if name in taken or (PACKAGE.folder / name).is_dir():
        return False
    spec = PathFinder.find_spec(name)
    return spec is None or {*map(Path, spec.submodule_search_locations or ())} == {folder}


def source_path(root: Root, path: str) -> str:
    """Return the name of a source among all roots: below all but the first, with the package."""
    return path if root.package == PACKAGE.package else f"{root.package}/{path}"


def source(name: str) -> tuple[Root, str]:
    """Return the root of a source and its path there, by its name as `source_path` returns it.

    Raises FileNotFoundError if no root has it.
    """
    for root in discovery().roots:
        path = name.removeprefix(source_path(root, ""))
        if path in root.sources() and source_path(root, path) == name:
            return root, path
    raise FileNotFoundError(name)
