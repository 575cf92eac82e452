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
from dpbandits.kernel.parameters import Positive
from dpbandits.kernel.randomness import AddedLater

pytestmark = pytest.mark.usefixtures("in_checkout")

RULE = """\
The name of a random stream has changed, and other numbers are drawn from it. A new field declares
the value that everything was played with until now: CONTRIBUTING.md has an example. If
other numbers are to be drawn from now on: """

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
    ids=["number", "variant"],
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
        source: Any = case.cell
        cell: Any = replace(source, **changes)
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
    source: Any = case.cell
    cell = replace(source, params=Another(*source.params))
    names = golden_streams.names(replace(case, cell=cell))
    assert difference(golden_streams.read()[case.name], names) is None
