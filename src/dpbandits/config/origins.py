"""Origins of the values of a configuration, and checks whose errors name the origin.

Paths are those of the command line, for example `figure.curves.dp-se.epsilon`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dpbandits.config import conf_files
from dpbandits.core import parameters
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project
from dpbandits.spec.changes import Change

NAMED = 4  # keys that a message lists at most
SHARED = ("horizon", "epsilon", "delta", "environment", "stream", "plays")  # also of panels, curves


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted path and the value of every leaf of nested mappings."""
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from leaves(child, f"{path}.{name}" if path else str(name))
    else:
        yield path, node


def value_at(node: Any, key: str) -> Any:
    """Return the value at a dotted key of nested mappings. Raises KeyError if there is none."""
    for part in key.split("."):
        if not isinstance(node, Mapping) or part not in node:
            raise KeyError(key)
        node = node[part]
    return node


def has(node: Any, key: str) -> bool:
    """Return whether nested mappings have a dotted key."""
    try:
        value_at(node, key)
    except KeyError:
        return False
    return True


def beaten_by(plain: Mapping[str, Any], key: str) -> str:
    """Return the keys of the figure that override a key, joined for a message; '' if none.

    A sweep overrides a curve, a curve overrides a panel, a panel overrides the figure.
    """
    stronger = [path for path in _deciding(plain, key) if _rank(path) > _rank(key)]
    more = f" and {len(stronger) - NAMED} more" if len(stronger) > NAMED else ""
    return ", ".join(stronger[:NAMED]) + more


def _deciding(plain: Mapping[str, Any], key: str) -> Iterator[str]:
    # The keys of the figure that set a value of the same name, directly or by a sweep.
    name = key.rpartition(".")[2]
    for path, content in leaves(plain["figure"], "figure"):
        *above, last = path.split(".")
        if above[1:2] == ["profiles"]:
            continue
        if last == name and content is not None:
            yield path
        elif last == "key" and isinstance(content, str) and name in content.split("."):
            yield ".".join([*above, "values"])


def _rank(path: str) -> int:
    parts = path.split(".")
    if "sweep" in parts or "each" in parts:
        return 3
    return {"curves": 2, "panels": 1}.get(parts[1], 0)


class Origins:
    """Origins of the values of one composed configuration.

    `overrides` holds the keys of the command line, `chosen` the members of the groups, for example
    {"profile": "smoke"}, `changes` the overrides that change the figure. Readers of the figure add
    to `reads` every key that a cell depends on, and to `of_profile` the keys that the figure's own
    section for the profile sets.
    """

    def __init__(
        self,
        figure: str,
        plain: Mapping[str, Any],
        overrides: frozenset[str],
        chosen: Mapping[str, Any],
        changes: tuple[Change, ...] = (),
    ) -> None:
        self.figure = figure
        self.plain = plain
        self.overrides = overrides
        self.chosen = chosen
        self.changes = changes
        self.reads: set[str] = set()
        self.of_profile: set[str] = set()
        self.file = project.member_file("figure", figure)

    def is_overridden(self, path: str) -> bool:
        """Return whether the command line sets the value, or a mapping around it."""
        return any(path == key or path.startswith(f"{key}.") for key in self.overrides)

    def stronger_than_profile(self, path: str) -> str:
        """Return the key of the command line that overrides the profile's value of a key.

        That key is the same one, or the figure's own if panels and curves have it too. Return '' if
        the command line has neither.
        """
        *_, name = path.split(".")
        keys = (path, f"figure.{name}") if name in SHARED else (path,)
        return next(filter(self.is_overridden, keys), "")

    def of(self, path: str) -> str:
        """Return the file that sets a value, or `command line`."""
        if self.is_overridden(path) or any(key.startswith(f"{path}.") for key in self.overrides):
            return "command line"
        first, *rest = path.split(".")
        if first == "figure":
            return self._of_curve(rest) or self.file
        if first in ("profile", "engine"):
            return self._of_group(first)
        # Profiles set top-level keys too: the runs, or keys that are not valid there.
        own = conf_files.read_yaml(conf_files.MAIN)
        added = first == "runs" or first not in ("seed", "paths", *own)
        return self._of_group("profile") if added else conf_files.MAIN

    def _of_group(self, group: str) -> str:
        # The member's file, or, if none is chosen, the file whose defaults lack the group.
        if group not in self.chosen:
            return conf_files.MAIN
        return project.member_file(group, self.chosen[group])

    def _of_curve(self, rest: list[str]) -> str | None:
        # The algorithm's file, unless the figure's own file sets the value; then None.
        if len(rest) < 2 or rest[0] != "curves":
            return None
        own = (conf_files.read_member("figure", self.figure).get("curves") or {}).get(rest[1])
        if own is not None and (not isinstance(own, Mapping) or (rest[2:] and rest[2] in own)):
            return None
        taken = f"/algorithm@curves.{rest[1]}"
        for entry in conf_files.read_member("figure", self.figure).get("defaults", []):
            if isinstance(entry, Mapping) and taken in entry:
                return project.member_file("algorithm", entry[taken])
        return None

    # Checks: each returns the value or raises a UserError with path, origin and expected value

    def error(self, message: str, path: str) -> UserError:
        """Return the error `<figure>: <message> (<origin>)`."""
        return UserError(f"{self.figure}: {message} ({self.of(path)})")

    def unknown(self, kind: str, name: object, valid: Iterable[str], path: str) -> UserError:
        """Return the error `<figure>: unknown <kind> '<name>' (<origin>); <nearest>`."""
        error = self.error(f"unknown {kind} {shown(name)}", path)
        return UserError(f"{error}; {nearest(str(name), valid)}")

    def checked(self, annotation: Any, value: Any, path: str) -> Any:
        """Return the value as the annotated type."""
        try:
            return parameters.coerce(annotation, value)
        except ValueError as error:
            key = path.removeprefix("figure.") if path.count(".") == 1 else path.split(".")[-1]
            message = f"{key} must be {error}, got {shown(value)}"
            if (
                path in self.overrides
                and path.startswith("figure.")
                and beaten_by(self.plain, path)
            ):
                message += f"; any value is overridden by {beaten_by(self.plain, path)}"
            raise self.error(message, path) from None

    def choice(self, value: Any, choices: Iterable[str], path: str, kind: str = "") -> str:
        """Return the value, which must be one of the choices.

        The error calls it by `kind`, or by the last part of its path.
        """
        choices = list(choices)
        if value not in choices:
            raise self.unknown(kind or path.split(".")[-1], value, choices, path)
        return str(value)


class OriginsOfFile(Origins):
    """Origins of the values of a file that is read by itself; its name begins every message."""

    def __init__(self, name: str, file: str) -> None:
        super().__init__(name, {}, frozenset(), {})
        self.file = file

    def of(self, path: str) -> str:
        """Return the file."""
        return self.file
