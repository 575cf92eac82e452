"""Types and checks of the parameters in an algorithm's or environment's `Params` class.

A Params class is a NamedTuple whose fields are annotated with the types of this module, with
`int`, `float`, `bool`, or with an IntEnum whose members are the variants that a paper leaves open.
A configuration spells a variant in lower case with hyphens (`Ties.FIRST` is `first`).
"""

import math
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from numbers import Real
from typing import Annotated, Any, NamedTuple, TypeVar

from dpbandits.kernel.errors import Located, nearest, shown


@dataclass(frozen=True)
class Constraint:
    """Condition on a value, and its wording in error messages."""

    holds: Callable[[Any], bool]
    wording: str


# Beyond these ends noise overflows and indices are infinite or no numbers.
Positive = Annotated[float, Constraint(lambda x: 1e-100 <= x <= 1e100, "from 1e-100 to 1e100")]
Budget = Annotated[
    float, Constraint(lambda x: x == 0 or 1e-100 <= x <= 1e100, "0, or from 1e-100 to 1e100")
]
Delta = Annotated[float, Constraint(lambda x: 0 <= x <= 1, "in [0, 1]")]
NonZero = Annotated[float, Constraint(lambda x: x != 0 and math.isfinite(x), "finite and not 0")]
Fraction = Annotated[float, Constraint(lambda x: 0 < x < 1, "inside (0, 1)")]
Probability = Annotated[float, Constraint(lambda x: 0 < x <= 1, "in (0, 1]")]
MEANS = "a list of two or more means"
Means = Annotated[
    tuple[float, ...],
    Constraint(lambda m: len(m) > 1 and 0 <= min(m) <= max(m) <= 1, f"{MEANS} in [0, 1]"),
]
OpenMeans = Annotated[
    tuple[float, ...],
    Constraint(lambda m: len(m) > 1 and 0 < min(m) <= max(m) < 1, f"{MEANS} inside (0, 1)"),
]
Ascending = Annotated[
    tuple[float, ...],
    Constraint(lambda x: x and [*x] == sorted({*x}), "a list of numbers in ascending order"),
]
Rounds = Annotated[int, Constraint(lambda n: 1 <= n <= 2**53, "a whole number from 1 to 2^53")]
Count = Annotated[int, Constraint(lambda n: 1 <= n <= 10**6, "a whole number from 1 to 10^6")]
Workers = Annotated[int, Constraint(lambda n: 1 <= n <= 1024, "a whole number from 1 to 1024")]
Dimension = Annotated[int, Constraint(lambda n: 2 <= n <= 64, "a whole number from 2 to 64")]
Arms = Annotated[int, Constraint(lambda n: 2 <= n <= 10**6, "a whole number from 2 to 10^6")]
Seed = Annotated[int, Constraint(lambda n: 0 <= n < 2**63, "a whole number from 0, below 2^63")]

P = TypeVar("P")

WORDS = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    tuple[float, ...]: "a list of numbers",
}


def _parts(annotation: Any) -> tuple[Any, ...]:
    is_annotated = typing.get_origin(annotation) is Annotated
    return typing.get_args(annotation) if is_annotated else (annotation,)


def fields(params: Any) -> dict[str, Any]:
    """Return the fields of a Params class and their annotations, constraints included.

    Other declarations in an annotation (randomness.py) are dropped: they limit no value.
    """
    annotations = {}
    for name, annotation in typing.get_type_hints(params, include_extras=True).items():
        kind, *declared = _parts(annotation)
        constraints = [part for part in declared if isinstance(part, Constraint)]
        annotations[name] = Annotated[kind, *constraints] if constraints else kind
    return annotations


def unsupported(params: Any) -> str:
    """Return why a Params class cannot be used, with the remedy; '' if it can."""
    if not (isinstance(params, type) and hasattr(params, "_fields")):
        return "Params must be a NamedTuple"
    try:
        annotations = fields(params)
    except (NameError, TypeError) as error:
        return f"the annotations of Params cannot be read: {error}"
    valid = "float, int, bool, tuple[float, ...], an IntEnum of variants or a type of"
    for name, annotation in annotations.items():
        kind = _parts(annotation)[0]
        if kind not in WORDS and not (isinstance(kind, type) and issubclass(kind, IntEnum)):
            given = f"Params.{name} is annotated with {getattr(kind, '__name__', kind)}"
            return f"{given}, which kernels cannot take: use {valid} dpbandits.kernel.parameters"
    return ""


def variant_name(member: IntEnum) -> str:
    """Return the name of a variant in a configuration: 'first' for `Ties.FIRST`."""
    return member.name.lower().replace("_", "-")


def coerce(annotation: Any, value: Any) -> Any:
    """Return the value as the annotated type, so that 1 and 1.0 become the same float.

    Raises ValueError, whose text describes the valid values.
    """
    kind, *constraints = _parts(annotation)
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        members = {variant_name(member): member for member in kind}
        if isinstance(value, bool):  # YAML reads the words `on` and `off` as booleans
            value = "on" if value else "off"
        if not isinstance(value, str) or value not in members:
            raise ValueError(f"one of {', '.join(members)}")
        return members[value]
    result: Any = None
    if kind == tuple[float, ...] and isinstance(value, list | tuple):
        numbers = tuple(_number(float, item) for item in value)
        result = None if None in numbers else numbers
    elif kind is bool:
        result = value if isinstance(value, bool) else None
    elif kind in (int, float):
        result = _number(kind, value)
    if result is None or not all(constraint.holds(result) for constraint in constraints):
        raise ValueError(constraints[0].wording if constraints else WORDS[kind])
    return result


def _number(kind: type, value: Any) -> float | None:
    # Return None for what is no finite number of this type. YAML reads 1e6 as a string, which is
    # rejected rather than guessed at, but 1000000.0 is accepted as a whole number.
    if getattr(value, "ndim", None) == 0:  # a NumPy number, or an array of one
        value = value.item()
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not abs(value) <= sys.float_info.max:
        return None
    if kind is int:
        return int(value) if value == int(value) else None
    return float(value) + 0.0  # turns -0.0 into 0.0: they are equal and must print alike


def build(
    params: type[P], values: Mapping[str, Any], owner: str, origin: Callable[[str], str]
) -> P:
    """Return an instance of a Params class (a NamedTuple) from plain values, after checking each.

    Raises UserError in the form `owner: field must be ..., got ... (origin of the field)`. For
    conditions on several fields the class may define a method `problem`, which returns the name of
    a field and what is wrong with it, or None.
    """
    annotations = fields(params)
    for name in values:
        if name not in annotations:
            near = nearest(str(name), annotations)
            raise Located(f"{owner}: unknown parameter '{name}' ({origin(name)}); {near}")
    result = {}
    for name, annotation in annotations.items():
        if name in values:
            try:
                result[name] = coerce(annotation, values[name])
            except ValueError as error:
                raise Located(
                    f"{owner}: {name} must be {error}, got {shown(values[name])} ({origin(name)})"
                ) from None
        elif name not in params._field_defaults:  # type: ignore[attr-defined]
            raise Located(f"{owner}: {name} is missing ({origin(name)})")
    built = params(**result)
    if problem := getattr(built, "problem", lambda: None)():
        field, message = problem
        raise Located(f"{owner}: {message} ({origin(field)})")
    return built


def as_json(params: NamedTuple) -> dict[str, Any]:
    """Return the fields as JSON values: variants by name, tuples as lists."""
    return {name: plain_value(value) for name, value in params._asdict().items()}


def plain_value(value: Any) -> Any:
    """Return the value of a field as a JSON value."""
    if isinstance(value, IntEnum):
        return variant_name(value)
    return list(value) if isinstance(value, tuple) else value
