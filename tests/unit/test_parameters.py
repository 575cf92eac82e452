import itertools
import json
import math
import typing
from enum import IntEnum
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbandits.algorithms.private_ucb import Relaxation
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest
from dpbandits.core.parameters import (
    Arms,
    Budget,
    Count,
    Delta,
    Means,
    OpenMeans,
    Positive,
    Rounds,
    Seed,
    Workers,
    build,
    coerce,
    plain,
)

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)


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


REAL = {"float": float, "Positive": Positive}
WHOLE = {"int": int, "Rounds": Rounds, "Count": Count, "Arms": Arms, "Seed": Seed}
LISTS = {"Means": Means, "OpenMeans": OpenMeans}


def each(annotations: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("annotation", annotations.values(), ids=annotations.keys())


def refusal(annotation: Any, value: Any) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is what is returned
        coerce(annotation, value)
    return str(caught.value)


# Numbers ---------------------------------------------------------------------------------------


@each(REAL)
def test_one_and_one_point_zero_become_the_same_float(annotation: Any) -> None:
    assert [type(coerce(annotation, value)) for value in (1, 1.0)] == [float, float]
    assert repr(coerce(annotation, 1)) == repr(coerce(annotation, 1.0)) == "1.0"


@each(WHOLE)
def test_an_integral_float_becomes_a_whole_number(annotation: Any) -> None:
    assert type(coerce(annotation, 1_000_000.0)) is int
    assert coerce(annotation, 1_000_000.0) == coerce(annotation, 1_000_000) == 1_000_000


@each(WHOLE)
def test_a_number_with_a_fraction_is_not_whole(annotation: Any) -> None:
    assert refusal(annotation, 2.5).startswith("a whole number")


@each(REAL | WHOLE)
@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, "1", "1e6", "", True, False, None, [1.0], (2,), {}, 1 + 0j],
    ids=repr,
)
def test_what_is_no_number_is_refused(annotation: Any, value: Any) -> None:
    refusal(annotation, value)


@each(REAL | WHOLE)
def test_a_number_beyond_every_float_is_refused(annotation: Any) -> None:
    refusal(annotation, 10**400)


@FIXED
@given(st.floats(min_value=0.0, exclude_min=True, allow_infinity=False))
def test_every_positive_float_is_kept_to_the_bit(x: float) -> None:
    assert coerce(Positive, x) == x


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1, -1.0, -1e-300])
def test_positive_excludes_zero_and_below(value: float) -> None:
    assert refusal(Positive, value) == "positive and finite"


@pytest.mark.parametrize(
    ("annotation", "least", "most", "words"),
    [
        pytest.param(Rounds, 1, 2**53, "a whole number from 1 to 2^53", id="Rounds"),
        pytest.param(Count, 1, 10**6, "a whole number from 1 to 10^6", id="Count"),
        pytest.param(Workers, 1, 1024, "a whole number from 1 to 1024", id="Workers"),
        pytest.param(Arms, 2, 10**6, "a whole number from 2 to 10^6", id="Arms"),
        pytest.param(Seed, 0, 2**63 - 1, "a whole number from 0, below 2^63", id="Seed"),
    ],
)
def test_a_range_holds_its_ends_and_nothing_beyond(
    annotation: Any, least: int, most: int, words: str
) -> None:
    assert coerce(annotation, least) == least
    assert coerce(annotation, most) == most
    assert refusal(annotation, least - 1) == words
    assert refusal(annotation, most + 1) == words


# Lists, truth values, readings -----------------------------------------------------------------


@each(LISTS)
@pytest.mark.parametrize("value", [[0.25, 0.5], (0.25, 0.5)], ids=["list", "tuple"])
def test_means_become_a_tuple_of_floats(annotation: Any, value: Any) -> None:
    assert coerce(annotation, value) == (0.25, 0.5)
    assert type(coerce(annotation, value)) is tuple


def test_whole_means_become_floats() -> None:
    assert repr(coerce(Means, [0, 1])) == repr(coerce(Means, [0.0, 1.0])) == "(0.0, 1.0)"


def test_a_mean_of_minus_zero_is_zero() -> None:
    # They are equal, and so are the two cells; the JSON that names key and streams would differ.
    assert repr(coerce(Means, [-0.0, 0.5])) == repr(coerce(Means, [0.0, 0.5]))


@each(LISTS)
@pytest.mark.parametrize(
    "value",
    [
        [],
        [0.5],
        [0.5, 1.5],
        [-0.5, 0.5],
        [0.5, math.nan],
        [0.5, math.inf],
        [0.5, "0.5"],
        [0.5, True],
        [0.5, None],
        [[0.5, 0.5], [0.5, 0.5]],
        "0.5,0.5",
        0.5,
        None,
        {0.5: 0.5, 0.25: 0.25},
    ],
    ids=repr,
)
def test_what_are_no_means_is_refused(annotation: Any, value: Any) -> None:
    assert refusal(annotation, value).startswith("a list of two or more means")


@pytest.mark.parametrize("end", [0, 1, 0.0, 1.0])
def test_open_means_exclude_the_ends_and_means_do_not(end: float) -> None:
    assert coerce(Means, [0.5, end]) == (0.5, float(end))
    assert refusal(OpenMeans, [0.5, end]) == "a list of two or more means inside (0, 1)"


def test_a_truth_value_is_nothing_but_true_and_false() -> None:
    assert coerce(bool, True) is True
    assert coerce(bool, False) is False
    others: list[Any] = [0, 1, 1.0, "true", "yes", None, []]
    for value in others:
        assert refusal(bool, value) == "true or false"


def test_a_reading_is_its_name_in_lower_case_with_hyphens() -> None:
    assert coerce(Schedule, "series") is Schedule.SERIES
    assert coerce(Schedule, "series-x") is Schedule.SERIES_X
    assert coerce(Schedule, "every-round") is Schedule.EVERY_ROUND


def test_on_and_off_are_readings_too_though_yaml_reads_truth_values() -> None:
    assert coerce(Relaxation, True) is coerce(Relaxation, "on") is Relaxation.ON
    assert coerce(Relaxation, False) is coerce(Relaxation, "off") is Relaxation.OFF


@pytest.mark.parametrize(
    "value",
    [
        "SERIES",
        "Series",
        "series_x",
        " series",
        "serie",
        "",
        0,
        True,
        None,
        [],
        {},
        Schedule.SERIES,
    ],
    ids=repr,
)
def test_a_refused_reading_is_answered_with_the_valid_ones(value: Any) -> None:
    assert refusal(Schedule, value) == "one of series, series-x, every-round"


@pytest.mark.parametrize("value", [1, "text"])
def test_a_type_that_parameters_do_not_support_is_an_error_of_the_code(value: Any) -> None:
    with pytest.raises(TypeError, match="not supported"):
        coerce(str, value)


# build -----------------------------------------------------------------------------------------


def origin(field: str) -> str:
    return f"conf/algorithm/example.yaml: {field}"


def message(values: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        build(Example, values, "example", origin)
    return str(caught.value)


def test_build_fills_in_what_is_not_given() -> None:
    built = build(Example, {"horizon": 1e3, "epsilon": 1}, "example", origin)
    assert built == Example(1.0, 1000, 3.1, Schedule.SERIES, True)
    assert [type(value) for value in built] == [float, int, float, Schedule, bool]


def test_build_takes_what_is_given_over_the_default() -> None:
    values = {"epsilon": 2, "horizon": 9, "alpha": 1, "schedule": "series-x", "fresh": False}
    assert build(Example, values, "example", origin) == Example(
        2.0, 9, 1.0, Schedule.SERIES_X, False
    )


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("epsilon", -1.0, "epsilon must be positive and finite, got -1.0"),
        ("epsilon", "1e6", "epsilon must be positive and finite, got '1e6'"),
        ("horizon", 2.5, "horizon must be a whole number from 1 to 2^53, got 2.5"),
        ("horizon", True, "horizon must be a whole number from 1 to 2^53, got True"),
        (
            "schedule",
            "serie",
            "schedule must be one of series, series-x, every-round, got 'serie'",
        ),
        ("fresh", "no", "fresh must be true or false, got 'no'"),
    ],
)
def test_a_refused_value_is_named_with_its_owner_its_rule_and_its_origin(
    field: str, value: Any, text: str
) -> None:
    values = {"epsilon": 1.0, "horizon": 10} | {field: value}
    assert message(values) == f"example: {text} (conf/algorithm/example.yaml: {field})"


def test_a_missing_parameter_is_named_with_its_origin() -> None:
    expected = "example: horizon is missing (conf/algorithm/example.yaml: horizon)"
    assert message({"epsilon": 1.0}) == expected


def test_an_unknown_parameter_is_answered_with_the_nearest() -> None:
    expected = (
        "example: unknown parameter 'epsilom' (conf/algorithm/example.yaml: epsilom); "
        "did you mean 'epsilon'?"
    )
    assert message({"epsilom": 1.0, "horizon": 10}) == expected


def test_an_unknown_parameter_near_to_none_is_answered_with_all() -> None:
    text = message({"epsilon": 1.0, "horizon": 10, "xyz": 1})
    assert text.endswith("; valid: alpha, epsilon, fresh, horizon, schedule")


# The registry ----------------------------------------------------------------------------------

MEMBERS = {
    **{name: registry.algorithm(name) for name in registry.algorithm_names()},
    **{name: registry.environment(name) for name in registry.environment_names()},
}


def valid_values(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and issubclass(annotation, IntEnum):
        return [parameters.reading_name(member) for member in annotation]
    valid = []
    for value in (True, False, 1, 7, 0.1, 1.25, 1e-9, 1e9, [0.5, 0.25], [1 / 3, 0.9, 0.1]):
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
    for values in itertools.product(*choices):
        built = build(params, dict(zip(params._fields, values, strict=True)), "it", origin)
        stored = json.loads(json.dumps(plain(built)))
        again = build(params, stored, "it", origin)
        # repr distinguishes 1 from 1.0 and an IntEnum from its number.
        assert repr(again) == repr(built)


@pytest.mark.parametrize("module", MEMBERS.values(), ids=MEMBERS.keys())
def test_every_default_is_a_value_that_its_field_accepts(module: ModuleType) -> None:
    for name, annotation in parameters.fields(module.Params).items():
        if name in module.Params._field_defaults:
            default = module.Params._field_defaults[name]
            stored = parameters.reading_name(default) if isinstance(default, IntEnum) else default
            assert repr(coerce(annotation, stored)) == repr(default)


@pytest.mark.parametrize("module", MEMBERS.values(), ids=MEMBERS.keys())
def test_every_field_has_a_supported_type(module: ModuleType) -> None:
    for annotation in parameters.fields(module.Params).values():
        assert valid_values(annotation)


def test_fields_keep_their_constraints() -> None:
    annotations = parameters.fields(Example)
    assert list(annotations) == ["epsilon", "horizon", "alpha", "schedule", "fresh"]
    assert typing.get_args(annotations["horizon"])[1].words == "a whole number from 1 to 2^53"


def test_plain_values_name_readings_and_list_tuples() -> None:
    class Instance(NamedTuple):
        means: Means
        schedule: Schedule

    values = plain(Instance((0.5, 0.25), Schedule.EVERY_ROUND))
    assert values == {"means": [0.5, 0.25], "schedule": "every-round"}
    assert type(values["schedule"]) is str


def test_of_many_names_a_message_tells_the_first_and_how_many_there_are() -> None:
    names = [f"bound-{'x' * 34}-{letter}" for letter in "abcdefghijkl"]  # 42 characters and two
    assert nearest("5", names) == f"valid: {', '.join(names[:9])} and 3 more"
    assert nearest("5", names[:9]) == f"valid: {', '.join(names[:9])}"


class Pair(NamedTuple):
    epsilon: Budget
    delta: Delta

    def problem(self) -> tuple[str, str] | None:
        return ("delta", "epsilon and delta are both 0") if self == (0.0, 0.0) else None


def test_a_condition_on_several_fields_is_checked_by_the_class() -> None:
    assert build(Pair, {"epsilon": 0, "delta": 1}, "pair", str) == (0.0, 1.0)
    with pytest.raises(UserError, match=r"^pair: epsilon and delta are both 0 \(delta\)$"):
        build(Pair, {"epsilon": 0, "delta": 0}, "pair", str)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("epsilon", -1e-300, "0 or more, and finite"),
        ("epsilon", math.inf, "0 or more, and finite"),
        ("delta", -1e-300, r"in \[0, 1\]"),
        ("delta", 1.0000001, r"in \[0, 1\]"),
        ("delta", math.nan, r"in \[0, 1\]"),
    ],
)
def test_a_budget_may_be_0_and_a_delta_is_a_probability(
    field: str, value: float, words: str
) -> None:
    with pytest.raises(UserError, match=f"pair: {field} must be {words}, got"):
        build(Pair, {"epsilon": 1.0, "delta": 0.1, field: value}, "pair", str)
