"""Limits of the YAML files that are read: bytes, depth, and values with all aliases expanded.

An alias repeats a whole value. A file of a few hundred bytes with nested aliases expands to
billions of values, which no reader could load. Files of conf/ have a few hundred values.
"""

from typing import Any, NamedTuple

import yaml

BYTES = 2**20
VALUES = 100_000
DEPTH = 50


class _Extent(NamedTuple):
    values: int
    depth: int


def excess(text: str) -> str | None:
    """Return the first limit that a YAML text exceeds, in words; None if it exceeds none.

    The text is only parsed into events, so no alias is expanded. Raises yaml.YAMLError if that
    fails.
    """
    try:
        return _excess(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        # The files are read by the slower parser, which accepts more escapes.
        return _excess(text, yaml.SafeLoader)


def _excess(text: str, loader: Any) -> str | None:
    anchored: dict[str, _Extent] = {}  # of complete values
    waiting: list[tuple[str | None, _Extent]] = []  # anchor and extent so far of the open values
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            waiting.append((event.anchor, _Extent(1, 1)))
            if len(waiting) > DEPTH:
                return f"it is nested more than {DEPTH} levels deep"
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, extent = waiting.pop()
        elif isinstance(event, yaml.AliasEvent):
            # An alias without a complete value is unknown or within its own value: both are
            # reported when the file is read.
            anchor, extent = None, anchored.get(event.anchor, _Extent(1, 1))
        elif isinstance(event, yaml.ScalarEvent):
            anchor, extent = event.anchor, _Extent(1, 1)
        else:
            continue
        if anchor is not None:
            anchored[anchor] = extent
        if waiting:
            outer, so_far = waiting[-1]
            whole = _Extent(so_far.values + extent.values, max(so_far.depth, 1 + extent.depth))
            if whole.values > VALUES:
                return f"its aliases expand to more than {VALUES:,} values"
            if len(waiting) - 1 + whole.depth > DEPTH:
                return f"it is nested more than {DEPTH} levels deep"
            waiting[-1] = outer, whole
    return None
