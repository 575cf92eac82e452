"""Overrides without effect are rejected; those with an effect are not, at any value."""

import pytest
from complaints import complaint
from composed import load

from dpbandits.config.conf_files import read_member
from dpbandits.files.project import names

pytestmark = pytest.mark.usefixtures("in_checkout")

IDLE = [  # the figure, the override without effect, the others, why it changes nothing
    ("adap-c1", "+figure.epsilon=1", "", "figure.panels.a.epsilon, figure.panels.b.epsilon"),
    ("exp3-privacy", "+figure.epsilon=1", "", "figure.sweep.values"),
    ("exp3-privacy", "+figure.curves.exp3-tau.epsilon=1", "", "figure.sweep.values"),
    ("exp3-privacy", "+figure.panels.a.epsilon=1", "", "figure.sweep.values"),
    ("dpucb-2arms", "+figure.curves.ucb.epsilon=1", "", ""),
    ("adap-headline", "+figure.delta=0.5", "", ""),
    ("stopping-rules", "+figure.horizon=5", "", ""),
    ("privacy-audit", "+figure.horizon=5000", "", ""),
    ("adap-headline", "figure.profiles.ci.curves.dp-ucb.horizon=5", "", ""),
    (
        *("adap-headline", "figure.profiles.ci.curves.dp-ucb.horizon=5000"),
        *("figure.horizon=7000 profile=ci", ""),
    ),
    ("adap-headline", "~figure.profiles.ci", "", ""),
    (
        *("exp3-deterministic", "~figure.epsilon", "+figure.panels.a.epsilon=1"),
        "figure.panels.a.epsilon",
    ),
]


@pytest.mark.parametrize(("figure", "idle", "others", "why"), IDLE)
def test_an_override_without_which_the_figure_is_the_same_is_refused(
    figure: str, idle: str, others: str, why: str
) -> None:
    message = complaint(figure, [idle, *others.split()])
    assert message.startswith(f"{figure}: {idle} changes nothing")
    assert why in message
    assert message.endswith("(command line)")


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
    ("adap-c1", "figure.title=Another"),
    ("adap-c1", "figure.panels.a.title='{epsilon}'"),
    ("adap-c1", "figure.spread=std"),
    ("adap-c1", "+figure.slopes=true"),
    ("adap-regimes", "figure.note=x"),
    ("adap-c1", "+figure.curves.dp-se.label=another"),
    ("adap-c1", "~figure.panels.a.title"),
    ("adap-c1", "~figure.spread"),
    ("adap-c1", "+figure.slopes=false"),  # the default
    ("adap-c1", "runs=20"),
    ("adap-c1", "seed=2022"),
    ("adap-c1", "profile=paper"),
    ("adap-c1", "engine.block=5"),
    ("adap-c1", "paths.out=out"),
]


@pytest.mark.parametrize(("figure", "overrides"), EFFECTIVE)
def test_an_override_that_changes_or_repeats_a_value_is_accepted(
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
