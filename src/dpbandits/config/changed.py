"""Overrides of a command that make a figure another one than its file describes."""

from collections.abc import Iterable, Mapping
from typing import Any

from hydra.core.override_parser.types import Override

from dpbandits.spec.changes import FREE, PROFILE, Change, text


def changes(
    typed: Iterable[Override], composed: Mapping[str, Any], file: Mapping[str, Any]
) -> tuple[Change, ...]:
    """Return the overrides that change the figure, sorted by key.

    `composed` is the whole configuration with all overrides, `file` the one without them. An
    override that repeats the value in the file is not a change.
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
    """Return whether an override can change the figure."""
    group = str(override.key_or_group)
    return not (group == "figure" or group.partition(".")[0] in FREE or group.endswith(".runs"))


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
