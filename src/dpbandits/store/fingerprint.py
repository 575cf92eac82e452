"""The fingerprint of a cell: digests of all the source that can move its numbers.

From the cell's roots the imports are followed within the package; the roots are named because the
registry imports algorithms, environments and stopping rules by name, where no `import` statement
shows it. Comments, docstrings and layout do not count: a better sentence throws no result away.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

from dpbandits.core.kernel import PACKAGE


@cache
def sources(roots: tuple[str, ...], package: Path = PACKAGE) -> dict[str, str]:
    """Digest of every source file that the roots can reach, by its path in the package."""
    reached: set[Path] = set()
    waiting = [package / root for root in roots]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting.extend(_imports(path, package))
    return {path.relative_to(package).as_posix(): _digest(path) for path in sorted(reached)}


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
def _imports(path: Path, package: Path) -> set[Path]:
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
        if parts[0] != package.name:
            continue
        for depth in range(1, len(parts) + 1):
            base = package.joinpath(*parts[1:depth])
            found.update(p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file())
    return found
