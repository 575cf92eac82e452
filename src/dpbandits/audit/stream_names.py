"""Names of the random streams of an audit, spelt from data alone.

Every character of these names enters a seed, so none may change. The names are never displayed;
`Design.words` is the description for readers.
"""

import json
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from dpbandits.core import randomness

# Designs -----------------------------------------------------------------------------------------


def constant(own: float, other: float, rounds: int, index: int) -> str:
    """Return the id of two arms of constant rewards 0 or 1, one reward of the first flipped."""
    return _flipped(f"rewards {own:.0f} and {other:.0f}, T = {rounds}", index)


def many_arms(own: float, other: float, arms: int, rounds: int, index: int) -> str:
    """Return the id of an arm of constant rewards among others, one of its rewards flipped."""
    return _flipped(f"rewards {own:.0f} and, of {arms - 1} arms, {other:.0f}, T = {rounds}", index)


def at_the_edge(mean: float, rounds: int, index: int) -> str:
    """Return the id of an arm of this mean beside one of mean 1/2, one of its rewards flipped."""
    return _flipped(f"rewards of mean {mean:.6g} and 0.5, spread evenly, T = {rounds}", index)


def _flipped(rewards: str, index: int) -> str:
    return f"{rewards}, reward {index} of arm 1 flipped"


# Games -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Games of an audit with their own draws: half a stage of the search, or all that measure."""

    audit: int  # number of the audit
    one_choice: bool  # True if they are played for an event of one choice
    stage: int | None = None  # stage of the search, from 0; None for the games that measure
    half: int = 0  # half of the stage, 0 or 1


def games(algorithm: str, params: NamedTuple, design: str, part: Part, table: int) -> str:
    """Return the stream name of the games on table 0 or 1 of the design with this id."""
    played = f"{_member(algorithm, params)} on {design}"
    return f"audit of {played}, {_part(part)}, audit {part.audit}, table {table}"


def bisection(algorithm: str, params: NamedTuple, design: str, audit: int) -> str:
    """Return the stream name of the games in which a bisection estimates the pulls of arm 1."""
    return f"audit {audit} of {_member(algorithm, params)}, edge of {design}"


def _part(part: Part) -> str:
    one_choice = _value(part.one_choice)
    if part.stage is None:
        return f"measured, {one_choice}"
    return f"search {part.stage}, {one_choice}, {('first', 'second')[part.half]} half"


def _member(algorithm: str, params: NamedTuple) -> str:
    fields = (f"{name}={_value(value)}" for name, value in randomness.fields(params).items())
    return f"{algorithm} Params({', '.join(fields)})"


def _value(value: Any) -> str:
    # These names began as the repr of Python 3.11. It is spelt out here, so that no `__repr__`
    # enters a seed.
    if isinstance(value, IntEnum):
        return f"<{type(value).__name__}.{value.name}: {value.value}>"
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int):
        return f"{value:d}"
    if isinstance(value, float):
        return json.dumps(value)  # the shortest digits that read back to the same bits
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))})"
    raise TypeError(f"a {type(value).__name__} cannot name a stream: {value!r}")
