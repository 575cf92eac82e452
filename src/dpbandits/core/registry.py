"""Registry of algorithms, laws and stopping rules: each file in their folders is one member.

The folders are algorithms/, environments/ and stopping/, of the package and of the user's project.
A member is named after its file, with hyphens: `algorithms/dp_se.py` is `dp-se`. A file whose name
begins with an underscore holds code that members share and is not a member. Installed plugins name
their members themselves.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from dpbandits.core import parameters, roots
from dpbandits.core.errors import UserError, nearest
from dpbandits.core.messages import place_and_reason
from dpbandits.core.roots import PACKAGE, Found, Root, source_path

FOLDERS = {"algorithm": "algorithms", "law": "environments", "stopping rule": "stopping"}
NEEDED = {  # names that every member must define
    "algorithm": ("LABEL", "Params", "play"),
    "law": ("Params", "arms"),
    "stopping rule": ("LABEL", "Params", "halt"),
}
# Algorithms passed from Python, by name: they have no source, and their runs are not stored.
NOT_STORED: dict[str, ModuleType] = {}


class Member(NamedTuple):
    """Place of a member's source."""

    root: Root
    path: str  # below the folder of the root

    @property
    def source(self) -> str:
        """Name of the source among all roots, as cells and fingerprints use it."""
        return source_path(self.root, self.path)

    @property
    def file(self) -> Path:
        """Path of the source."""
        return self.root.folder / self.path

    @property
    def shown(self) -> str:
        """Path of the source as messages print it."""
        if self.root == roots.found().project:
            return self.path
        return f"src/{PACKAGE.package}/{self.path}" if self.root is PACKAGE else str(self.file)

    @property
    def module(self) -> str:
        """Name of the module in import statements."""
        return f"{self.root.package}.{self.path.removesuffix('.py').replace('/', '.')}"


@cache
def _members(kind: str, found: Found) -> Mapping[str, Member]:
    # Map each name of a kind to its member.
    roots_by_package = {root.package: root for root in found.roots}
    plugged = {plugin.package for plugin in found.plugins}  # their entry points name the members
    members = [
        (path.rpartition("/")[2].removesuffix(".py").replace("_", "-"), Member(root, path))
        for root in found.roots
        for path in root.sources()
        if root.package not in plugged
        and path.rpartition("/")[0] == FOLDERS[kind]
        and not path.rpartition("/")[2].startswith("_")
    ]
    members += [
        (plugin.name, Member(roots_by_package[plugin.package], plugin.path))
        for plugin in found.plugins
        if plugin.group == FOLDERS[kind]
    ]
    by_name: dict[str, Member] = {}
    for name, member in members:
        if name in by_name:
            raise UserError(
                f"two {kind}s are named '{name}', {by_name[name].shown} and {member.shown}: rename"
                " one of them"
            )
        by_name[name] = member
    return dict(sorted(by_name.items()))


def member(kind: str, name: str) -> Member:
    """Return the place of a member's source; `kind` is algorithm, law or stopping rule.

    Raises UserError for an unknown name.
    """
    members = _members(kind, roots.found())
    if name not in members:
        raise UserError(f"unknown {kind} '{name}'; {nearest(name, members)}")
    return members[name]


@cache
def _module(kind: str, member: Member, name: str) -> ModuleType:
    try:
        module = importlib.import_module(member.module)
    except (UserError, MemoryError):
        raise
    except Exception as error:
        place = place_and_reason(error, member.file.parent, member.shown.rpartition("/")[0])
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
    return path if path in roots.PACKAGE.sources() else None


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

    Raises UserError if there is none of this name, or if its file cannot be imported or lacks a
    required name.
    """
    return NOT_STORED.get(name) or _module("algorithm", member("algorithm", name), name)


def environment(name: str) -> ModuleType:
    """Return the module of an environment: `Params`, `arms(params)` and a function for its law.

    That function is `law(params)`, or `table(params, horizon, rng)` if all gains are drawn before
    the game. Raises UserError as `algorithm` does.
    """
    return _module("law", member("law", name), name)


def stopping_rule(name: str) -> ModuleType:
    """Return the module of a stopping rule: `Params`, `halt` and, for a private one, `releases`.

    Raises UserError as `algorithm` does.
    """
    return _module("stopping rule", member("stopping rule", name), name)
