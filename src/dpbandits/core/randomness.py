"""Named random streams, one per run and role, independent of the order in which they are created.

A stream is seeded by its name, and the name is spelt from data alone: names in the registry and
the fields of their Params. If a field is added or renamed, a declaration in its annotation keeps
the streams of earlier runs:

    ties: Annotated[Ties, AddedLater(Ties.FIRST)] = Ties.FIRST  # a field that is new
    scale: Annotated[Positive, StreamName("alpha")] = 3.1       # a field that was called alpha
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from dpbandits.core import parameters


class Role(IntEnum):
    """Purpose of a stream; part of its seed."""

    REWARDS = 0  # draws of the environment
    POLICY = 1  # draws of the policy: noise, random choices
    TABLE = 2  # gains that are drawn before the game
    ORDER = 3  # order of rewards that were drawn as a sum


@lru_cache(maxsize=64)  # the streams of all runs of a cell share their names
def words(name: str) -> tuple[int, ...]:
    """Return the first four 32-bit words of the SHA-256 digest of a stream's name, its seed."""
    digest = hashlib.sha256(name.encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))


def stream(root: int, role: Role, run: int, name: str) -> np.random.Generator:
    """Return the generator of one role in one run. Equal arguments give equal streams."""
    sequence = np.random.SeedSequence(root, spawn_key=(role, run, *words(name)))
    return np.random.Generator(np.random.PCG64(sequence))


# Names -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AddedLater:
    """Declaration that a field was added to a class that already had runs.

    `value` is the value that all earlier runs used in effect, whatever the default becomes. A field
    with this value is left out of stream names.
    """

    value: Any


@dataclass(frozen=True)
class StreamName:
    """Declaration of the original name of a renamed field, which stream names keep."""

    name: str


def spelt(data: Mapping[str, Any]) -> str:
    """Return the stream name spelt from JSON values; the order of the keys has no effect."""
    return json.dumps(data, sort_keys=True)


def plain_fields(params: NamedTuple) -> dict[str, Any]:
    """Return the fields that enter a stream name, as JSON values."""
    return {name: parameters.plain_value(value) for name, value in fields(params).items()}


def fields(params: NamedTuple) -> dict[str, Any]:
    """Return the fields that enter a stream name, keyed by their names in it, in class order.

    Raises TypeError if two fields share such a name or an AddedLater value is invalid.
    """
    named: dict[str, Any] = {}
    for field, (name, added) in _declared(type(params)).items():
        value = getattr(params, field)
        if added is None or value != added.value:
            named[name] = value
    return named


@cache
def _declared(params: type) -> dict[str, tuple[str, AddedLater | None]]:
    # For every field: its name in stream names, and its AddedLater declaration or None.
    declared: dict[str, tuple[str, AddedLater | None]] = {}
    for field, annotation in get_type_hints(params, include_extras=True).items():
        name, added = field, None
        for each in getattr(annotation, "__metadata__", ()):
            if isinstance(each, StreamName):
                name = each.name
            elif isinstance(each, AddedLater):
                added = AddedLater(_checked(params, field, each.value))
        declared[field] = name, added
    names = [name for name, _ in declared.values()]
    if twice := [name for name in names if names.count(name) > 1]:
        raise TypeError(
            f"{params.__module__}: two fields are called {twice[0]!r} in the names of streams;"
            " give the newer one another StreamName"
        )
    return declared


def _checked(params: type, field: str, value: Any) -> Any:
    # Reject a value that the field cannot take: it would never be left out.
    try:
        return parameters.coerce(parameters.fields(params)[field], parameters.plain_value(value))
    except ValueError as error:
        raise TypeError(
            f"{params.__module__}: {field} is AddedLater({value!r}), which must be {error}"
        ) from None
