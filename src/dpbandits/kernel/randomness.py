"""Named random streams, one per run and role, independent of the order in which they are created.

A stream is seeded by its name, and the name is spelt from data alone: names in the registry and
the fields of their Params. If a field is added, a declaration in its annotation keeps the streams
of earlier runs:

    ties: Annotated[Ties, AddedLater(Ties.FIRST)] = Ties.FIRST
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from dpbandits.kernel.parameters import plain_value


class Role(IntEnum):
    """Purpose of a stream; part of its seed."""

    REWARDS = 0  # draws of the environment
    POLICY = 1  # draws of the policy: noise, random choices
    TABLE = 2  # gains or means that are drawn before the game
    ORDER = 3  # order of rewards that were drawn as a sum


@lru_cache(maxsize=64)  # the streams of all runs of an experiment share their names
def words(name: str) -> tuple[int, ...]:
    """Return the first four 32-bit words of the SHA-256 digest of a stream's name, its seed."""
    digest = hashlib.sha256(name.encode()).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))


def stream(root: int, role: Role, run: int, name: str) -> np.random.Generator:
    """Return the generator of one role in one run. Equal arguments give equal streams."""
    sequence = np.random.SeedSequence(root, spawn_key=(role, run, *words(name)))
    return np.random.Generator(np.random.PCG64(sequence))


@dataclass(frozen=True)
class AddedLater:
    """Declaration that a field was added to a class that already had runs.

    `value` is the value that all earlier runs used in effect, whatever the default becomes. A field
    with this value is left out of stream names, and of descriptions unless it is `described`: so
    earlier results, which are bound to descriptions, stay those of the same experiment.
    """

    value: Any
    described: bool = False


def spelt(data: Mapping[str, Any]) -> str:
    """Return the stream name spelt from JSON values; the order of the keys has no effect."""
    return json.dumps(data, sort_keys=True)


def plain_fields(params: NamedTuple, described: bool = False) -> dict[str, Any]:
    """Return the fields that enter a stream name, or a description, as JSON values."""
    return {name: plain_value(value) for name, value in fields(params, described).items()}


def fields(params: NamedTuple, described: bool = False) -> dict[str, Any]:
    """Return the fields that enter a stream name, or a description, in class order."""
    earlier = {
        name: declared.value
        for name, annotation in get_type_hints(type(params), include_extras=True).items()
        for declared in getattr(annotation, "__metadata__", ())
        if isinstance(declared, AddedLater) and not (described and declared.described)
    }
    return {
        name: value
        for name, value in params._asdict().items()
        if name not in earlier or plain_value(value) != plain_value(earlier[name])
    }
