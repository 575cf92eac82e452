"""Project of one's own: a folder marked by dpbandits.toml, whose sources are a package.

Its folders algorithms/, environments/, mechanisms/ and stopping/ are imported under the name that
the file gives: with `package = "my_paper"`, algorithms/my_algorithm.py is the module
my_paper.algorithms.my_algorithm.
"""

import importlib.machinery
import keyword
import os
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

MARKER = "dpbandits.toml"
VARIABLE = "DPBANDITS_PROJECT"  # names the project's folder; otherwise the current folder does
FOLDERS = ("algorithms", "environments", "mechanisms", "stopping")


class Invalid(Exception):
    """Mistake in the description of a project or of a plugin, in one line."""


class OwnProject(NamedTuple):
    """Project of a user."""

    package: str  # name in import statements
    folder: Path


def find() -> OwnProject | None:
    """Return the project of the current folder, or the one that DPBANDITS_PROJECT names.

    None if neither the current folder nor one above it is marked. Raises Invalid for a project that
    cannot be used.
    """
    folder = _folder()
    return None if folder is None else OwnProject(_package(folder), folder)


def is_package_name(name: object) -> bool:
    """Return True for a name that a project's package may have: lower case, and not yet taken."""
    return (
        isinstance(name, str)
        and name.isidentifier()
        and name.isascii()
        and name == name.lower()
        and not keyword.iskeyword(name)
        and name not in sys.stdlib_module_names
        and not (Path(__file__).parents[1] / name).is_dir()  # paths of sources must stay distinct
        and name != "dpbandits"
    )


def installed_elsewhere(package: str, folder: Path) -> str:
    """Return the place of an installed package of this name; '' if there is none.

    The project's own folder does not count: it may be installed as a package, too.
    """
    found = importlib.machinery.PathFinder.find_spec(package)
    places = list(found.submodule_search_locations or ()) if found else []
    if found is None or (places and all(Path(place) == folder for place in places)):
        return ""
    return found.origin or ", ".join(places)


def _folder() -> Path | None:
    if named := os.environ.get(VARIABLE):
        folder = Path(named).absolute()
        if not (folder / MARKER).is_file():
            raise Invalid(f"{VARIABLE}={named}: this folder has no {MARKER}")
        return folder
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the current folder has been deleted
        return None
    return next((one for one in (here, *here.parents) if (one / MARKER).is_file()), None)


def _package(folder: Path) -> str:
    file = folder / MARKER
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:  # not readable, not UTF-8 or not TOML
        raise Invalid(f"{file} cannot be read: {error}") from error
    package: Any = content.get("package")
    if not is_package_name(package):
        raise Invalid(
            f"{file}: package must be a name in lower case, such as my_paper, and of no other"
            f" package of Python or dpbandits; got {package!r}"
        )
    if unknown := sorted(content.keys() - {"package"}):
        raise Invalid(f"{file}: unknown key {unknown[0]!r}; the only key is package")
    if place := installed_elsewhere(package, folder):
        raise Invalid(
            f"{file}: package {package!r} is installed already ({place}); choose another name"
        )
    return str(package)
