"""Fingerprint of a cell: digests of all sources that can change its numbers.

The digests are of the sources that this process imports (core/roots.py), not of the files as they
are by now. Imports are followed from the cell's roots within the packages. The roots must be named,
because the registry imports algorithms, environments and stopping rules by name, without an
`import` statement. Comments, docstrings and layout do not count: rewording them invalidates no
result.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dpbandits.core.errors import UserError
from dpbandits.core.roots import ROOTS, Root, source_path


@cache
def sources(names: tuple[str, ...], roots: tuple[Root, ...] = ROOTS) -> dict[str, str]:
    """Return the digest of every source reachable from the named ones, by path.

    The names are paths such as algorithms/ucb.py; those of roots other than the first begin with
    the package, as in my_paper/algorithms/mine.py. Raises FileNotFoundError if no root has such a
    file, ValueError for a relative import.
    """
    known = _known(roots)
    reached: set[str] = set()
    if unknown := [name for name in names if name not in known]:
        raise FileNotFoundError(unknown[0])
    waiting = [*names]
    while waiting:
        path = waiting.pop()
        if path in known and path not in reached:
            reached.add(path)
            waiting.extend(_candidates(_imports(path, known[path].content), roots))
    return {path: _digest(known[path].content) for path in sorted(reached)}


def edited(names: tuple[str, ...], roots: tuple[Root, ...] = ROOTS) -> list[str]:
    """Return the sources reachable from the named ones that have other code on disk by now."""
    known = _known(roots)
    return [
        path
        for path, digest in sources(names, roots).items()
        if _digest_on_disk(known[path].file) != digest
    ]


def _digest_on_disk(file: Path) -> str | None:
    # None if the file is gone, or cannot be parsed while it is being edited.
    try:
        return _digest(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


class _Source(NamedTuple):
    file: Path
    content: bytes  # as this process imports it


@cache
def _known(roots: tuple[Root, ...]) -> dict[str, _Source]:
    return {
        source_path(root, name): _Source(root.folder / name, content)
        for root in roots
        for name, content in root.sources().items()
    }


@cache
def _digest(content: bytes) -> str:
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


@cache
def _imports(path: str, content: bytes) -> frozenset[str]:
    # Names of all modules, and perhaps of members of modules, that a source imports.
    names: set[str] = set()
    for node in ast.walk(ast.parse(content, path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise UserError(f"{path}: relative imports are not followed; write them in full")
            module = node.module or ""
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def _candidates(names: frozenset[str], roots: tuple[Root, ...]) -> Iterator[str]:
    # Paths that importing these names may execute: the modules, and every __init__ above them.
    for name in names:
        package, *parts = name.split(".")
        for root in roots:
            if package == root.package:
                yield source_path(root, "__init__.py")
                for depth in range(1, len(parts) + 1):
                    base = source_path(root, "/".join(parts[:depth]))
                    yield f"{base}.py"
                    yield f"{base}/__init__.py"
