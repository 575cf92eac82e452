"""Rejection of overrides that change no cell of the figure.

To test a typed key, its value is changed and the figure is read again. If no cell differs, any
other value of that key would have no effect either. Typing the value that a key already has is
not an error: the figure is the one that was asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpbandits.config.origins import Origins, beaten_by
from dpbandits.config.readers.figure import Reader
from dpbandits.core.errors import UserError, shown
from dpbandits.spec.figure import FigureSpec

# Keys for the looks, the number of runs and the texts of a figure, which need not change a cell.
PRESENTATION = (
    *("paper", "title", "draw", "label", "centre", "spread", "slopes", "fit", "shows"),
    *("runs", "input_privacy", "claims", "note", "about", "original", "row", "column"),
    *("legend", "reading", "colour", "marker", "line"),
)


def refuse_idle(at: Origins, spec: FigureSpec) -> None:
    """Raise UserError for the first typed key that no cell of the figure depends on."""
    for key in idle(at, spec):
        raise UserError(refusal(at, key))


def idle(at: Origins, spec: FigureSpec) -> Iterator[str]:
    """Yield the typed keys that no cell of the figure depends on, sorted."""
    for key in sorted(at.typed):
        if is_of_cells(key) and is_there(at, key) and not _has_a_say(at, spec, key):
            yield key


def may_be_deleted_in_vain(key: str) -> bool:
    """Return whether deleting a key might change no cell.

    False for a whole curve or panel, whose deletion always changes the figure.
    """
    parts = key.split(".")
    return is_of_cells(key) and not (len(parts) <= 3 and parts[1] in ("curves", "panels"))


def refuse_idle_deletion(key: str, at: Origins, kept: Origins, spec: FigureSpec) -> None:
    """Raise UserError if no cell depended on a deleted key.

    `kept` and `spec` are read from the same command without the deletion.
    """
    if is_there(kept, key) and not _has_a_say(kept, spec, key):
        raise at.error(f"~{key} changes no cell: {_why(kept, key)}", key)


def is_of_cells(key: str) -> bool:
    """Return whether a key should change cells; seeds, profiles, engines and looks should not."""
    first, *rest = key.split(".")
    return first == "figure" and bool(rest) and not {rest[0], rest[-1]} & {*PRESENTATION}


def refusal(at: Origins, key: str) -> str:
    """Return the message for a key without effect: its value and the keys that override it."""
    return at.error(f"{key}={_text(value(at, key))} changes no cell: {_why(at, key)}", key).args[0]


def sources(spec: FigureSpec) -> dict[tuple[str, str], list[Any]]:
    """Return swept values and sources of every curve, which fix its numbers, by panel and key."""
    found: dict[tuple[str, str], list[Any]] = {}
    for panel in spec.panels:
        for curve in panel.curves:  # several with the same key if a panel has `each`
            found.setdefault((panel.letter, curve.name), []).append((curve.x, curve.sources))
    return found


def value(at: Origins, key: str) -> Any:
    """Return the value of a typed key. Raises KeyError if it has none, for example if deleted."""
    node: Any = at.plain
    for part in key.split("."):
        if not isinstance(node, Mapping):
            raise KeyError(key)
        node = node[part]
    return node


def is_there(at: Origins, key: str) -> bool:
    """Return whether a typed key has a value."""
    try:
        value(at, key)
    except KeyError:
        return False
    return True


def _has_a_say(at: Origins, spec: FigureSpec, key: str) -> bool:
    # Returns False if the figure can be read with another value of the key and has the same cells.
    plain = at.plain
    # Titles and labels may name values; that does not count as a use.
    for group in ("panels", "curves"):
        for name, content in (plain["figure"].get(group) or {}).items():
            for text in ("title", "row", "column", "label", "legend", "reading"):
                if isinstance(content, Mapping) and text in content:
                    plain = _changed(plain, ["figure", group, name, text], "")
    for text in ("title", "about"):
        plain = _changed(plain, ["figure", text], "")
    for other in _others(value(at, key)):
        changed = _changed(plain, key.split("."), other)
        try:
            read = Reader(Origins(at.figure, changed, at.typed, at.chosen)).read()
        except Exception:  # the reader fails on the value, so it uses the key
            continue
        if list(sources(read).values()) == list(sources(spec).values()):
            return False
    return True


def _others(value: Any) -> list[Any]:
    # Other values: for a number, numbers likely to pass its checks; otherwise an unreadable object.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return [object()]
    return [other for other in (value + 1, value / 2) if other != value]


def _changed(node: Any, parts: Sequence[str], value: Any) -> Any:
    first, *rest = parts
    below = _changed(node[first], rest, value) if rest else value
    return {**node, first: below}


def _why(at: Origins, key: str) -> str:
    name = key.rpartition(".")[2]
    if key.startswith("figure.profiles."):
        return f"the profile is {at.plain['profile']['name']}"
    if stronger := beaten_by(at.plain, key):
        return f"it is beaten by {stronger}"
    return f"nothing in the figure is computed from this {name}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)
