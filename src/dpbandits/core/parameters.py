"""Types and checks of the parameters in an algorithm's or environment's `Params` class.

A Params class is a NamedTuple whose fields are annotated with the types of this module, with
`int`, `float`, `bool`, or with an IntEnum whose members are the readings that a paper leaves open.
A configuration spells a reading in lower case with hyphens (`Ties.FIRST` is `first`).
"""

import math
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, TypeVar

from dpbandits.core.errors import UserError, nearest, shown


@dataclass(frozen=True)
class Constraint:
    """Condition on a value, and its wording in error messages."""

    holds: Callable[[Any], bool]
    words: str


def _are_means(low_open: bool) -> Callable[[tuple[float, ...]], bool]:
    def holds(means: tuple[float, ...]) -> bool:
        inside = all(0 < m < 1 if low_open else 0 <= m <= 1 for m in means)
        return len(means) >= 2 and inside

    return holds


Positive = Annotated[float, Constraint(lambda x: 0 < x < math.inf, "positive and finite")]
Budget = Annotated[float, Constraint(lambda x: 0 <= x < math.inf, "0 or more, and finite")]
Delta = Annotated[float, Constraint(lambda x: 0 <= x <= 1, "in [0, 1]")]
NonZero = Annotated[float, Constraint(lambda x: x != 0 and math.isfinite(x), "finite and not 0")]
Fraction = Annotated[float, Constraint(lambda x: 0 < x < 1, "inside (0, 1)")]
Probability = Annotated[float, Constraint(lambda x: 0 < x <= 1, "in (0, 1]")]
Means = Annotated[
    tuple[float, ...],
    Constraint(_are_means(False), "a list of two or more means in [0, 1]"),
]
OpenMeans = Annotated[
    tuple[float, ...],
    Constraint(_are_means(True), "a list of two or more means inside (0, 1)"),
]
Ascending = Annotated[
    tuple[float, ...],
    Constraint(
        lambda numbers: numbers and all(a < b for a, b in pairwise(numbers)),
        "a list of numbers in ascending order",
    ),
]
Rounds = Annotated[int, Constraint(lambda n: 1 <= n <= 2**53, "a whole number from 1 to 2^53")]
Count = Annotated[int, Constraint(lambda n: 1 <= n <= 10**6, "a whole number from 1 to 10^6")]
Workers = Annotated[int, Constraint(lambda n: 1 <= n <= 1024, "a whole number from 1 to 1024")]
Arms = Annotated[int, Constraint(lambda n: 2 <= n <= 10**6, "a whole number from 2 to 10^6")]
Seed = Annotated[int, Constraint(lambda n: 0 <= n < 2**63, "a whole number from 0, below 2^63")]

P = TypeVar("P")

WORDS = {float: "a number", int: "a whole number", bool: "true or false"}


def fields(params: type) -> dict[str, Any]:
    """Return the fields of a Params class and their annotations, constraints included.

    Other declarations in an annotation (randomness.py) are dropped: they limit no value.
    """
    return _fields(params)


@cache
def _fields(params: type) -> dict[str, Any]:
    hints = typing.get_type_hints(params, include_extras=True)
    return {name: _constrained(annotation) for name, annotation in hints.items()}


def unsupported(params: Any) -> str:
    """Return why a Params class cannot be used, with the remedy; '' if it can.

    Kernels take numbers, booleans, readings and tuples of numbers only.
    """
    if not (isinstance(params, type) and hasattr(params, "_fields")):
        return "Params must be a NamedTuple"
    try:
        annotations = fields(params)
    except (NameError, TypeError) as error:
        return f"the annotations of Params cannot be read: {error}"
    for name, annotation in annotations.items():
        kind = typing.get_args(annotation)[0] if _is_annotated(annotation) else annotation
        reading = isinstance(kind, type) and issubclass(kind, IntEnum)
        if not reading and kind not in (bool, int, float, tuple[float, ...]):
            return (
                f"Params.{name} is annotated with {getattr(kind, '__name__', kind)}, which kernels"
                " cannot take: use float, int, bool, tuple[float, ...], an IntEnum of readings or"
                " a type of dpbandits.core.parameters"
            )
    return ""


def _is_annotated(annotation: Any) -> bool:
    return typing.get_origin(annotation) is Annotated


def _constrained(annotation: Any) -> Any:
    if not _is_annotated(annotation):
        return annotation
    kind, *declared = typing.get_args(annotation)
    constraints = [each for each in declared if isinstance(each, Constraint)]
    return Annotated[kind, *constraints] if constraints else kind


def reading_name(member: IntEnum) -> str:
    """Return the name of a reading in a configuration: 'first' for `Ties.FIRST`."""
    return member.name.lower().replace("_", "-")


def coerce(annotation: Any, value: Any) -> Any:
    """Return the value as the annotated type, so that 1 and 1.0 become the same float.

    Raises ValueError, whose text describes the valid values, and TypeError for an annotation that
    is not supported.
    """
    constraint = None
    if _is_annotated(annotation):
        annotation, constraint = typing.get_args(annotation)
    words = constraint.words if constraint else WORDS.get(annotation, "")
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        members = {reading_name(member): member for member in annotation}
        if isinstance(value, bool):  # YAML reads the words `on` and `off` as booleans
            value = "on" if value else "off"
        if not isinstance(value, str) or value not in members:
            raise ValueError(f"one of {', '.join(members)}")
        return members[value]
    result = _plain(annotation, value)
    if result is None or (constraint and not constraint.holds(result)):
        raise ValueError(words)
    return result


def _plain(annotation: Any, value: Any) -> Any:
    # Return None if the value is not of the annotated type. YAML reads 1e6 as a string, which is
    # rejected rather than guessed at, but 1000000.0 is accepted as a whole number.
    if annotation == tuple[float, ...]:
        if not isinstance(value, list | tuple):
            return None
        numbers = [_plain(float, item) for item in value]
        return None if any(number is None for number in numbers) else tuple(numbers)
    if annotation not in (bool, int, float):
        raise TypeError(f"parameters of type {annotation} are not supported")
    if annotation is bool or isinstance(value, bool):
        return value if annotation is bool and isinstance(value, bool) else None
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value) + 0.0  # turns -0.0 into 0.0: they are equal and must print alike
    except OverflowError:
        return None
    if not math.isfinite(number) or (annotation is int and value != int(value)):
        return None
    return number if annotation is float else int(value)


def build(
    params: type[P], values: Mapping[str, Any], owner: str, origin: Callable[[str], str]
) -> P:
    """Return an instance of a Params class (a NamedTuple) from plain values, after checking each.

    Raises UserError in the form `owner: field must be ..., got ... (origin of the field)` for an
    invalid value, and also for a missing field or an unknown name, with the closest valid ones.
    For conditions on several fields the class may define a method `problem`, which returns the
    name of a field and what is wrong with it, or None.
    """
    known = fields(params)
    for name in values:
        if name not in known:
            raise UserError(
                f"{owner}: unknown parameter '{name}' ({origin(name)}); {nearest(str(name), known)}"
            )
    result = {}
    for name, annotation in known.items():
        if name not in values:
            if name not in params._field_defaults:  # type: ignore[attr-defined]
                raise UserError(f"{owner}: {name} is missing ({origin(name)})")
            continue
        try:
            result[name] = coerce(annotation, values[name])
        except ValueError as error:
            raise UserError(
                f"{owner}: {name} must be {error}, got {shown(values[name])} ({origin(name)})"
            ) from None
    built = params(**result)
    if problem := getattr(built, "problem", lambda: None)():
        field, message = problem
        raise UserError(f"{owner}: {message} ({origin(field)})")
    return built


def plain(params: NamedTuple) -> dict[str, Any]:
    """Return the fields as JSON values: readings by name, tuples as lists."""
    return {name: plain_value(value) for name, value in params._asdict().items()}


def plain_value(value: Any) -> Any:
    """Return the value of a field as a JSON value."""
    if isinstance(value, IntEnum):
        return reading_name(value)
    return list(value) if isinstance(value, tuple) else value
