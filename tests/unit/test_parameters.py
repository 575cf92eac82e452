"""Parameters: what their types accept, what is refused, and that every member's Params survive."""

import itertools
import json
import math
from enum import IntEnum
from fractions import Fraction as Exact
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpbandits.algorithms.private_ucb import Relaxation
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import (
    Arms,
    Budget,
    Count,
    Delta,
    Means,
    OpenMeans,
    Positive,
    Rounds,
    Seed,
    as_json,
    build,
    coerce,
)

REAL = [float, Positive]
NUMPY: list[Any] = [
    np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["Float"]
]
EXACT = [*NUMPY, np.array, Exact]
WHOLE = [int, Rounds, Count, Arms, Seed]


class Schedule(IntEnum):
    SERIES = 0
    SERIES_X = 1
    EVERY_ROUND = 2


class Example(NamedTuple):
    epsilon: Positive
    horizon: Rounds
    alpha: Positive = 3.1
    schedule: Schedule = Schedule.SERIES
    fresh: bool = True


@pytest.mark.parametrize(
    ("annotation", "value", "result"),
    [
        *((annotation, value, "1.0") for annotation in REAL for value in (1, 1.0)),
        *((annotation, value, "1000000") for annotation in WHOLE for value in (10**6, 1e6)),
        *((kind, number(1), "1.0") for kind in REAL for number in EXACT),
        *((kind, number(7), "7") for kind in WHOLE for number in EXACT),
        *((annotation, [0.25, 0.5], "(0.25, 0.5)") for annotation in (Means, OpenMeans)),
        (Means, (0, 1), "(0.0, 1.0)"),
        (Means, [-0.0, 0.5], "(0.0, 0.5)"),  # the JSON that names key and streams would differ
        (bool, False, "False"),
        (Schedule, "series-x", repr(Schedule.SERIES_X)),
        *((Relaxation, value, repr(Relaxation.ON)) for value in (True, "on")),  # YAML's `on`
        *((Relaxation, value, repr(Relaxation.OFF)) for value in (False, "off")),
    ],
)
def test_a_value_becomes_one_of_the_annotated_type(
    annotation: Any, value: Any, result: str
) -> None:
    assert repr(coerce(annotation, value)) == result


NO_NUMBERS = [math.nan, math.inf, -math.inf, "1", "1e6", True, None, [1.0], {}, 1j, 10**400]
NO_NUMBERS += [np.bool_(True), np.str_("1"), np.float32(np.nan), np.array([1.0]), np.complex128(1)]
NO_MEANS = [[], [0.5], [0.5, 1.5], [-0.5, 0.5], [0.5, math.nan], [0.5, "0.5"], [0.5, True]]
NO_MEANS += [[0.5, None], [[0.5, 0.5], [0.5, 0.5]], "0.5,0.5", 0.5, None, {0.5: 0.5, 0.25: 0.25}]


@pytest.mark.parametrize(
    ("annotations", "values", "words"),
    [
        ([*REAL, *WHOLE], NO_NUMBERS, ""),
        (WHOLE, [2.5], "a whole number"),
        ([Positive], [0, 0.0, -0.0, -1, -1e-300], "from 1e-100 to 1e100"),
        ([Budget], [-1e-300, math.inf], "0, or from 1e-100 to 1e100"),
        ([Delta], [-1e-300, 1.0000001, math.nan], "in [0, 1]"),
        ([Means, OpenMeans], NO_MEANS, "a list of two or more means"),
        ([OpenMeans], [[0.5, 0], [0.5, 1.0]], "a list of two or more means inside (0, 1)"),
        ([bool], [0, 1, 1.0, "true", "yes", None, []], "true or false"),
        (
            [Schedule],
            ["SERIES", "series_x", " series", "", 0, True, None, [], Schedule.SERIES],
            "one of series, series-x, every-round",
        ),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_any_other_value_is_refused_with_what_is_valid(
    annotations: list[Any], values: list[Any], words: str
) -> None:
    for annotation, value in itertools.product(annotations, values):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared
            coerce(annotation, value)
        assert str(caught.value).startswith(words), value


@pytest.mark.parametrize(
    ("annotation", "least", "most"),
    [(Rounds, 1, 2**53), (Count, 1, 10**6), (Arms, 2, 10**6), (Seed, 0, 2**63 - 1)],
)
def test_a_range_holds_its_ends_and_nothing_beyond(annotation: Any, least: int, most: int) -> None:
    assert [coerce(annotation, end) for end in (least, most)] == [least, most]
    for beyond in (least - 1, most + 1):
        with pytest.raises(ValueError, match=f"^a whole number from {least}"):
            coerce(annotation, beyond)


@pytest.mark.parametrize(("annotation", "also"), [(Positive, []), (Budget, [0.0])])
def test_a_budget_holds_its_ends_and_nothing_beyond(annotation: Any, also: list[float]) -> None:
    ends = [*also, 1e-100, 1e100]
    assert [coerce(annotation, end) for end in ends] == ends
    for beyond in (math.nextafter(1e-100, 0), math.nextafter(1e100, math.inf), 5e-324):
        with pytest.raises(ValueError, match="from 1e-100 to 1e100"):
            coerce(annotation, beyond)


# build -----------------------------------------------------------------------------------------


def origin(field: str) -> str:
    return f"a.yaml: {field}"


def test_build_takes_values_over_defaults() -> None:
    built = build(Example, {"horizon": 1e3, "epsilon": 1, "fresh": False}, "example", origin)
    assert repr(built) == repr(Example(1.0, 1000, 3.1, Schedule.SERIES, False))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epsilon": "1e6"}, "epsilon must be from 1e-100 to 1e100, got '1e6' (a.yaml: epsilon)"),
        ({"fresh": "no"}, "fresh must be true or false, got 'no' (a.yaml: fresh)"),
        ({"horizon": None}, "horizon must be a whole number from 1 to 2^53, got null ("),
        ({"epsilom": 1}, "unknown parameter 'epsilom' (a.yaml: epsilom); did you mean 'epsilon'?"),
        ({"xyz": 1}, "(a.yaml: xyz); valid: alpha, epsilon, fresh, horizon, schedule"),
    ],
)
def test_a_mistake_is_named_with_its_owner_its_rule_and_its_origin(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        build(Example, {"epsilon": 1.0, "horizon": 10} | values, "example", origin)
    assert str(caught.value).startswith("example: ")
    assert message in str(caught.value)
    with pytest.raises(UserError, match=r"^it: horizon is missing \(a.yaml: horizon\)$"):
        build(Example, {"epsilon": 1.0}, "it", origin)


def test_a_condition_on_several_fields_is_checked_by_the_class() -> None:
    class Pair(NamedTuple):
        epsilon: Budget
        delta: Delta

        def problem(self) -> tuple[str, str] | None:
            return ("delta", "epsilon and delta are both 0") if self == (0.0, 0.0) else None

    assert build(Pair, {"epsilon": 0, "delta": 1}, "pair", str) == (0.0, 1.0)
    with pytest.raises(UserError, match=r"^pair: epsilon and delta are both 0 \(delta\)$"):
        build(Pair, {"epsilon": 0, "delta": 0}, "pair", str)


# The registry ----------------------------------------------------------------------------------

MEMBERS = {
    **{name: registry.algorithm(name) for name in registry.algorithm_names()},
    **{name: registry.environment(name) for name in registry.environment_names()},
}


def valid_values(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        return [parameters.variant_name(member) for member in annotation]
    valid = []
    for value in (
        True,
        False,
        1,
        7,
        0.1,
        1.25,
        1e-9,
        1e9,
        [0.5, 0.25],
        [1 / 3, 0.9, 0.1],
        [0.1 * k for k in range(6)],
    ):
        try:
            coerce(annotation, value)
        except ValueError:
            continue
        valid.append(value)
    return valid


@pytest.mark.parametrize("module", MEMBERS.values(), ids=MEMBERS.keys())
def test_plain_parameters_build_the_same_parameters(module: ModuleType) -> None:
    params = module.Params
    choices = [valid_values(annotation) for annotation in parameters.fields(params).values()]
    assert all(choices)
    valid = 0
    for values in itertools.product(*choices):
        try:
            built = build(params, dict(zip(params._fields, values, strict=True)), "it", origin)
        except UserError:
            assert hasattr(params, "problem")  # of several fields together
            continue
        valid += 1
        again = build(params, json.loads(json.dumps(as_json(built))), "it", origin)
        # repr distinguishes 1 from 1.0 and an IntEnum from its number.
        assert repr(again) == repr(built)
    assert valid


@pytest.mark.parametrize("module", MEMBERS.values(), ids=MEMBERS.keys())
def test_every_default_is_a_value_that_its_field_accepts(module: ModuleType) -> None:
    annotations = parameters.fields(module.Params)
    for name, default in module.Params._field_defaults.items():
        value = coerce(annotations[name], parameters.plain_value(default))
        assert repr(value) == repr(default)
