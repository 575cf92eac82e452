"""Every random stream has exactly the name recorded in streams.jsonl.

The name is the seed. Golden rows show some draws of some streams; these tests show that no stream
has changed.
"""

import copy
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import golden_streams
import pytest
from golden_rows import COMMAND, Case, cases
from golden_streams import AUDIT, Names, difference

from dpbandits.algorithms import adap_ucb
from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.audit import designs
from dpbandits.audit.designs import Design
from dpbandits.audit.subject import Subject
from dpbandits.core import randomness
from dpbandits.core.parameters import Positive
from dpbandits.core.randomness import AddedLater, StreamName
from dpbandits.files import project

ROOT = Path(__file__).resolve().parents[2]
PLAYED = sorted(path.stem for path in (ROOT / "conf" / "algorithm").glob("*.yaml"))

pytestmark = pytest.mark.usefixtures("in_checkout")


RULE = """\
The name of a random stream has changed, and other numbers are drawn from it.
* A field that is new declares the value that everything was played with until now, and its streams
  stay: Annotated[Positive, AddedLater(1.0)].
* A field that is renamed declares the name that it had: Annotated[Positive, StreamName("alpha")].
* A reading keeps the names of its IntEnum and of its members, and their numbers.
docs/add-an-algorithm.md has an example. If other numbers are to be drawn from now on: """


@pytest.mark.parametrize("name", PLAYED)
def test_the_streams_have_their_golden_names(name: str) -> None:
    golden = golden_streams.read()
    moved, missing = [], []
    for case in cases():
        if case.plays != name:
            continue
        if case.name not in golden:
            missing.append(f"{case.name}: there are no golden names of its streams")
        elif words := difference(golden[case.name], golden_streams.names(case)):
            moved.append(f"{case.name}, {words}")
    if moved:
        pytest.fail("\n".join([*moved, f"{RULE}{COMMAND} {name}"]))
    assert not missing, "\n".join([*missing, f"This keeps them: {COMMAND} {name}"])


def test_every_case_has_golden_names_and_no_other() -> None:
    wrong = {case.name for case in cases()} ^ golden_streams.read().keys()
    assert not wrong, (
        f"the names of streams are missing, or of no case, for {', '.join(sorted(wrong))};"
        f" this keeps those that there are: {COMMAND}"
    )
    assert {*PLAYED} == {case.plays for case in cases()} == {*project.names("algorithm")}


# The rule ----------------------------------------------------------------------------------------

ON_SAMPLES = "dp-nas on samples of mean 0.3 and radius 1"
CHANGED = {  # a case, and the Params of its cell that are changed
    "algorithm": ("adap-ucb on beta", "params"),
    "environment": ("adap-ucb on beta", "instance"),
    "table of gains": ("exp3 on exp3-stochastic", "instance"),
    "stopping rule": (ON_SAMPLES, "params"),
    "samples": (ON_SAMPLES, "stream"),
    "audited algorithm": ("adap-ucb on bernoulli", "params"),
}
NAMES = {  # the streams whose names contain these Params
    "algorithm": {"policy"},
    "environment": {"rewards", "policy"},
    "table of gains": {"rewards", "table", "policy"},
    "stopping rule": {"policy"},
    "samples": {"rewards", "policy"},
    "audited algorithm": {"policy", AUDIT},
}


def case_of(changed: str) -> Case:
    (case,) = (case for case in cases() if case.name == CHANGED[changed][0])
    return case


def names_with(
    changed: str, monkeypatch: pytest.MonkeyPatch, annotations: dict[str, Any], *values: Any
) -> Names:
    """Return the names of the streams when a member's Params are a class with these annotations."""
    case, attribute = case_of(changed), CHANGED[changed][1]
    cls: Any = namedtuple("Another", annotations)  # type: ignore[misc]
    cls.__annotations__ = annotations
    if changed == "audited algorithm":
        monkeypatch.setattr(adap_ucb, "Params", cls)
    params: dict[str, Any] = {attribute: cls(*values)}
    cell: Any = replace(case.cell, **params)
    return golden_streams.names(replace(case, cell=cell))


def annotations_and_values(changed: str) -> tuple[dict[str, Any], list[Any]]:
    params = getattr(case_of(changed).cell, CHANGED[changed][1])
    return get_type_hints(type(params), include_extras=True), list(params)


@pytest.mark.parametrize("changed", CHANGED)
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("annotation", "played", "other"),
    [(Positive, 8.0, 9.0), (Ties, Ties.RANDOM, Ties.FIRST)],
    ids=["number", "reading"],
)
def test_a_new_field_that_is_declared_moves_a_stream_only_by_another_value(
    changed: str,
    declared: bool,
    annotation: Any,
    played: Any,
    other: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    golden = golden_streams.read()[CHANGED[changed][0]]
    annotations, values = annotations_and_values(changed)
    new = Annotated[annotation, AddedLater(played)] if declared else annotation
    annotations["new"] = new

    def moved(value: Any) -> set[str]:
        names = names_with(changed, monkeypatch, annotations, *values, value)
        return {kind for kind in golden if difference({kind: golden[kind]}, {kind: names[kind]})}

    assert moved(played) == (set() if declared else NAMES[changed])
    assert moved(other) == NAMES[changed]


@pytest.mark.parametrize(
    ("changed", "field"),
    [("algorithm", "alpha"), ("stopping rule", "beta"), ("audited algorithm", "alpha")],
)
@pytest.mark.parametrize("declared", [True, False])
def test_a_renamed_field_that_declares_its_first_name_moves_no_stream(
    changed: str, field: str, declared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = golden_streams.read()[CHANGED[changed][0]]
    annotations, values = annotations_and_values(changed)
    renamed = {
        name if name != field else "other": annotation
        if name != field or not declared
        else Annotated[annotation, StreamName(field)]
        for name, annotation in annotations.items()
    }
    words = difference(golden, names_with(changed, monkeypatch, renamed, *values))
    assert (words is None) == declared


def test_a_field_that_is_new_and_not_declared_is_a_failure_that_states_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = randomness.fields
    monkeypatch.setattr(randomness, "fields", lambda params: {**fields(params), "cap": 8.0})
    with pytest.raises(pytest.fail.Exception) as failure:
        test_the_streams_have_their_golden_names("nas")
    assert '{"stream": {"cap": 8.0, "mean": 0.3, "radius": 1.0}}' in str(failure.value)
    assert "AddedLater" in str(failure.value)
    assert f"{COMMAND} nas" in str(failure.value)


def test_no_wording_names_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    class Another(adap_ucb.Params):
        """Class with another name and another docstring."""

        def __repr__(self) -> str:
            return "its parameters"

    real = designs.flipped

    def reworded(name: str, words: str, table: Any, index: int) -> Design:
        return replace(real(name, words, table, index), words="a pair of tables")

    case = case_of("audited algorithm")
    monkeypatch.setattr(adap_ucb, "Params", Another)
    monkeypatch.setattr(adap_ucb, "LABEL", "Another label")
    monkeypatch.setattr(adap_ucb, "__doc__", "Another docstring.")
    monkeypatch.setattr(Ties, "__repr__", lambda self: "a reading")
    monkeypatch.setattr(Ties, "__str__", lambda self: "a reading")
    monkeypatch.setattr(designs, "flipped", reworded)
    cell = replace(case.cell, params=Another(*case.cell.params))
    names = golden_streams.names(replace(case, cell=cell))
    assert difference(golden_streams.read()[case.name], names) is None


# Recorded names ---------------------------------------------------------------------------------


def test_the_names_of_an_audit_are_of_every_design_and_stage() -> None:
    subject = Subject.of("adap-ucb", case_of("audited algorithm").cell.params)
    requests = golden_streams.requests_of_an_audit(subject)
    text = "\n".join(name for *_, name in requests)
    waits = max(designs.TIMES) * subject.horizons[0]
    halves = [f"search {n}, False, {half} half" for n in range(3) for half in ("first", "second")]
    for part in (
        *("edge of rewards of mean 0 ", "edge of rewards of mean 1 ", "on rewards of mean "),
        *("on rewards 0 and 1, T = 256, reward 16 ", f"on rewards 1 and 0, T = {waits}, reward 1 "),
        *("on rewards 1 and, of 4 arms, 0, T = 13, ", "measured, False", "audit 3, table 1"),
        *halves,
    ):
        assert part in text, part


def test_a_difference_shows_both_names() -> None:
    golden: Names = {
        "policy": {"words": "0a", "name": "a"},
        AUDIT: {"streams": 2, "sha256": "0b", "examples": ["b", "c"]},
    }
    assert difference(golden, copy.deepcopy(golden)) is None
    for kind, now, words in (
        ("policy", {"words": "0d", "name": "d"}, "policy stream: name is\n  d\ngolden\n  a"),
        ("policy", {"words": "0d", "name": "a"}, "policy stream: words is\n  0d\ngolden\n  0a"),
        (AUDIT, golden[AUDIT] | {"streams": 3}, "audit stream: streams is\n  3\ngolden\n  2"),
        (AUDIT, golden[AUDIT] | {"sha256": "0"}, "audit stream: sha256 is\n  0\ngolden\n  0b"),
        (
            AUDIT,
            golden[AUDIT] | {"examples": ["b", "d"]},
            "audit stream: examples is\n  d\ngolden\n  c",
        ),
        (
            AUDIT,
            golden[AUDIT] | {"examples": ["b"]},
            "audit stream: examples is\n  1\ngolden\n  2",
        ),
    ):
        assert difference(golden, golden | {kind: now}) == words
    assert difference(golden, {"policy": golden["policy"]}) is not None
    assert difference({"policy": golden["policy"]}, golden) is not None
