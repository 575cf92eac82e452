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
    found: dict[str, str | None] = {}
    waiting, seen = [*sources], {*KNOWN, *without}
    while waiting:
        for name in sorted(imported(waiting.pop()) - seen):
            seen.add(name)
            state, own = _state(name)
            found |= state
            waiting += own
    return dict(sorted(found.items()))


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


@cache
def _state(package: str) -> tuple[dict[str, str | None], tuple[bytes, ...]]:
    # As first seen: its version by the name of the distribution, or its digest and its sources.
    known = [distribution(name) for name in sorted({*_distributions().get(package, ())})]
    if known and not any(map(_is_edited, known)):
        return {one.name: one.version for one in known}, ()
    contents = {str(path): path.read_bytes() for path in files(package)}
    if not contents:
        return {package: None}, ()
    digest = hashlib.sha256()
    for path, content in contents.items():
        digest.update(f"\0{path}\0".encode() + content)
    own = tuple(text for path, text in contents.items() if path.endswith(".py"))
    return {package: digest.hexdigest()[:16]}, own


@cache
def _distributions() -> dict[str, list[str]]:
    return {name: [*found] for name, found in packages_distributions().items()}


def _is_edited(installed: Distribution) -> bool:
    with suppress(ValueError, AttributeError):
        origin = json.loads(installed.read_text("direct_url.json") or "{}")
        return bool(origin.get("dir_info", {}).get("editable", False))
    return False


def files(package: str) -> list[Path]:
    """Return the sources and compiled extensions of an installed package, in path order."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # a module that was made by hand
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)] if spec.has_location and spec.origin else []
    places = map(Path, spec.submodule_search_locations)
    return sorted(p for place in places for p in place.rglob("*") if p.name.endswith(SUFFIXES))
