"""Rejection of overrides that change no cell of the figure.

Readers record the keys that cells depend on. Any other key, or one that a stronger key overrides,
has no effect. An override that repeats the value in the file is not an error: the figure is the
requested one.
"""

from collections.abc import Iterator

from dpbandits.config.origins import Origins, beaten_by, has, value_at
from dpbandits.core.errors import UserError, shown

# Keys for the looks, the number of runs and the texts of a figure, which need not change a cell.
PRESENTATION = (
    *("paper", "title", "draw", "label", "centre", "spread", "slopes", "fit", "shows"),
    *("runs", "input_privacy", "note", "about", "original", "annotated"),
    *("row", "column", "legend", "reading", "colour", "marker", "line", "annotation"),
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
    if has(origins.plain, key):
        content = value_at(origins.plain, key)
        override = f"{key}={content if isinstance(content, str) else shown(content)}"
    return str(origins.error(f"{override} changes no cell: {_why(origins, key)}", key))


def _is_read(origins: Origins, key: str) -> bool:
    # A deleted curve or panel always had an effect. Of the other deleted keys, readers have looked
    # up those that would set a value.
    parts = key.split(".")
    if not has(origins.plain, key) and len(parts) <= 3 and parts[1] in ("curves", "panels"):
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
