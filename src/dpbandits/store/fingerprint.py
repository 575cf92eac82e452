"""The fingerprint of a cell: digests of all the source that can move its numbers.

From the cell's roots the imports are followed within the packages; the roots are named because the
registry imports algorithms, environments and stopping rules by name, where no `import` statement
shows it. Comments, docstrings and layout do not count: a better sentence throws no result away.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

from dpbandits.core.roots import ROOTS, Root, source_file


@cache
def sources(names: tuple[str, ...], roots: tuple[Root, ...] = ROOTS) -> dict[str, str]:
    """Digest of every source file that the named ones can reach, by its path in its package.

    The names are paths below any of the roots, such as algorithms/ucb.py.
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
    # Below the first root, the path there; below another, the name of its package in front.
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
    # The files that an import statement of this file runs: the module, and every __init__ above.
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
