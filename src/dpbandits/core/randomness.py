"""Named random streams: one per run and role, the same whoever asks and in whatever order.

A stream is seeded by its name, and the name is spelt from data alone: members of the registry and
the fields of their Params. Two declarations in the annotation of a field keep existing streams:

    ties: Annotated[Ties, AddedLater(Ties.FIRST)] = Ties.FIRST  # a field that is new
    scale: Annotated[Positive, StreamName("alpha")] = 3.1       # a field that was called alpha
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from dpbandits.core import parameters


class Role(IntEnum):
    """What a stream is drawn for; part of its name."""

    REWARDS = 0  # what the environment draws
    POLICY = 1  # what the policy draws: noise, random choices
    TABLE = 2  # gains that are made before the game


def words(name: str) -> tuple[int, ...]:
    """The first four 32-bit words of the digest of a stream's name, which seed it."""
    digest = hashlib.sha256(name.encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))


def stream(root: int, role: Role, run: int, name: str) -> np.random.Generator:
    """The generator of one role in one run. Equal names share the stream."""
    sequence = np.random.SeedSequence(root, spawn_key=(role, run, *words(name)))
    return np.random.Generator(np.random.PCG64(sequence))


# Names -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AddedLater:
    """Declaration of a field that its class did not have at first.

    `value` is the one that every earlier run was played with, whatever the default becomes. A field
    that has it is left out of the names of streams.
    """

    value: Any


@dataclass(frozen=True)
class StreamName:
    """Declaration of the name that a renamed field keeps in the names of streams: its first."""

    name: str


def spelt(data: Mapping[str, Any]) -> str:
    """The name of a stream from JSON values, in whatever order they come."""
    return json.dumps(data, sort_keys=True)


def plain_fields(params: NamedTuple) -> dict[str, Any]:
    """The fields that name a stream, as JSON values."""
    return {name: parameters.plain_value(value) for name, value in fields(params).items()}


def fields(params: NamedTuple) -> dict[str, Any]:
    """The fields that name a stream, by their names in it, in the order of the class."""
    named: dict[str, Any] = {}
    for field, (name, added) in _declared(type(params)).items():
        value = getattr(params, field)
        if added is None or value != added.value:
            named[name] = value
    return named


@cache
def _declared(params: type) -> dict[str, tuple[str, AddedLater | None]]:
    # The name of every field in streams, and whether it was added later.
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
    # A value that the field cannot have would never be left out.
    try:
        return parameters.coerce(parameters.fields(params)[field], parameters.plain_value(value))
    except ValueError as error:
        raise TypeError(
            f"{params.__module__}: {field} is AddedLater({value!r}), which must be {error}"
        ) from None
