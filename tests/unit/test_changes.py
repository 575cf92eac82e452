"""Overrides that change a figure, and the folder that they name; those without effect."""

import pytest
from complaints import complaint
from composed import load
from hydra.core.override_parser.overrides_parser import OverridesParser

from dpbandits.config.conf_files import read_member
from dpbandits.files.project import names
from dpbandits.spec.figure import Change, folder_name, text

pytestmark = pytest.mark.usefixtures("in_checkout")


def folder(*overrides: str) -> str:
    _, settings = load("adap-c2", overrides)
    return settings.folder("adap-c2").relative_to(settings.out).as_posix()


def changes(*overrides: str) -> list[str]:
    return [change.phrase() for change in load("adap-c2", overrides)[0].changes]


@pytest.mark.parametrize(
    "overrides",
    [
        "",
        "engine.workers=1 engine=dask paths.cache=elsewhere",
        "figure.horizon=1e7 figure.environment=c2",  # the same values as in the file
        "runs=20 figure.runs=20 seed=2022",
    ],
)
def test_places_engine_and_repeated_values_do_not_change_the_figure(overrides: str) -> None:
    assert folder(*overrides.split()) == "adap-c2"
    assert changes(*overrides.split()) == []  # so its claims are judged


@pytest.mark.parametrize(
    ("overrides", "expected", "words"),
    [
        (
            "figure.environment=c4 figure.horizon=1e5",
            "environment=c4,horizon=100000",
            ["environment = c4 (file: c2)", "horizon = 100,000 (file: 10,000,000)"],
        ),
        (
            "figure.curves.adap-ucb.alpha=1",
            "adap-ucb.alpha=1",
            ["alpha of curve adap-ucb = 1 (file: 3.1)"],
        ),
        (
            "figure.panels.a.epsilon=0.2",
            "panels.a.epsilon=0.2",
            ["epsilon of panel (a) = 0.2 (file: 0.1)"],
        ),
        ("~figure.curves.dp-se", "~dp-se", ["without curve dp-se"]),
        ("seed=8 runs=3", "runs=3,seed=8", ["runs = 3 (file: 20)", "seed = 8 (file: 2022)"]),
        ("+algorithm@figure.curves.x=ucb", "x=ucb", ["curve x added: ucb"]),
        (
            "figure.environment={family:beta,means:[0.5,1e-1]}",
            "environment={family:beta,means:[0.5,0.1]}",
            ["environment = {family: beta, means: [0.5, 0.1]} (file: c2)"],
        ),
    ],
)
def test_a_change_is_told_and_has_a_folder_inside_that_of_the_figure(
    overrides: str, expected: str, words: list[str]
) -> None:
    inside = folder(*overrides.split())
    assert folder(*reversed(overrides.split())) == inside
    if "{" in expected:  # characters that need quotes: a digest in their place
        assert inside.startswith("adap-c2/environment=_family_beta,means_0.5,0.1_-")
    else:
        assert inside == f"adap-c2/{expected}"
    assert changes(*overrides.split()) == words


def test_the_committed_verdicts_hold_for_other_runs_but_not_for_another_figure() -> None:
    assert load("adap-c2", ["runs=3", "seed=8"])[0].is_as_filed
    assert not load("adap-c2", ["runs=3", "figure.horizon=1000"])[0].is_as_filed


@pytest.mark.parametrize(
    ("figure", "overrides", "expected"),
    [
        ("adap-c2", "profile=smoke runs=2", []),  # the profile's own
        ("adap-c2", "profile=ci runs=40", ["runs = 40 (file: 40, 400)"]),
        ("dpklucb-c1", "runs=1000", ["runs = 1,000 (file: 100, 1000)"]),  # two curves have 100
    ],
)
def test_runs_are_compared_with_those_of_the_profile_the_figure_and_its_curves(
    figure: str, overrides: str, expected: list[str]
) -> None:
    changes = load(figure, overrides.split())[0].changes
    assert [change.phrase() for change in changes if change.key == "runs"] == expected


def test_folders_of_different_overrides_differ() -> None:
    means = [f"[0.{i}, 0.{j}]" for i in range(1, 9) for j in range(1, 9)]
    many = [f"figure.environment={{family: bernoulli, means: {m}}}" for m in means]
    odd = ["++figure.note='\"a b\"'", "++figure.note='\"a_b\"'", "++figure.note='\"a?b\"'"]
    long = [f"figure.note={'x' * 300}{end}" for end in "ab"]
    parsed = OverridesParser.create().parse_overrides([*many, *odd, *long])
    found = {folder_name([Change(str(o.key_or_group), text(o.value()), None)]) for o in parsed}
    assert len(found) == len(many) + len(odd) + len(long)
    assert max(map(len, found)) < 100
    assert set("".join(found)) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,=+~-"
    )


def test_a_profile_has_its_own_folder_unless_an_override_sets_the_folder() -> None:
    spec, settings = load("adap-c2", ["profile=smoke"])
    assert settings.folder("adap-c2").parts[-3:] == ("out", "smoke", "adap-c2")
    assert [change.phrase() for change in spec.changes] == ["scale of the profile smoke"]
    _, elsewhere = load("adap-c2", ["profile=smoke", "paths.out=elsewhere"])
    assert elsewhere.folder("adap-c2").parts[-3:] == ("elsewhere", "adap-c2", "profile=smoke")


IDLE = [  # the figure, the override without effect, the others, why it changes nothing
    ("adap-c1", "+figure.epsilon=1", "", "figure.panels.a.epsilon, figure.panels.b.epsilon"),
    ("exp3-privacy", "+figure.curves.exp3-tau.epsilon=1", "", "figure.sweep.values"),
    ("dpucb-2arms", "+figure.curves.ucb.epsilon=1", "", ""),
    ("adap-headline", "+figure.delta=0.5", "", ""),
    ("privacy-audit", "+figure.horizon=5000", "", ""),
    ("adap-headline", "~figure.profiles.ci", "", ""),
    ("exp3-deterministic", "~figure.epsilon", "+figure.panels.a.epsilon=1", "panels.a.epsilon"),
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
    ("adap-headline", "~figure.curves.adap-ucb.alpha"),  # also where the default is the same
    ("adap-headline", "~figure.profiles.ci profile=ci"),
    ("adap-headline", "+figure.curves.adap-ucb.pulls_of=2"),
    ("adap-c1", "+figure.panels.b.regret=realised"),
    ("adap-c1", "+figure.panels.b.curves=[adap-ucb]"),
    ("adap-episodes", "figure.environment.means=[0.6,0.1]"),
    ("adap-c1", "~figure.panels.a.epsilon +figure.epsilon=7"),
    ("adap-c1", "~figure.curves +figure.curves.u.algorithm=ucb"),
    ("adap-headline", "+figure.curves.dp-se={algorithm:ucb}"),
    ("exp3-privacy", "figure.delta=1e-5"),
    ("adap-ksweep", "figure.curves.lower-bound.bound=azize2022.problem_dependent_lower_bound"),
    ("stopping-rules", "figure.stream.mean=0.5"),
    ("adap-c1", "figure.panels.a.title='{epsilon}' figure.spread=std +figure.slopes=false"),
    ("adap-c1", "runs=20 seed=2022 profile=paper engine.block=5 paths.out=out"),
]


@pytest.mark.parametrize(("figure", "overrides"), EFFECTIVE)
def test_an_override_that_changes_or_repeats_a_value_is_accepted(
    figure: str, overrides: str
) -> None:
    spec, _ = load(figure, overrides.split())
    assert spec.experiments()


@pytest.mark.long
@pytest.mark.parametrize("figure", names("figure"))
def test_a_value_of_a_figures_file_may_be_repeated_on_the_command_line(figure: str) -> None:
    # In the figure's own words: a number at its top level has an effect, or it would not be there.
    content = read_member("figure", figure)
    swept = (content.get("sweep") or {}).get("key")
    own = {key: content.get(key) for key in ("horizon", "epsilon", "delta") if key != swept}
    repeated = [f"figure.{key}={value}" for key, value in own.items() if value is not None]
    assert load(figure, repeated)[0].experiments() == load(figure, [])[0].experiments()
