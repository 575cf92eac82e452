"""Overrides of a command that change a figure from what its file describes."""

from collections.abc import Iterable
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

from dpbandits.config import hydra_config
from dpbandits.config.origins import has, value_at
from dpbandits.spec.changes import FREE, PROFILE, Change, text


def changes(
    overrides: Iterable[Override], config: DictConfig, figure: str, usual_profile: str
) -> tuple[Change, ...]:
    """Return the overrides that change the figure, sorted by key.

    `config` is the whole configuration with all overrides, `usual_profile` the profile without any.
    An override that repeats the value in the files is not a change.
    """
    by_key: dict[str, Change] = {}
    for override in filter(may_change, overrides):
        change = _change(override, config, figure)
        usual = usual_profile if change.key == PROFILE else change.before
        if change.value != usual or override.package:
            by_key[change.key] = change
    return tuple(by_key[key] for key in sorted(by_key))


def may_change(override: Override) -> bool:
    """Return whether an override can change the figure; annotations change nothing of it."""
    group = str(override.key_or_group)
    free = group in ("figure", "figure.annotated") or group.partition(".")[0] in FREE
    return not (free or group.endswith(".runs"))


def _change(override: Override, config: DictConfig, figure: str) -> Change:
    key = str(override.key_or_group)
    if override.package is not None or key == PROFILE:
        key = f"{key}@{override.package}" if override.package else key
        return Change(key, text(override.value()), None)
    composed = hydra_config.unresolved(config)
    value = None if override.is_delete() else _text_at(composed, key)
    return Change(key, value, _text_at(hydra_config.without_overrides(figure), key))


def _text_at(content: Any, key: str) -> str | None:
    return text(value_at(content, key)) if has(content, key) else None
