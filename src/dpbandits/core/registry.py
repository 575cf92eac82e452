"""The folder is the registry: a file of algorithms/, environments/ or stopping/ is one member.

A member is called by its file's name with hyphens: `algorithms/dp_se.py` is `dp-se`. A file whose
name begins with an underscore is shared by members and is none itself.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from dpbandits.core.errors import UserError, nearest
from dpbandits.core.messages import place_and_reason
from dpbandits.core.roots import ROOTS, Root

FOLDERS = {"algorithm": "algorithms", "law": "environments", "stopping rule": "stopping"}
NEEDED = {  # what every member defines
    "algorithm": ("LABEL", "Params", "play"),
    "law": ("Params", "arms"),
    "stopping rule": ("LABEL", "Params", "halt"),
}


@cache
def _members(kind: str, roots: tuple[Root, ...]) -> Mapping[str, Root]:
    # The members of a kind, each with the root that has its file; the first root wins.
    found: dict[str, Root] = {}
    for root in roots:
        for module in pkgutil.iter_modules([str(root.folder / FOLDERS[kind])]):
            if module.name[0] != "_":
                found.setdefault(module.name.replace("_", "-"), root)
    return dict(sorted(found.items()))


def _names(kind: str) -> list[str]:
    return list(_members(kind, ROOTS))


@cache
def _module(kind: str, name: str, roots: tuple[Root, ...]) -> ModuleType:
    members = _members(kind, roots)
    if name not in members:
        raise UserError(f"unknown {kind} '{name}'; {nearest(name, members)}")
    root, folder = members[name], FOLDERS[kind]
    place = root.folder / folder, f"src/{root.package}/{folder}"
    try:
        module = importlib.import_module(
            f"{root.package}.{folder}.{file_name(name).removesuffix('.py')}"
        )
    except (UserError, MemoryError):
        raise
    except Exception as error:
        raise UserError(f"{kind} '{name}': {place_and_reason(error, *place)}") from error
    lacking = [needed for needed in NEEDED[kind] if not hasattr(module, needed)]
    if lacking:
        file = f"{place[1]}/{file_name(name)}"
        raise UserError(f"{kind} '{name}': {file} must define {' and '.join(lacking)}")
    return module


def member_file(kind: str, name: str) -> Path:
    """File of a member, of the kind algorithm, law or stopping rule."""
    return _members(kind, ROOTS)[name].folder / FOLDERS[kind] / file_name(name)


def file_name(name: str) -> str:
    """The file of a member: `dp_se.py` of `dp-se`."""
    return f"{name.replace('-', '_')}.py"


def algorithm_names() -> list[str]:
    """Every algorithm of the folder, in alphabetical order."""
    return _names("algorithm")


def environment_names() -> list[str]:
    """Every law of the folder, in alphabetical order."""
    return _names("law")


def stopping_rule_names() -> list[str]:
    """Every stopping rule of the folder, in alphabetical order."""
    return _names("stopping rule")


def algorithm(name: str) -> ModuleType:
    """The module of an algorithm: `Params`, `play` and, where it is private, `releases`."""
    return _module("algorithm", name, ROOTS)


def environment(name: str) -> ModuleType:
    """The module of an environment: `Params`, `arms(params)` and what gives the law.

    That is `law(params)`, or `table(params, horizon, rng)` where all gains are made before the
    game.
    """
    return _module("law", name, ROOTS)


def stopping_rule(name: str) -> ModuleType:
    """The module of a stopping rule: `Params`, `halt` and, where it is private, `releases`."""
    return _module("stopping rule", name, ROOTS)
