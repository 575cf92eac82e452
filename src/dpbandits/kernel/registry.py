"""Registry of algorithms, environments and kinds of experiment: each file in their folders is one.

The folders are algorithms/, stopping/, environments/ and kinds/, of the package and of the user's
project. A member is named after its file, with hyphens: `algorithms/dp_se.py` is `dp-se`. A file
whose name begins with an underscore holds code that members share and is not a member. Installed
plugins name their members themselves. An algorithm belongs to the experiments of one kind, which it
names in a line `KIND = "identification"`; without one, it plays for regret, or in stopping/ it is a
stopping rule.
"""

import importlib
import math
import re
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from dpbandits.kernel import parameters, roots
from dpbandits.kernel.environment import DRAWS, UNBOUNDED, WITHIN, Environment
from dpbandits.kernel.errors import UserError, nearest, place_and_reason
from dpbandits.kernel.roots import MEMBERS, PACKAGE, Discovery, Root, source_path

NEEDED = {  # names that every member must define
    "algorithm": ("LABEL", "Params", "play"),
    "environment": ("Params", "arms"),
    "kind": ("kind",),
}
USUAL = "regret"  # kind of an algorithm that names none
NAMES_KIND = re.compile(rb"^KIND = [\"']([\w-]+)[\"']", re.MULTILINE)
# Algorithms and environments passed from Python: they have no source, and their runs are not
# stored.
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
        if self.root == roots.discovery().project:
            return self.path
        folder = f"src/{PACKAGE.package}" if self.root is PACKAGE else self.root.folder
        return f"{folder}/{self.path}"

    @property
    def kind(self) -> str:
        """Kind of the experiments to which an algorithm belongs."""
        usual = "stopping" if self.path.startswith("stopping/") else USUAL
        return _kind(self.root.sources()[self.path]) or usual


@cache
def _kind(source: bytes) -> str:
    line = NAMES_KIND.search(source)
    return line[1].decode() if line else ""


@cache
def _members(group: str, discovery: Discovery) -> Mapping[str, Member]:
    folders = MEMBERS[group]
    plugged = {plugin.root for plugin in discovery.plugins}  # their entry points name the members
    members = [(p.name, Member(p.root, p.path)) for p in discovery.plugins if p.group in folders]
    for root in discovery.roots:
        for path in root.sources() if root not in plugged else ():
            parent, _, file = path.rpartition("/")
            if parent in folders and not file.startswith("_"):
                members.append((file.removesuffix(".py").replace("_", "-"), Member(root, path)))
    by_name: dict[str, Member] = {}
    for name, member in members:
        if (other := by_name.setdefault(name, member)) is not member:
            files = f"{other.shown} and {member.shown}"
            raise UserError(f"two {group}s are named '{name}', {files}: rename one of them")
    return dict(sorted(by_name.items()))


def members(group: str) -> Mapping[str, Member]:
    """Return the places of all sources of a group (algorithm, environment, kind) by name."""
    return _members(group, roots.discovery())


def member(group: str, name: str) -> Member:
    """Return the place of a member's source; raise UserError if there is none of this name."""
    by_name = members(group)
    if name not in by_name:
        raise UserError(f"unknown {group} '{name}'; {nearest(name, by_name)}")
    return by_name[name]


@cache
def _module(group: str, member: Member, name: str) -> ModuleType:
    below = member.path.removesuffix(".py").replace("/", ".")
    try:
        module = importlib.import_module(f"{member.root.package}.{below}")
    except (UserError, MemoryError):
        raise
    except Exception as error:
        folder = (member.root.folder / member.path).parent
        reason = place_and_reason(error, folder, member.shown.rpartition("/")[0])
        raise UserError(f"{group} '{name}': {reason}") from error
    lacking = [needed for needed in NEEDED[group] if not hasattr(module, needed)]
    if lacking:
        raise UserError(f"{group} '{name}': {member.shown} must define {' and '.join(lacking)}")
    problem = parameters.unsupported(module.Params) if "Params" in NEEDED[group] else ""
    if group == "algorithm" and (kind := getattr(module, "KIND", member.kind)) != member.kind:
        problem = f"write KIND = {str(kind)!r} as a text on a line of its own"
    if group == "algorithm" and hasattr(module, "claim"):
        problem = "`claim` is now called `guarantee`, and `promise` is `guaranteed`"
    if not _is_range(bounds := getattr(module, "RANGE", WITHIN)):
        problem = f"RANGE must be two floats, the smaller first, got {bounds!r}"
    if problem:
        raise UserError(f"{group} '{name}': {member.shown}: {problem}")
    return module


def _is_range(bounds: Any) -> bool:
    is_pair = isinstance(bounds, tuple) and len(bounds) == 2
    return is_pair and all(isinstance(x, float) for x in bounds) and bounds[0] < bounds[1]


def source_of(module: str) -> str:
    """Return the name of a module's source among all roots; of one of no root, its own name."""
    package, _, rest = module.partition(".")
    path = f"{rest.replace('.', '/')}.py"
    candidates = (root for root in roots.discovery().roots if root.package == package)
    return next((source_path(root, path) for root in candidates), path)


def scheme_source(algorithm: str) -> str | None:
    """Return the source of an algorithm's exact scheme in fast/; None if it has none."""
    path = f"fast/{algorithm.replace('-', '_')}.py"
    return path if path in PACKAGE.sources() else None


def names(kind: str) -> list[str]:
    """Return the names of the algorithms of a kind in alphabetical order."""
    return [name for name, member in members("algorithm").items() if member.kind == kind]


def algorithm_names() -> list[str]:
    """Return the names of all algorithms that play for regret, in alphabetical order."""
    return names(USUAL)


def environment_names() -> list[str]:
    """Return the names of all environments in alphabetical order."""
    return list(members("environment"))


def algorithm(name: str) -> ModuleType:
    """Return the module of an algorithm of any kind: `Params`, `play` and perhaps `releases`.

    Like the other functions, it raises UserError if there is none of this name, or if its file
    cannot be imported or lacks a required name.
    """
    return NOT_STORED.get(name) or _module("algorithm", member("algorithm", name), name)


def environment(name: str) -> Environment:
    """Return an environment, with what its file defines (kernel/environment.py)."""
    if name in NOT_STORED:
        return Environment.of(name, NOT_STORED[name], is_of_package=False)
    return _environment(member("environment", name), name)


@cache
def _environment(member: Member, name: str) -> Environment:
    module = _module("environment", member, name)
    if sum(hasattr(module, draws) for draws in DRAWS) != 1:
        raise UserError(
            f"environment '{name}': {member.shown} must define one of {', '.join(DRAWS)}"
        )
    return Environment.of(name, module, member.root is PACKAGE)


def assumed_range(algorithm_name: str) -> tuple[float, float]:
    """Return the range of rewards that the releases of an algorithm assume."""
    assumed: tuple[float, float] = getattr(algorithm(algorithm_name), "RANGE", WITHIN)
    return assumed


def is_linear(algorithm_name: str) -> bool:
    """Return whether an algorithm looks at the features of actions (kernel/linear.py)."""
    return bool(getattr(algorithm(algorithm_name), "LINEAR", False))


def unmet(algorithm_name: str, environment_name: str, instance: Any, clipped: bool) -> str:
    """Return why the releases of an algorithm assume more than a game offers; "" if they do not."""
    if not hasattr(algorithm(algorithm_name), "releases"):
        return ""
    family = environment(environment_name)
    (low, high), (least, most) = family.RANGE, assumed_range(algorithm_name)
    if (low < least or high > most) and not clipped:
        actual = "they are unbounded"
        if (low, high) != UNBOUNDED:
            actual = f"{environment_name} draws them in [{low:g}, {high:g}]"
        return f"releases assume rewards in [{least:g}, {most:g}], but {actual}"
    norm, _ = family.actions(instance)
    if is_linear(algorithm_name) and norm > 1.0 + 1e-9:
        actual = f"have norms up to {norm:g}" if norm < math.inf else "may have any"
        return f"releases assume actions of norm at most 1, but those here {actual}"
    return ""


def kind(name: str) -> Any:
    """Return what a kind of experiment says of itself: the object `kind` of its file in kinds/."""
    return _module("kind", member("kind", name), name).kind
