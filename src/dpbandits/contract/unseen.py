"""What the keys of results do not see: a change of it would leave old results in use."""

import ast
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from dpbandits.kernel import loading, registry
from dpbandits.kernel.loading import Booked
from dpbandits.kernel.roots import source_path
from dpbandits.store import key

VARIABLES = ("environ", "environb", "getenv", "getenvb")  # of the module os


def not_in_key(member: registry.Member, opened: Booked) -> Iterator[str]:
    """Yield a line for each thing that a member of a project or plugin uses beside its key.

    These are the files that its sources opened while it played, as booked there, environment
    variables that their code reads, and compiled extensions beside them.
    """
    folders = set[Path]()
    for root, path in key.foreign(key.sources((member.source,))):
        name, file = source_path(root, path), str(root.folder / path)
        for other in sorted(opened.get(file, {}).keys() - loading.BOOKED.get(file, {}).keys()):
            yield f"{name} opens {other} while playing; read it when the module is imported"
        for variable in _variables(root.sources()[path]):
            yield f"{name} reads an environment variable ({variable}); use a parameter"
        folders.add(Path(file).parent)
    for beside in sorted(path for folder in folders for path in folder.iterdir()):
        if beside.name.endswith(tuple(EXTENSION_SUFFIXES)):
            yield f"{beside} is a compiled extension; move it into a library with a version"


def _variables(source: bytes) -> list[str]:
    # The names by which the source reads environment variables.
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in VARIABLES:
            names.add(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            names |= {alias.name for alias in node.names} & {*VARIABLES}
    return sorted(names)
