"""The folder is the registry: a file of algorithms/, environments/ or stopping/ is one member.

A member is called by its file's name with hyphens: `algorithms/dp_se.py` is `dp-se`. A file whose
name begins with an underscore is shared by members and is none itself.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from dpbandits import algorithms, environments, stopping
from dpbandits.core.errors import UserError, nearest
from dpbandits.core.messages import place_and_reason

NEEDED = {  # what every member defines
    "algorithm": ("LABEL", "Params", "play"),
    "law": ("Params", "arms"),
    "stopping rule": ("LABEL", "Params", "halt"),
}


@cache
def _names(package: ModuleType) -> list[str]:
    modules = pkgutil.iter_modules(package.__path__)
    return sorted(m.name.replace("_", "-") for m in modules if m.name[0] != "_")


@cache
def _module(package: ModuleType, kind: str, name: str) -> ModuleType:
    if name not in _names(package):
        raise UserError(f"unknown {kind} '{name}'; {nearest(name, _names(package))}")
    try:
        module = importlib.import_module(
            f"{package.__name__}.{file_name(name).removesuffix('.py')}"
        )
    except (UserError, MemoryError):
        raise
    except Exception as error:
        where = place_and_reason(error, *_folder(package))
        raise UserError(f"{kind} '{name}': {where}") from error
    lacking = [needed for needed in NEEDED[kind] if not hasattr(module, needed)]
    if lacking:
        file = f"{_folder(package)[1]}/{file_name(name)}"
        raise UserError(f"{kind} '{name}': {file} must define {' and '.join(lacking)}")
    return module


def _folder(package: ModuleType) -> tuple[Path, str]:
    # The folder of the members, and its path in the checkout.
    folder = Path(package.__path__[0])
    return folder, folder.relative_to(folder.parents[2]).as_posix()


def file_name(name: str) -> str:
    """The file of a member: `dp_se.py` of `dp-se`."""
    return f"{name.replace('-', '_')}.py"


def algorithm_names() -> list[str]:
    """Every algorithm of the folder, in alphabetical order."""
    return _names(algorithms)


def environment_names() -> list[str]:
    """Every law of the folder, in alphabetical order."""
    return _names(environments)


def stopping_rule_names() -> list[str]:
    """Every stopping rule of the folder, in alphabetical order."""
    return _names(stopping)


def algorithm(name: str) -> ModuleType:
    """The module of an algorithm: `Params`, `play` and, where it is private, `releases`."""
    return _module(algorithms, "algorithm", name)


def environment(name: str) -> ModuleType:
    """The module of an environment: `Params`, `arms(params)` and what gives the law.

    That is `law(params)`, or `table(params, horizon, rng)` where all gains are made before the
    game.
    """
    return _module(environments, "law", name)


def stopping_rule(name: str) -> ModuleType:
    """The module of a stopping rule: `Params`, `halt` and, where it is private, `releases`."""
    return _module(stopping, "stopping rule", name)
