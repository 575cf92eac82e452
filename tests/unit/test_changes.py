"""Overrides that make another figure, their spelling, and the folder that they name."""

from typing import Any

import pytest
from composed import load
from hydra.core.override_parser.overrides_parser import OverridesParser

from dpbandits.spec.changes import Change, folder_name, for_people, text

pytestmark = pytest.mark.usefixtures("in_checkout")


def folder(*overrides: str, figure: str = "adap-c2") -> str:
    _, settings = load(figure, overrides)
    return settings.folder(figure).relative_to(settings.out).as_posix()


def changes(*overrides: str, figure: str = "adap-c2") -> list[str]:
    spec, _ = load(figure, overrides)
    return [change.words for change in spec.changes]


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("runs=5", "seed=7", "engine.workers=1"),
        ("engine=dask",),
        ("figure.runs=3",),
        ("figure.horizon=10_000_000", "figure.environment=c2"),  # the same values as in the file
        ("figure.horizon=1e7",),
    ],
)
def test_runs_seed_engine_and_repeated_values_do_not_change_the_figure(
    overrides: tuple[str, ...],
) -> None:
    assert folder(*overrides) == "adap-c2"
    assert changes(*overrides) == []
    spec, _ = load("adap-c2", overrides)
    assert spec.changes == ()  # so its claims are judged


def test_a_changed_figure_has_a_folder_inside_that_of_the_figure() -> None:
    overrides = ("figure.horizon=100_000", "figure.environment=c4")
    assert folder(*overrides) == "adap-c2/environment=c4,horizon=100000"
    assert folder(*reversed(overrides)) == folder(*overrides)
    assert folder("figure.horizon=1e5", "figure.environment=c4", "runs=3") == folder(*overrides)
    spec, _ = load("adap-c2", overrides)
    assert spec.title == "Evolution of regret on C4"
    assert spec.changes


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ("figure.curves.adap-ucb.alpha=1", "adap-ucb.alpha=1"),
        ("figure.curves.adap-klucb.alpha=1", "adap-klucb.alpha=1"),
        ("figure.panels.a.epsilon=0.2", "panels.a.epsilon=0.2"),
        ("~figure.curves.dp-se", "~dp-se"),
        ("+algorithm@figure.curves.x=ucb", "x=ucb"),
    ],
)
def test_the_folder_names_the_curve_or_panel_that_is_changed(overrides: str, expected: str) -> None:
    assert folder(overrides) == f"adap-c2/{expected}"


def test_folders_of_different_overrides_differ() -> None:
    means = [f"[0.{i}, 0.{j}]" for i in range(1, 9) for j in range(1, 9)]
    many = [f"figure.environment={{law: bernoulli, means: {m}}}" for m in means]
    odd = ["++figure.note='\"a b\"'", "++figure.note='\"a_b\"'", "++figure.note='\"a?b\"'"]
    parsed = OverridesParser.create().parse_overrides([*many, *odd])
    of_texts = [
        folder_name([Change(str(one.key_or_group), text(one.value()), None)]) for one in parsed
    ]
    names = {f"adap-c2/{name}" for name in of_texts}
    assert len(names) == len(many) + len(odd)
    some = [*many[::9], *odd]  # the others would take seconds
    assert [folder(override) for override in some] == [
        f"adap-c2/{name}" for name in [*of_texts[: len(many) : 9], *of_texts[len(many) :]]
    ]
    for name in names:
        last = name.rpartition("/")[2]
        assert len(last) < 100
        assert set(last) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,=+~-"
        )


def test_long_names_are_cut_and_stay_unique() -> None:
    def named(value: str) -> str:
        return folder_name([Change("figure.note", value, None)])

    first, second = named("x" * 300), named("x" * 299 + "y")
    assert first != second
    assert max(len(first), len(second)) < 100


def test_a_profile_has_its_own_folder_unless_an_override_sets_the_folder() -> None:
    spec, settings = load("adap-c2", ["profile=smoke"])
    assert settings.folder("adap-c2").parts[-3:] == ("out", "smoke", "adap-c2")
    assert [change.words for change in spec.changes] == ["scale of the profile smoke"]
    _, elsewhere = load("adap-c2", ["profile=smoke", "paths.out=elsewhere"])
    assert elsewhere.folder("adap-c2").parts[-3:] == ("elsewhere", "adap-c2", "profile=smoke")


def test_the_words_name_the_value_in_the_file() -> None:
    overrides = ("figure.horizon=100_000", "figure.curves.adap-ucb.alpha=1", "~figure.curves.dp-se")
    assert changes(*overrides) == [
        "alpha of curve adap-ucb = 1 (file: 3.1)",
        "without curve dp-se",
        "horizon = 100,000 (file: 10,000,000)",
    ]
    assert changes("figure.panels.a.epsilon=0.2") == ["epsilon of panel (a) = 0.2 (file: 0.1)"]
    assert changes("+algorithm@figure.curves.x=ucb") == ["curve x added: ucb"]


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (100_000, "100000"),
        (1e5, "100000"),
        (0.25, "0.25"),
        (True, "true"),
        (None, "null"),
        ([0.5, 1.0], "[0.5,1]"),
        ({"law": "bernoulli", "means": [0.5]}, "{law:bernoulli,means:[0.5]}"),
    ],
)
def test_a_value_has_one_spelling(value: Any, spelled: str) -> None:
    assert text(value) == spelled


def test_captions_separate_thousands_and_items_of_lists() -> None:
    assert for_people("1000000") == "1,000,000"
    assert for_people("[0.5,1]") == "[0.5, 1]"
    assert for_people("c4") == "c4"
