"""What keys of results do not see, so that old results stay in use, and what no check sees."""

import ast
from collections.abc import Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from inspect import signature
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dpbandits.kernel import loading, registry
from dpbandits.kernel.loading import Booked
from dpbandits.kernel.roots import PACKAGE, source_path
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


def numbers_read(algorithm: str) -> list[str]:
    """Return the global numbers and arrays that `play` and the functions that it calls can read.

    Only functions of the algorithm's root are followed, as their source names them.
    """
    member = registry.member("algorithm", algorithm)
    package = f"{member.root.package}.{'algorithms.' if member.root is PACKAGE else ''}"
    numbers, left, followed = dict[str, str](), [registry.algorithm(algorithm).play], set[Any]()
    while left:
        function = left.pop()
        function = getattr(function, "py_func", function)
        if not isinstance(function, FunctionType) or function in followed:
            continue
        followed.add(function)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        left += [body for cell in cells if isinstance(cell, Mapping) for body in cell.values()]
        if not function.__module__.startswith(package):
            continue
        names = function.__code__.co_names
        values = [(name, function.__globals__.get(name)) for name in names]
        modules = [value for _, value in values if isinstance(value, ModuleType)]
        modules = [module for module in modules if module.__name__.startswith(package)]
        values += [(n, getattr(module, n, None)) for module in modules for n in names]
        values += zip(function.__code__.co_freevars, cells, strict=True)
        values += [(p.name, p.default) for p in signature(function).parameters.values()]
        numbers |= {name: _shown(value) for name, value in values if _is_number(value)}
        left += [value for _, value in values if callable(value)]
    return [f"{name} = {value}" for name, value in numbers.items()]


def _is_number(value: Any) -> bool:
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        return any(map(_is_number, value))
    return isinstance(value, np.ndarray) or type(value) in (int, float)


def _shown(value: Any) -> str:
    text = " ".join(repr(value.tolist() if isinstance(value, np.ndarray) else value).split())
    return text if len(text) <= 40 else f"{text[:36]} ..."


def _variables(source: bytes) -> list[str]:
    # The names by which the source reads environment variables.
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in VARIABLES:
            names.add(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            names |= {alias.name for alias in node.names} & {*VARIABLES}
    return sorted(names)
