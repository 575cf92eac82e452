"""Fingerprint of a cell: digests of all source files that can change its numbers.

Imports are followed from the cell's roots within the packages. The roots must be named, because
the registry imports algorithms, environments and stopping rules by name, without an `import`
statement. Comments, docstrings and layout do not count: rewording them invalidates no result.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

from dpbandits.core.roots import ROOTS, Root, source_file


@cache
def sources(names: tuple[str, ...], roots: tuple[Root, ...] = ROOTS) -> dict[str, str]:
    """Return the digest of every source file reachable from the named ones, by path.

    The names are paths below any of the roots, such as algorithms/ucb.py. Raises FileNotFoundError
    if no root has such a file, ValueError for a relative import.
    """
    reached: set[Path] = set()
    waiting = [source_file(name, roots) for name in names]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting.extend(_imports(path, roots))
    found = {_name(path, roots): _digest(path) for path in reached}
    return dict(sorted(found.items()))


def _name(path: Path, roots: tuple[Root, ...]) -> str:
    # Path below the root; for every root but the first, preceded by the name of the package.
    root = next(root for root in roots if path.is_relative_to(root.folder))
    name = path.relative_to(root.folder).as_posix()
    return name if root is roots[0] else f"{root.package}/{name}"


@cache
def _digest(path: Path) -> str:
    tree = ast.parse(path.read_bytes(), str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:16]


@cache
def _imports(path: Path, roots: tuple[Root, ...]) -> set[Path]:
    # Files that the imports of this file execute: the modules, and every __init__ above them.
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{path}: relative imports are not followed; write them in full")
            module = node.module or ""
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    found: set[Path] = set()
    for name in names:
        parts = name.split(".")
        for root in roots:
            if parts[0] != root.package:
                continue
            for depth in range(1, len(parts) + 1):
                base = root.folder.joinpath(*parts[1:depth])
                files = base.with_suffix(".py"), base / "__init__.py"
                found.update(file for file in files if file.is_file())
    return found
