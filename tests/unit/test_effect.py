"""Overrides on which no cell depends are rejected; those with an effect are not, at any value."""

import inspect
from typing import Any

import hydra
import pytest
from complaints import complaint
from composed import load

from dpbandits.checks import against_reference, matching_points
from dpbandits.config import compose, hydra_config
from dpbandits.config.conf_files import read_member
from dpbandits.config.readers.figure import Reader
from dpbandits.files.project import names
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import references

pytestmark = pytest.mark.usefixtures("in_checkout")

PANELS = "figure.panels.a.epsilon, figure.panels.b.epsilon"
FOUR_PANELS = f"it is overridden by {PANELS}, figure.panels.c.epsilon, figure.panels.d.epsilon"
IDLE = [  # the figure, the override, why it changes nothing
    ("adap-c1", "+figure.epsilon=1", FOUR_PANELS),
    ("adap-c1", "++figure.epsilon=0.1", FOUR_PANELS),  # a panel has its own
    ("dpucb-2arms", "+figure.epsilon=1", f"it is overridden by {PANELS}"),
    ("exp3-privacy", "+figure.epsilon=1", "it is overridden by figure.sweep.values"),
    (
        "exp3-privacy",
        "+figure.curves.exp3-tau.epsilon=1",
        "it is overridden by figure.sweep.values",
    ),
    ("exp3-privacy", "+figure.panels.a.epsilon=1", "it is overridden by figure.sweep.values"),
    ("dpucb-2arms", "+figure.curves.ucb.epsilon=1", "nothing in the figure is computed from"),
    ("adap-headline", "+figure.delta=0.5", "nothing in the figure is computed from this delta"),
    ("adap-headline", "+figure.delta=1", "nothing in the figure is computed from this delta"),
    ("stopping-rules", "+figure.horizon=5", "nothing in the figure is computed from this horizon"),
    (
        "adap-headline",
        "figure.profiles.ci.curves.dp-ucb.horizon=5",
        "the profile is paper",
    ),
    (
        "adap-headline",
        "figure.profiles.ci.curves.dp-ucb.horizon=5000 figure.horizon=7000 profile=ci",
        "it is overridden by figure.horizon",
    ),
    ("privacy-audit", "+figure.horizon=5000", "nothing in the figure is computed from this"),
]


@pytest.mark.parametrize(("figure", "overrides", "why"), IDLE)
def test_a_key_that_no_cell_depends_on_is_refused_with_the_reason(
    figure: str, overrides: str, why: str
) -> None:
    idle, *others = overrides.split()
    message = complaint(figure, [idle, *others])
    assert message.startswith(f"{figure}: {idle.lstrip('+')} changes no cell: {why}")
    assert message.endswith("(command line)")


IDLE_DELETIONS = [
    ("adap-headline", ("~figure.profiles.ci",), "the profile is paper"),
    (
        "exp3-deterministic",
        ("+figure.panels.a.epsilon=1", "~figure.epsilon"),
        "it is overridden by figure.panels.a.epsilon",
    ),
    (
        "exp3-deterministic",
        ("~figure.delta", "+figure.panels.a.delta=0.1", "runs=3"),
        "it is overridden by figure.panels.a.delta",
    ),
    (
        "adap-headline",
        ("~figure.profiles.ci.curves.dp-ucb.horizon", "profile=ci", "figure.horizon=7000"),
        "it is overridden by figure.horizon",
    ),
]


@pytest.mark.parametrize(("figure", "overrides", "why"), IDLE_DELETIONS)
def test_a_deletion_that_changes_no_cell_is_refused_with_the_reason(
    figure: str, overrides: tuple[str, ...], why: str
) -> None:
    (deletion,) = (override for override in overrides if override.startswith("~"))
    message = complaint(figure, overrides)
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
    ("adap-headline", "figure.profiles.ci.curves.dp-ucb.horizon=5000 profile=ci"),
    ("adap-headline", "~figure.profiles.ci.curves.dp-ucb.horizon profile=ci"),
    ("adap-headline", "+figure.curves.adap-ucb.pulls_of=2"),
    ("adap-headline", "+figure.curves.adap-ucb.regret=realised"),
    ("adap-c1", "+figure.panels.b.regret=realised"),
    ("adap-c1", "+figure.panels.b.curves=[adap-ucb]"),
    ("adap-episodes", "figure.environment.means=[0.6,0.1]"),
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
    ("adap-regimes", "figure.note=x"),
    ("adap-c1", "+figure.curves.dp-se.label=another"),
    ("adap-c1", "~figure.panels.a.title"),
    ("adap-c1", "~figure.spread"),
    ("adap-c1", "figure.profiles.ci.runs=5"),
    ("adap-c1", "runs=20"),
    ("adap-c1", "seed=2022"),
    ("adap-c1", "profile=paper"),
    ("adap-c1", "engine.block=5"),
    ("adap-c1", "paths.out=out"),
]


@pytest.mark.parametrize(("figure", "overrides"), EFFECTIVE)
def test_an_override_with_an_effect_or_of_presentation_is_accepted(
    figure: str, overrides: str
) -> None:
    spec, _ = load(figure, overrides.split())
    assert spec.name == figure
    assert spec.cells()


@pytest.mark.long
@pytest.mark.parametrize("figure", names("figure"))
def test_a_value_of_a_figures_file_may_be_repeated_on_the_command_line(figure: str) -> None:
    # In the figure's own words: a number at its top level has an effect, or it would not be there.
    content = read_member("figure", figure)
    swept = (content.get("sweep") or {}).get("key")
    own = {key: content.get(key) for key in ("horizon", "epsilon", "delta") if key != swept}
    repeated = [f"figure.{key}={value}" for key, value in own.items() if value is not None]
    assert load(figure, repeated)[0].cells() == load(figure, [])[0].cells()


# Compositions and readings -----------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the calls that compose a configuration or read a figure, as they are made."""
    calls = list[str]()
    composing, read = hydra.compose, Reader.read

    def counting_compose(*args: Any, **named: Any) -> Any:
        calls.append("compose")
        return composing(*args, **named)

    def counting_read(reader: Reader) -> FigureSpec:
        calls.append("read")
        return read(reader)

    monkeypatch.setattr(hydra_config, "compose", inspect.unwrap(hydra_config.compose))
    monkeypatch.setattr(hydra, "compose", counting_compose)
    monkeypatch.setattr(Reader, "read", counting_read)
    hydra_config._without_overrides.cache_clear()
    return calls


ONCE, WITH_THE_FILE = ["compose", "read"], ["compose", "compose", "read"]


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ("", ONCE),
        ("runs=3 seed=7 engine.workers=1", ONCE),
        ("profile=ci", ONCE),
        ("+algorithm@figure.curves.mine=ucb", ONCE),
        ("figure.epsilon=2", WITH_THE_FILE),  # to compare with the value in the file
        ("~figure.curves.adap-ucb.alpha", WITH_THE_FILE),
        ("figure.epsilon=2 ~figure.curves.dp-se figure.title=x", WITH_THE_FILE),
    ],
)
def test_a_figure_is_read_once_and_composed_no_more_than_needed(
    overrides: str, expected: list[str], counted: list[str]
) -> None:
    compose.load("adap-headline", overrides.split())
    assert counted == expected


def test_the_files_of_a_figure_are_composed_once_for_all_its_commands(counted: list[str]) -> None:
    for epsilon in (2, 3, 4):
        compose.load("adap-headline", [f"figure.epsilon={epsilon}"])
    assert counted == [*WITH_THE_FILE, *ONCE, *ONCE]


def test_a_check_composes_each_of_its_two_scales_once(counted: list[str]) -> None:
    assert references.record("adap-alpha", references.CI)
    spec, _ = against_reference.prepare("adap-alpha", ["seed=3", "runs=5"])
    points = matching_points.points(spec)
    assert {point.profile for point in points} == {references.PAPER, references.CI}
    assert counted == [*ONCE, *ONCE]


def test_a_refusal_costs_no_further_reading(counted: list[str]) -> None:
    complaint("adap-headline", ["+figure.delta=0.5"])
    assert counted == WITH_THE_FILE
