"""Whether what is typed has a say: an override that no cell depends on is a mistake.

Of a figure that is read, one typed key is changed and all is read again: where every cell stays as
it was, whatever else would be typed for that key would be as idle. A value that a key has anyhow is
no mistake: the figure is what was asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpbandits.config.origins import Origins, beaten_by
from dpbandits.config.readers.figure import Reader
from dpbandits.core.errors import UserError, shown
from dpbandits.spec.figure import FigureSpec

# How a figure looks, how often it is played, what is said of it: no cell is meant to depend on it.
PRESENTATION = (
    *("paper", "title", "draw", "label", "centre", "spread", "slopes", "fit", "shows"),
    *("runs", "input_privacy", "claims", "note", "about", "original", "row", "column"),
    *("legend", "reading", "colour", "marker", "line"),
)


def refuse_idle(at: Origins, spec: FigureSpec) -> None:
    """UserError for the first typed key that no cell of the figure depends on."""
    for key in idle(at, spec):
        raise UserError(refusal(at, key))


def idle(at: Origins, spec: FigureSpec) -> Iterator[str]:
    """The typed keys that no cell of the figure depends on."""
    for key in sorted(at.typed):
        if is_of_cells(key) and is_there(at, key) and not _has_a_say(at, spec, key):
            yield key


def may_be_deleted_in_vain(key: str) -> bool:
    """Whether the deletion of a key may change no cell: a whole curve or panel is always missed."""
    parts = key.split(".")
    return is_of_cells(key) and not (len(parts) <= 3 and parts[1] in ("curves", "panels"))


def refuse_idle_deletion(key: str, at: Origins, kept: Origins, spec: FigureSpec) -> None:
    """UserError where no cell depended on a deleted key.

    `kept` and `spec`: what is read where the key is not deleted.
    """
    if is_there(kept, key) and not _has_a_say(kept, spec, key):
        raise at.error(f"~{key} changes no cell: {_why(kept, key)}", key)


def is_of_cells(key: str) -> bool:
    """Whether a key is meant to change cells; seeds, profiles, engines and looks are not."""
    first, *rest = key.split(".")
    return first == "figure" and bool(rest) and not {rest[0], rest[-1]} & {*PRESENTATION}


def refusal(at: Origins, key: str) -> str:
    """The message for a key that has no say: what is there and what stands before it."""
    return at.error(f"{key}={_text(value(at, key))} changes no cell: {_why(at, key)}", key).args[0]


def sources(spec: FigureSpec) -> dict[tuple[str, str], list[Any]]:
    """Swept values and sources of every curve, by panel and key: what decides its numbers."""
    found: dict[tuple[str, str], list[Any]] = {}
    for panel in spec.panels:
        for curve in panel.curves:  # several of one key where a panel has `each`
            found.setdefault((panel.letter, curve.name), []).append((curve.x, curve.sources))
    return found


def value(at: Origins, key: str) -> Any:
    """The value of a typed key. KeyError where there is none, as of one that was deleted."""
    node: Any = at.plain
    for part in key.split("."):
        if not isinstance(node, Mapping):
            raise KeyError(key)
        node = node[part]
    return node


def is_there(at: Origins, key: str) -> bool:
    """Whether a typed key has a value."""
    try:
        value(at, key)
    except KeyError:
        return False
    return True


def _has_a_say(at: Origins, spec: FigureSpec, key: str) -> bool:
    # Unless there is another value with which all is read, and is the same.
    plain = at.plain
    # Titles and labels may name values, which is no use of them.
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
        except Exception:  # whatever stumbles over it has read it
            continue
        if list(sources(read).values()) == list(sources(spec).values()):
            return False
    return True


def _others(value: Any) -> list[Any]:
    # For a number some that pass where it is checked and not used, or else what nobody can read.
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
