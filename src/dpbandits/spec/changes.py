"""Overrides that make a figure another one than its file describes, and the folder named by them.

Runs, seed, engine and paths make no other figure: the caption states them, and the store shares
their results. Everything else that differs from the file is a change.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from hydra.core.override_parser.types import Override

LONGEST_NAME = 80  # characters of a folder
FREE = ("runs", "seed", "engine", "paths", "hydra", "sweep")  # first parts of keys
PROFILE = "profile"


@dataclass(frozen=True)
class Change:
    """One key whose value is not the one in the figure's file."""

    key: str  # as in `figure.curves.adap-ucb.alpha`, or `algorithm@figure.curves.x`
    value: str | None  # None: deleted
    before: str | None  # in the files; None: absent there

    @property
    def name(self) -> str:
        """The key without what every figure has in front of it."""
        return re.sub(r"^(?:\w+@)?figure\.(?:curves\.)?", "", self.key)

    @property
    def words(self) -> str:
        """The change in a caption, with the value that it replaces."""
        before = "" if self.before is None else f" (file: {for_people(self.before)})"
        return self.short if self.value is None else f"{self.short}{before}"

    @property
    def short(self) -> str:
        """The change in the title line of a picture."""
        if self.key == PROFILE:
            return f"scale of the profile {self.value}"
        parts = self.key.rpartition("@")[2].split(".")[1:]
        if "@" in self.key:
            return f"curve {parts[-1]} added: {self.value}"
        of = {"curves": "of curve {}", "panels": "of panel ({})"}.get(parts[0] if parts else "")
        if of and len(parts) > 1:
            name = " ".join(filter(None, [".".join(parts[2:]), of.format(parts[1])]))
            name = name if len(parts) > 2 else name.removeprefix("of ")
        else:
            name = ".".join(parts) or self.key
        return f"without {name}" if self.value is None else f"{name} = {for_people(self.value)}"


def changes(
    typed: Iterable[Override], composed: Mapping[str, Any], file: Mapping[str, Any]
) -> tuple[Change, ...]:
    """The overrides that change the figure, sorted by key.

    `composed` is the whole configuration with all overrides, `file` that without them. An override
    that repeats the value of the file is no change.
    """
    found: dict[str, Change] = {}
    value: str | None
    for override in filter(may_change, typed):
        group = str(override.key_or_group)
        before = None
        if override.package is not None or group == PROFILE:
            key = f"{group}@{override.package}" if override.package else group
            value = text(override.value())
            if key == PROFILE and value == text(_value(file, "profile.name")):
                continue
        else:
            key, before = group, _text_at(file, group)
            value = None if override.is_delete() else _text_at(composed, group)
            if value == before:
                continue
        found[key] = Change(key, value, before)
    return tuple(found[key] for key in sorted(found))


def may_change(override: Override) -> bool:
    """Whether an override can make another figure."""
    group = str(override.key_or_group)
    return not (group == "figure" or group.partition(".")[0] in FREE or group.endswith(".runs"))


def text(value: Any) -> str:
    """A value in one spelling: 100_000, 100000 and 1e5 are all `100000`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{k}:{text(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(text, value))}]"
    return str(value)


def for_people(value: str) -> str:
    """The spelling for captions: thousands apart, lists with spaces."""
    if re.fullmatch(r"\d{4,}", value):
        return f"{int(value):,}"
    return value.replace(",", ", ").replace(":", ": ")


def folder_name(all_changes: Sequence[Change]) -> str:
    """`environment=c4,horizon=100000`; long or odd names get a digest, so that no two are equal."""
    parts = [f"~{c.name}" if c.value is None else f"{c.name}={c.value}" for c in all_changes]
    name = ",".join(sorted(parts))
    clean = as_file_name(name.replace("[", "").replace("]", ""))
    odd = clean != name and len(name) <= LONGEST_NAME
    return f"{clean}-{digest(name)}" if odd else clean


def as_file_name(name: str) -> str:
    """A name as that of a file or folder: no character that needs quotes, and not too many."""
    clean = re.sub(r"[^\w.,=+~-]", "_", name)
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:LONGEST_NAME]}-{digest(name)}"


def digest(name: str) -> str:
    """Eight hexadecimal digits that tell a long name from others that begin alike."""
    return sha256(name.encode()).hexdigest()[:8]


def _value(node: Any, key: str) -> Any:
    for part in key.split("."):
        if not isinstance(node, Mapping) or part not in node:
            raise KeyError(key)
        node = node[part]
    return node


def _text_at(node: Any, key: str) -> str | None:
    try:
        return text(_value(node, key))
    except KeyError:
        return None
