"""Write docs/configuration.md from the code: `python scripts/make_configuration.py`."""

import sys
import typing
from collections.abc import Callable, Iterable
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any

from dpbandits.config import schema
from dpbandits.kernel import parameters, registry

FILE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
HEAD = """\
# Configuration keys

This page is written by `scripts/make_configuration.py`. [Adding a figure](add-a-figure.md) explains
the keys of figures, panels and curves.

| place | keys |
|---|---|
"""
KINDS: dict[str, tuple[Iterable[str], Callable[[str], ModuleType]]] = {
    "Algorithms": (registry.algorithm_names(), registry.algorithm),
    "Stopping rules": (registry.stopping_rule_names(), registry.stopping_rule),
    "Environments": (registry.environment_names(), registry.environment),
}
OF_GAME = "of the game"  # value of `horizon`, which the figure sets


def page() -> str:
    """Return the text of the page."""
    places = {
        "the top": ("seed", "runs"),
        "paths": schema.PATHS,
        "engine": schema.ENGINE,
        "profile": schema.PROFILE,
        "figure": schema.FIGURE,
        "a panel": schema.PANEL,
        "a curve": schema.CURVE,
        **{f"a curve with `{kind}`": keys for kind, keys in schema.SPECIAL.items() if keys},
    }
    rows = [
        f"| {place} | {', '.join(f'`{key}`' for key in keys)} |" for place, keys in places.items()
    ]
    parts = [HEAD + "\n".join(rows) + "\n"]
    for title, (names, module_of) in KINDS.items():
        parts.append(f"## {title}\n")
        parts += [_member(name, module_of(name)) for name in names]
    return "\n".join(parts)


def _member(name: str, module: ModuleType) -> str:
    first = (module.__doc__ or "").strip().splitlines()[0]
    lines = [f"### {name}\n", f"{first}\n"]
    annotations = parameters.fields(module.Params)
    if annotations:
        defaults = module.Params._field_defaults
        lines += ["| parameter | value | default |", "|---|---|---|"]
        for field, annotation in annotations.items():
            default = OF_GAME if field == "horizon" else _default(defaults, field)
            lines.append(f"| `{field}` | {_words(annotation)} | {default} |")
        lines.append("")
    return "\n".join(lines)


def _default(defaults: dict[str, Any], field: str) -> str:
    if field not in defaults:
        return "none: required"
    value = parameters.plain_value(defaults[field])
    return f"{value:g}" if isinstance(value, float) else f"{value}".lower()


def _words(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        return " or ".join(f"`{parameters.reading_name(member)}`" for member in annotation)
    for declared in typing.get_args(annotation)[1:]:
        if isinstance(declared, parameters.Constraint):
            return declared.words
    return parameters.WORDS.get(annotation, "numbers")


if __name__ == "__main__":
    FILE.write_text(page(), "utf-8")
    sys.exit(0)
