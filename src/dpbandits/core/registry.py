"""Registry of algorithms, laws and stopping rules: each file in their folders is one member.

The folders are algorithms/, environments/ and stopping/. A member is named after its file, with
hyphens: `algorithms/dp_se.py` is `dp-se`. A file whose name begins with an underscore holds code
that members share and is not a member.
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
NEEDED = {  # names that every member must define
    "algorithm": ("LABEL", "Params", "play"),
    "law": ("Params", "arms"),
    "stopping rule": ("LABEL", "Params", "halt"),
}


@cache
def _members(kind: str, roots: tuple[Root, ...]) -> Mapping[str, Root]:
    # Map each member of a kind to the root that holds its file; the first root wins.
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
    """Return the path of a member's source; `kind` is algorithm, law or stopping rule.

    Raises KeyError for an unknown name.
    """
    return _members(kind, ROOTS)[name].folder / FOLDERS[kind] / file_name(name)


def file_name(name: str) -> str:
    """Return the file name of a member: `dp_se.py` for `dp-se`."""
    return f"{name.replace('-', '_')}.py"


def algorithm_names() -> list[str]:
    """Return the names of all algorithms in alphabetical order."""
    return _names("algorithm")


def environment_names() -> list[str]:
    """Return the names of all laws in alphabetical order."""
    return _names("law")


def stopping_rule_names() -> list[str]:
    """Return the names of all stopping rules in alphabetical order."""
    return _names("stopping rule")


def algorithm(name: str) -> ModuleType:
    """Return the module of an algorithm: `Params`, `play` and, for a private one, `releases`.

    Raises UserError if there is none of this name, or if its file cannot be imported or lacks a
    required name.
    """
    return _module("algorithm", name, ROOTS)


def environment(name: str) -> ModuleType:
    """Return the module of an environment: `Params`, `arms(params)` and a function for its law.

    That function is `law(params)`, or `table(params, horizon, rng)` if all gains are drawn before
    the game. Raises UserError as `algorithm` does.
    """
    return _module("law", name, ROOTS)


def stopping_rule(name: str) -> ModuleType:
    """Return the module of a stopping rule: `Params`, `halt` and, for a private one, `releases`.

    Raises UserError as `algorithm` does.
    """
    return _module("stopping rule", name, ROOTS)
