"""Registry of algorithms, laws and stopping rules: each file in their folders is one member.

The folders are algorithms/, environments/ and stopping/, of the package and of the user's project.
A member is named after its file, with hyphens: `algorithms/dp_se.py` is `dp-se`. A file whose name
begins with an underscore holds code that members share and is not a member. Installed plugins name
their members themselves.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from dpbandits.kernel import parameters, roots
from dpbandits.kernel.errors import UserError, nearest, place_and_reason
from dpbandits.kernel.roots import PACKAGE, Found, Root, source_path

FOLDERS = {"algorithm": "algorithms", "law": "environments", "stopping rule": "stopping"}
NEEDED = {  # names that every member must define
    "algorithm": ("LABEL", "Params", "play"),
    "law": ("Params", "arms"),
    "stopping rule": ("LABEL", "Params", "halt"),
}
# Algorithms and laws passed from Python: they have no source, and their runs are not stored.
NOT_STORED: dict[str, Any] = {}


class Member(NamedTuple):
    """Place of a member's source."""

    root: Root
    path: str  # below the folder of the root

    @property
    def source(self) -> str:
        """Name of the source among all roots, as experiments and fingerprints use it."""
        return source_path(self.root, self.path)

    @property
    def shown(self) -> str:
        """Path of the source as messages print it."""
        if self.root == roots.found().project:
            return self.path
        folder = f"src/{PACKAGE.package}" if self.root is PACKAGE else self.root.folder
        return f"{folder}/{self.path}"


@cache
def _members(kind: str, found: Found) -> Mapping[str, Member]:
    folder = FOLDERS[kind]
    plugged = {plugin.root for plugin in found.plugins}  # their entry points name the members
    members = [(p.name, Member(p.root, p.path)) for p in found.plugins if p.group == folder]
    for root in found.roots:
        for path in root.sources() if root not in plugged else ():
            parent, _, file = path.rpartition("/")
            if parent == folder and not file.startswith("_"):
                members.append((file.removesuffix(".py").replace("_", "-"), Member(root, path)))
    by_name: dict[str, Member] = {}
    for name, member in members:
        if (other := by_name.setdefault(name, member)) is not member:
            files = f"{other.shown} and {member.shown}"
            raise UserError(f"two {kind}s are named '{name}', {files}: rename one of them")
    return dict(sorted(by_name.items()))


def member(kind: str, name: str) -> Member:
    """Return the place of a member's source; `kind` is algorithm, law or stopping rule."""
    members = _members(kind, roots.found())
    if name not in members:
        raise UserError(f"unknown {kind} '{name}'; {nearest(name, members)}")
    return members[name]


@cache
def _module(kind: str, member: Member, name: str) -> ModuleType:
    below = member.path.removesuffix(".py").replace("/", ".")
    try:
        module = importlib.import_module(f"{member.root.package}.{below}")
    except (UserError, MemoryError):
        raise
    except Exception as error:
        folder = (member.root.folder / member.path).parent
        place = place_and_reason(error, folder, member.shown.rpartition("/")[0])
        raise UserError(f"{kind} '{name}': {place}") from error
    lacking = [needed for needed in NEEDED[kind] if not hasattr(module, needed)]
    if lacking:
        raise UserError(f"{kind} '{name}': {member.shown} must define {' and '.join(lacking)}")
    if problem := parameters.unsupported(module.Params):
        raise UserError(f"{kind} '{name}': {member.shown}: {problem}")
    return module


def scheme(algorithm: str) -> str | None:
    """Return the source of an algorithm's exact scheme in fast/; None if it has none."""
    path = f"fast/{algorithm.replace('-', '_')}.py"
    return path if path in PACKAGE.sources() else None


def algorithm_names() -> list[str]:
    """Return the names of all algorithms in alphabetical order."""
    return list(_members("algorithm", roots.found()))


def environment_names() -> list[str]:
    """Return the names of all laws in alphabetical order."""
    return list(_members("law", roots.found()))


def stopping_rule_names() -> list[str]:
    """Return the names of all stopping rules in alphabetical order."""
    return list(_members("stopping rule", roots.found()))


def algorithm(name: str) -> ModuleType:
    """Return the module of an algorithm: `Params`, `play` and, for a private one, `releases`.

    Like the functions for laws and rules, it raises UserError if there is none of this name, or if
    its file cannot be imported or lacks a required name.
    """
    return NOT_STORED.get(name) or _module("algorithm", member("algorithm", name), name)


def environment(name: str) -> ModuleType:
    """Return the module of an environment: `Params`, `arms(params)` and a function for its law.

    That is `law(params)`, `table(params, horizon, rng)` if gains are drawn before the game, or
    `drawn(params, rng)`, which draws another environment with its parameters for every run.
    """
    return NOT_STORED.get(name) or _module("law", member("law", name), name)


def stopping_rule(name: str) -> ModuleType:
    """Return the module of a stopping rule: `Params`, `halt` and, for a private one, `releases`."""
    return _module("stopping rule", member("stopping rule", name), name)
