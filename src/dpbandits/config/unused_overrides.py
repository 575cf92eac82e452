"""Rejection of overrides that change no cell of the figure.

Readers record the keys that cells depend on. Any other key, or one that a stronger key overrides,
has no effect. An override that repeats the value in the file is not an error: the figure is the
requested one.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dpbandits.config.origins import Origins, beaten_by
from dpbandits.core.errors import UserError, shown
from dpbandits.spec.figure import FigureSpec

# Keys for the looks, the number of runs and the texts of a figure, which need not change a cell.
PRESENTATION = (
    *("paper", "title", "draw", "label", "centre", "spread", "slopes", "fit", "shows"),
    *("runs", "input_privacy", "note", "about", "original", "row", "column"),
    *("legend", "reading", "colour", "marker", "line"),
)


def refuse_idle(origins: Origins) -> None:
    """Raise UserError for the first override that no cell of the figure depends on."""
    for key in idle(origins):
        raise UserError(refusal(origins, key))


def idle(origins: Origins) -> Iterator[str]:
    """Yield the overridden or deleted keys that no cell of the figure depends on, sorted."""
    for key in sorted(origins.overrides):
        if is_of_cells(key) and not _is_read(origins, key):
            yield key


def is_of_cells(key: str) -> bool:
    """Return whether a key should change cells; seeds, profiles, engines and looks should not."""
    first, *rest = key.split(".")
    return first == "figure" and bool(rest) and not {rest[0], rest[-1]} & {*PRESENTATION}


def refusal(origins: Origins, key: str) -> str:
    """Return the message for a key without effect: the override and the keys that override it."""
    override = f"~{key}"
    if is_there(origins, key):
        content = value(origins, key)
        override = f"{key}={content if isinstance(content, str) else shown(content)}"
    return str(origins.error(f"{override} changes no cell: {_why(origins, key)}", key))


def sources(spec: FigureSpec) -> dict[tuple[str, str], list[Any]]:
    """Return swept values and sources of every curve, which fix its numbers, by panel and key."""
    by_curve: dict[tuple[str, str], list[Any]] = {}
    for panel in spec.panels:
        for curve in panel.curves:  # several with the same key if a panel has `each`
            by_curve.setdefault((panel.letter, curve.name), []).append(
                (curve.x, curve.sources, curve.against)
            )
    return by_curve


def value(origins: Origins, key: str) -> Any:
    """Return the value of a key. Raises KeyError if it has none, for example if deleted."""
    node: Any = origins.plain
    for part in key.split("."):
        if not isinstance(node, Mapping):
            raise KeyError(key)
        node = node[part]
    return node


def is_there(origins: Origins, key: str) -> bool:
    """Return whether a key has a value."""
    try:
        value(origins, key)
    except KeyError:
        return False
    return True


def _is_read(origins: Origins, key: str) -> bool:
    # A deleted curve or panel always had an effect. Of the other deleted keys, readers have looked
    # up those that would set a value.
    parts = key.split(".")
    if not is_there(origins, key) and len(parts) <= 3 and parts[1] in ("curves", "panels"):
        return True
    key, stronger = _set_by_profile(origins, key)
    return not stronger and any(f"{read}.".startswith(f"{key}.") for read in origins.reads)


def _set_by_profile(origins: Origins, key: str) -> tuple[str, str]:
    # The key of the figure that a key of the profile's section sets, or any other key itself, and
    # the override that is stronger than the section.
    section = f"figure.profiles.{origins.plain['profile']['name']}."
    if not key.startswith(section):
        return key, ""
    key = f"figure.{key.removeprefix(section)}"
    return key, origins.stronger_than_profile(key)


def _why(origins: Origins, key: str) -> str:
    key, stronger = _set_by_profile(origins, key)
    if key.startswith("figure.profiles."):
        return f"the profile is {origins.plain['profile']['name']}"
    if stronger := stronger or beaten_by(origins.plain, key):
        return f"it is overridden by {stronger}"
    return f"nothing in the figure is computed from this {key.rpartition('.')[2]}"
