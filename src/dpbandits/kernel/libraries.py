"""Libraries that the sources of a project or plugin import: their versions, or their content.

A library that is installed as it was published is known by its version. One that is installed for
editing, or that no distribution has, is known by a digest of its files, and what these import is
followed too. Modules that are imported by a computed name are not seen.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from importlib.metadata import Distribution, distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path

KNOWN = {"dpbandits", "numba", "numpy", *sys.stdlib_module_names}
SUFFIXES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)


def states(sources: Iterable[bytes], without: Collection[str] = ()) -> dict[str, str | None]:
    """Return the version or the digest of each library that sources import, by name.

    It is None for one that is not installed. `without`: packages that are no libraries.
    """
    state_of: dict[str, str | None] = {}
    waiting, seen = [*sources], {*KNOWN, *without}
    while waiting:
        for name in sorted(imported(waiting.pop()) - seen):
            seen.add(name)
            if published := versions(name):
                state_of |= published
            else:
                state_of[name], contents = _content(name)
                waiting += contents
    return dict(sorted(state_of.items()))


@cache
def imported(source: bytes) -> frozenset[str]:
    """Return the names of the packages that a source imports; none if it cannot be parsed."""
    names = set()
    with suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(str(node.module))
    return frozenset(name.partition(".")[0] for name in names)


def is_edited(package: str) -> bool:
    """Return True if a library that is known by a digest has other files than when first seen."""
    if versions(package):
        return False
    with suppress(OSError):
        return _content.__wrapped__(package) != _content(package)
    return True  # a file is gone


@cache
def versions(package: str) -> dict[str, str]:
    """Return the versions of the distributions with a package; none if one may be edited."""
    installed = [distribution(name) for name in sorted({*_distributions().get(package, ())})]
    return {} if any(map(_is_editable, installed)) else {d.name: d.version for d in installed}


@cache
def _content(package: str) -> tuple[str | None, tuple[bytes, ...]]:
    # The digest of its files, and its sources.
    contents = {name: path.read_bytes() for name, path in files(package).items()}
    digest = hashlib.sha256()
    for name, content in contents.items():
        digest.update(f"\0{name}\0".encode() + content)
    sources = tuple(content for name, content in contents.items() if name.endswith(".py"))
    return digest.hexdigest()[:16] if contents else None, sources


@cache
def _distributions() -> dict[str, list[str]]:
    return {name: [*distributions] for name, distributions in packages_distributions().items()}


def _is_editable(installed: Distribution) -> bool:
    with suppress(ValueError, AttributeError):
        origin = json.loads(installed.read_text("direct_url.json") or "{}")
        return bool(origin.get("dir_info", {}).get("editable", False))
    return False


def files(package: str) -> dict[str, Path]:
    """Return the sources and compiled extensions of a package by path below its folder, sorted."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # a module that was made by hand
        return {}
    if spec is None:
        return {}
    if spec.submodule_search_locations is None:
        file = Path(spec.origin or "")
        return {file.name: file} if spec.has_location else {}
    folders = map(Path, spec.submodule_search_locations)
    paths = {p.relative_to(folder).as_posix(): p for folder in folders for p in folder.rglob("*")}
    return {name: path for name, path in sorted(paths.items()) if name.endswith(SUFFIXES)}
