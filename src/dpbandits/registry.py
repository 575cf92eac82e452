"""The folder is the registry: one file of `algorithms/` or `environments/` is one member.

A member is called by its file's name with hyphens: `algorithms/dp_se.py` is `dp-se`. A file whose
name begins with an underscore is shared by members and is none itself.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from dpbandits import algorithms, environments
from dpbandits.errors import UserError, nearest


@cache
def _names(package: ModuleType) -> list[str]:
    modules = pkgutil.iter_modules(package.__path__)
    return sorted(m.name.replace("_", "-") for m in modules if m.name[0] != "_")


@cache
def _module(package: ModuleType, kind: str, name: str) -> ModuleType:
    if name not in _names(package):
        raise UserError(f"unknown {kind} '{name}'; {nearest(name, _names(package))}")
    return importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")


def algorithm_names() -> list[str]:
    """Every algorithm of the folder, in alphabetical order."""
    return _names(algorithms)


def environment_names() -> list[str]:
    """Every law of the folder, in alphabetical order."""
    return _names(environments)


def algorithm(name: str) -> ModuleType:
    """The module of an algorithm: `Params`, `play` and, where it is private, `releases`."""
    return _module(algorithms, "algorithm", name)


def environment(name: str) -> ModuleType:
    """The module of an environment: `Params` and `law(params)`."""
    return _module(environments, "law", name)
