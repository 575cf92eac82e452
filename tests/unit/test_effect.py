"""Overrides on which no cell depends are rejected; those with an effect are not, at any value."""

import pytest
from complaints import complaint

from dpbandits.config import unused_overrides
from dpbandits.config.compose import _compose, _read, load
from dpbandits.config.conf_files import read_member
from dpbandits.files.project import names

pytestmark = pytest.mark.usefixtures("in_checkout")

PANELS = "figure.panels.a.epsilon, figure.panels.b.epsilon"
FOUR_PANELS = f"it is beaten by {PANELS}, figure.panels.c.epsilon, figure.panels.d.epsilon"
IDLE = [  # the figure, the override, why it changes nothing
    ("adap-c1", "+figure.epsilon=1", FOUR_PANELS),
    ("adap-c1", "++figure.epsilon=0.1", FOUR_PANELS),  # a panel has its own
    ("dpucb-2arms", "+figure.epsilon=1", f"it is beaten by {PANELS}"),
    ("exp3-privacy", "+figure.epsilon=1", "it is beaten by figure.sweep.values"),
    (
        "exp3-privacy",
        "+figure.curves.exp3-tau.epsilon=1",
        "it is beaten by figure.sweep.values",
    ),
    ("exp3-privacy", "+figure.panels.a.epsilon=1", "it is beaten by figure.sweep.values"),
    ("dpucb-2arms", "+figure.curves.ucb.epsilon=1", "nothing in the figure is computed from"),
    ("adap-headline", "+figure.delta=0.5", "nothing in the figure is computed from this delta"),
    ("adap-headline", "+figure.delta=1", "nothing in the figure is computed from this delta"),
    ("stopping-rules", "+figure.horizon=5", "nothing in the figure is computed from this horizon"),
    (
        "adap-headline",
        "figure.profiles.ci.curves.dp-ucb.horizon=5",
        "the profile is paper",
    ),
]


@pytest.mark.parametrize(("figure", "typed", "why"), IDLE)
def test_a_key_that_no_cell_depends_on_is_refused_with_the_reason(
    figure: str, typed: str, why: str
) -> None:
    message = complaint(figure, [typed])
    assert message.startswith(f"{figure}: {typed.lstrip('+')} changes no cell: {why}")
    assert message.endswith("(command line)")


IDLE_DELETIONS = [
    ("adap-headline", ("~figure.profiles.ci",), "the profile is paper"),
    (
        "exp3-deterministic",
        ("+figure.panels.a.epsilon=1", "~figure.epsilon"),
        "it is beaten by figure.panels.a.epsilon",
    ),
    (
        "exp3-deterministic",
        ("~figure.delta", "+figure.panels.a.delta=0.1", "runs=3"),
        "it is beaten by figure.panels.a.delta",
    ),
]


@pytest.mark.parametrize(("figure", "typed", "why"), IDLE_DELETIONS)
def test_a_deletion_that_changes_no_cell_is_refused_with_the_reason(
    figure: str, typed: tuple[str, ...], why: str
) -> None:
    (deletion,) = (override for override in typed if override.startswith("~"))
    message = complaint(figure, typed)
    assert message == f"{figure}: {deletion} changes no cell: {why} (command line)"


EFFECTIVE = [
    ("adap-headline", "figure.epsilon=1.0"),  # the value it has anyway
    ("adap-headline", "figure.curves.adap-ucb.alpha=3.1"),  # also the algorithm's default
    ("adap-headline", "figure.curves.adap-ucb.ties=first"),
    ("adap-headline", "figure.environment=c2"),
    ("adap-headline", "figure.checkpoints=linear"),
    ("adap-headline", "~figure.curves.dp-se"),
    ("adap-headline", "~figure.curves.adap-ucb.alpha"),  # also where the default is the same
    ("adap-headline", "~figure.profiles.ci profile=ci"),
    ("adap-c1", "~figure.panels.b"),
    ("adap-c1", "~figure.panels.a.epsilon +figure.epsilon=7"),
    ("adap-c1", "~figure.curves +figure.curves.u.algorithm=ucb"),
    ("adap-headline", "+algorithm@figure.curves.mine=ucb"),
    ("adap-headline", "+figure.curves.dp-se={algorithm:ucb}"),
    ("adap-c1", "figure.panels.a.epsilon=0.1"),
    ("adap-c1", "+figure.curves.adap-ucb.epsilon=1"),
    ("exp3-privacy", "figure.sweep.values=[1,2]"),
    ("exp3-privacy", "figure.delta=1e-5"),
    ("adap-ksweep", "figure.curves.lower-bound.bound=azize2022.problem_dependent_lower_bound"),
    ("stopping-rules", "figure.stream.mean=0.5"),
    # Keys that are not meant to change cells:
    ("adap-c1", "figure.title=Another"),
    ("adap-c1", "figure.panels.a.title='{epsilon}'"),
    ("adap-c1", "figure.spread=std"),
    ("adap-c1", "+figure.slopes=true"),
    ("adap-c1", "figure.note=x"),
    ("adap-c1", "+figure.curves.dp-se.label=another"),
    ("adap-c1", "~figure.panels.a.title"),
    ("adap-c1", "~figure.spread"),
    ("adap-c1", "~figure.claims"),
    ("adap-c1", "figure.profiles.ci.runs=5"),
    ("adap-c1", "runs=20"),
    ("adap-c1", "seed=2022"),
    ("adap-c1", "profile=paper"),
    ("adap-c1", "engine.block=5"),
    ("adap-c1", "paths.out=out"),
]


@pytest.mark.parametrize(("figure", "typed"), EFFECTIVE)
def test_a_key_that_has_a_say_or_is_not_meant_to_have_one_is_taken(figure: str, typed: str) -> None:
    spec, _ = load(figure, typed.split())
    assert spec.name == figure
    assert spec.cells()


@pytest.mark.parametrize("figure", names("figure"))
def test_what_the_file_of_a_figure_says_may_be_typed_too(figure: str) -> None:
    # In the figure's own words: a number at its top level has an effect, or it would not be there.
    content = read_member("figure", figure)
    cells = load(figure, [])[0].cells()
    for key in ("horizon", "epsilon", "delta"):
        swept = (content.get("sweep") or {}).get("key") == key
        if content.get(key) is not None and not swept:
            assert load(figure, [f"figure.{key}={content[key]}"])[0].cells() == cells


def test_keys_of_presentation_cost_no_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["figure=adap-c1", "figure.title=x", "runs=3"]
    read = _read(_compose(typed), "adap-c1", typed[1:])
    with monkeypatch.context() as patch:
        patch.setattr(unused_overrides, "Reader", None)  # calling it would fail
        assert list(unused_overrides.idle(read.at, read.spec)) == []
