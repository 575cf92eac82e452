"""Every random stream has exactly the name recorded in streams.jsonl.

The name is the seed. Golden rows show some draws of some streams; these tests show that no stream
has changed.
"""

from collections import namedtuple
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

import golden_streams
import pytest
from golden_rows import COMMAND, Case, cases
from golden_streams import AUDIT, difference

from dpbandits.algorithms import adap_ucb
from dpbandits.algorithms.adap_ucb import Ties
from dpbandits.audit import designs
from dpbandits.audit.subject import Subject
from dpbandits.core.parameters import Positive
from dpbandits.core.randomness import AddedLater

pytestmark = pytest.mark.usefixtures("in_checkout")

RULE = """\
The name of a random stream has changed, and other numbers are drawn from it.
* A field that is new declares the value that everything was played with until now, and its streams
  stay: Annotated[Positive, AddedLater(1.0)].
* A reading keeps the names of its IntEnum and of its members, and their numbers.
docs/add-an-algorithm.md has an example. If other numbers are to be drawn from now on: """


PLAYED = sorted({name.partition(" on ")[0] for name in golden_streams.read()})


@pytest.mark.parametrize("name", PLAYED)
def test_the_streams_have_their_golden_names(name: str) -> None:
    golden = golden_streams.read()
    moved = [
        f"{case.name}, {change}"
        for case in cases()
        if case.plays == name
        and (change := difference(golden.get(case.name, {}), golden_streams.names(case)))
    ]
    assert not moved, "\n".join([*moved, f"{RULE}{COMMAND} {name}"])


def test_every_case_has_golden_names_and_no_other() -> None:
    wrong = {case.name for case in cases()} ^ golden_streams.read().keys()
    assert not wrong, f"{sorted(wrong)}: {COMMAND} makes the names missing, and drops the others"


# The rule ----------------------------------------------------------------------------------------

ON_SAMPLES = "dp-nas on samples of mean 0.3 and radius 1"
CHANGED = {  # a case, the Params of its cell that are changed, and the streams that contain them
    "algorithm": ("adap-ucb on beta", "params", {"policy"}),
    "environment": ("adap-ucb on beta", "instance", {"rewards", "policy"}),
    "table of gains": ("exp3 on exp3-stochastic", "instance", {"rewards", "table", "policy"}),
    "stopping rule": (ON_SAMPLES, "params", {"policy"}),
    "samples": (ON_SAMPLES, "stream", {"rewards", "policy"}),
    "audited algorithm": ("adap-ucb on bernoulli", "params", {"policy", AUDIT}),
}


def case_of(changed: str) -> Case:
    (case,) = (case for case in cases() if case.name == CHANGED[changed][0])
    return case


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
    case, (name, attribute, named) = case_of(changed), CHANGED[changed]
    golden = golden_streams.read()[name]
    params = getattr(case.cell, attribute)
    annotations = get_type_hints(type(params), include_extras=True)
    make: Any = namedtuple
    annotations["new"] = Annotated[annotation, AddedLater(played)] if declared else annotation

    def moved(value: Any) -> set[str]:
        cls: Any = make("Another", annotations)
        cls.__annotations__ = annotations
        if changed == "audited algorithm":
            monkeypatch.setattr(adap_ucb, "Params", cls)
        changes: dict[str, Any] = {attribute: cls(*params, value)}
        cell: Any = replace(case.cell, **changes)
        names = golden_streams.names(replace(case, cell=cell))
        return {kind for kind in golden if difference({kind: golden[kind]}, {kind: names[kind]})}

    assert moved(played) == (set() if declared else named)
    assert moved(other) == named


def test_no_wording_names_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    class Another(adap_ucb.Params):
        """Class with another name and another docstring."""

        def __repr__(self) -> str:
            return "its parameters"

    case = case_of("audited algorithm")
    monkeypatch.setattr(adap_ucb, "Params", Another)
    monkeypatch.setattr(adap_ucb, "LABEL", "Another label")
    monkeypatch.setattr(adap_ucb, "__doc__", "Another docstring.")
    cell = replace(case.cell, params=Another(*case.cell.params))
    names = golden_streams.names(replace(case, cell=cell))
    assert difference(golden_streams.read()[case.name], names) is None


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
