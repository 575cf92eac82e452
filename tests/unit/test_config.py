"""Composition of YAML and command line to a figure's specification: which source wins."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
import yaml
from commands import bandit_cells
from composed import load

from dpbandits.config import compose
from dpbandits.config.instances import Several, Texts
from dpbandits.config.settings import Cluster, Settings
from dpbandits.drawing.formulas import fault
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import produce
from dpbandits.files import project
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import Curve, FigureSpec, Panel
from dpbandits.store.key import key

pytestmark = pytest.mark.usefixtures("in_checkout")

PROFILES = project.names("profile")


def spec_of(figure: str, *overrides: str) -> FigureSpec:
    return load(figure, overrides)[0]


def settings_of(*overrides: str) -> Settings:
    return load("adap-c2", overrides)[1]


def panel(spec: FigureSpec, letter: str) -> Panel:
    (only,) = (p for p in spec.panels if p.letter == letter)
    return only


def curve(spec: FigureSpec, letter: str, name: str) -> Curve:
    (only,) = (c for c in panel(spec, letter).curves if c.name == name)
    return only


def cell(spec: FigureSpec, letter: str, name: str) -> RegretExperiment:
    """Return the cell of a curve over time."""
    (source,) = curve(spec, letter, name).sources
    assert isinstance(source, RegretExperiment)
    return source


def value(spec: FigureSpec, letter: str, name: str, parameter: str) -> Any:
    return cell(spec, letter, name).params._asdict()[parameter]


def horizons(spec: FigureSpec) -> set[int]:
    return {c.horizon for c in bandit_cells(spec)}


def written(group: str, name: str) -> dict[str, Any]:
    """Return the content of a file of conf/."""
    content: dict[str, Any] = yaml.safe_load(Path("conf", group, f"{name}.yaml").read_text())
    return content


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("figure", project.names("figure"))
def test_every_figure_composes_under_every_profile(figure: str, profile: str) -> None:
    spec, full = spec_of(figure, f"profile={profile}"), spec_of(figure)
    assert spec.name == figure
    assert spec.runs >= 1
    assert [p.letter for p in spec.panels] == list(ascii_lowercase[: len(full.panels)])
    assert all(p.curves for p in spec.panels)
    assert max(horizons(spec), default=1) <= max(horizons(full), default=1)


@pytest.mark.parametrize(
    ("figure", "overrides", "runs"),
    [
        ("adap-c2", "", 20),
        ("adap-c2", "profile=smoke", 2),
        ("dpucb-2arms", "profile=ci", 40),
        ("adap-c2", "runs=5 profile=smoke", 5),
    ],
)
def test_the_command_line_sets_the_runs_else_the_profile_else_the_figure(
    figure: str, overrides: str, runs: int
) -> None:
    assert spec_of(figure, *overrides.split()).runs == runs


def test_a_figures_section_overrides_the_runs_of_a_profile_and_a_curve_overrides_both() -> None:
    runs = {c.name: c.runs for c in spec_of("adap-c2", "profile=ci").panels[0].curves}
    assert runs == {"dp-ucb": 40, "dp-se": 400, "adap-ucb": 400, "adap-klucb": 400}
    assert {*spec_of("adap-c2", "profile=ci", "runs=3").runs_of_experiments().values()} == {3}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_scales_the_horizon_of_the_file_and_none_of_the_command_line(
    profile: str,
) -> None:
    scale = written("profile", profile)["profile"]["horizon_scale"]
    horizon = written("figure", "dpucb-2arms")["horizon"]
    assert horizons(spec_of("dpucb-2arms", f"profile={profile}")) == {round(scale * horizon)}
    for figure in ("adap-c2", "adap-ksweep"):
        spec = spec_of(figure, f"profile={profile}", "figure.horizon=100_000")
        assert horizons(spec) == {100_000}


def test_no_profile_scales_a_horizon_of_the_command_line_for_a_curve_or_panel() -> None:
    words = ("+figure.curves.adap-ucb.horizon=777", "+figure.panels.b.horizon=888")
    spec = spec_of("adap-c2", "profile=smoke", *words)
    assert {cell(spec, letter, "adap-ucb").horizon for letter in "abcd"} == {777}
    assert cell(spec, "b", "dp-se").horizon == value(spec, "b", "dp-se", "horizon") == 888
    assert {cell(spec, letter, "dp-se").horizon for letter in "acd"} == {10_000}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_grid_of_the_command_line_overrides_that_of_the_profile(profile: str) -> None:
    usual = spec_of("adap-ksweep", f"profile={profile}")
    spec = spec_of("adap-ksweep", f"profile={profile}", "figure.sweep.values=[2,3,16]")
    assert {c.x for p in spec.panels for c in p.curves} == {(2.0, 3.0, 16.0)}
    assert {len(c.instance._asdict()["means"]) for c in bandit_cells(spec)} == {2, 3, 16}
    assert horizons(spec) == horizons(usual)


def test_a_horizon_may_be_written_in_any_whole_way(checkout: Path) -> None:
    for text in ("100_000", "1e5", "100000.0"):
        assert horizons(spec_of("adap-c2", f"figure.horizon={text}")) == {100_000}
    file = checkout / "conf" / "figure" / "adap-c2.yaml"
    file.write_text(file.read_text().replace("horizon: 10_000_000", "horizon: 1e6"))
    (horizon,) = horizons(spec_of("adap-c2"))
    assert (horizon, type(horizon)) == (1_000_000, int)


def test_swept_horizons_are_taken_as_they_are_and_others_scaled(checkout: Path) -> None:
    file = checkout / "conf" / "figure" / "adap-ksweep.yaml"
    file.write_text(file.read_text().partition("profiles:")[0])
    assert horizons(spec_of("adap-ksweep", "profile=smoke")) == {10_000}
    words = ("profile=smoke", "figure.sweep={key: horizon, values: [200, 1000]}")
    assert horizons(spec_of("adap-ksweep", *words)) == {200, 1000}


def test_a_panel_overrides_the_figure_and_a_curve_the_panel() -> None:
    spec = spec_of(
        "adap-c2",
        *("+figure.panels.b.environment=c1", "+figure.curves.dp-se.environment=c4"),
        *("~figure.panels.a.epsilon", "+figure.epsilon=7", "+figure.curves.adap-ucb.epsilon=3"),
    )
    c1, c2, c4 = (tuple(written("environment", name)["means"]) for name in ("c1", "c2", "c4"))
    assert [cell(spec, p, "adap-klucb").instance for p in "abcd"] == [(c2,), (c1,), (c2,), (c2,)]
    assert {cell(spec, p, "dp-se").instance for p in "abcd"} == {(c4,)}
    assert [value(spec, p, "adap-klucb", "epsilon") for p in "abcd"] == [7.0, 0.25, 0.5, 1.0]
    assert {value(spec, p, "adap-ucb", "epsilon") for p in "abcd"} == {3.0}


def test_a_figure_without_panels_has_one() -> None:
    spec = spec_of("adap-c2", "~figure.panels", "+figure.epsilon=7")
    assert [(p.letter, p.title) for p in spec.panels] == [("a", "")]
    assert value(spec, "a", "dp-se", "epsilon") == 7.0


def test_a_swept_value_overrides_the_curve() -> None:
    spec = spec_of("klucb-improvement", "+figure.sweep={key: alpha, values: [0.5, 2]}")
    played = [cell for cell in bandit_cells(spec) if cell.member == "adap-ucb"]
    assert {cell.params._asdict()["alpha"] for cell in played} == {0.5, 2.0}


def test_a_sweep_changes_one_number_inside_the_environment() -> None:
    words = ("figure.sweep.values=[2,3]", "+figure.sweep.fit=[4,32]")
    found = curve(spec_of("adap-ksweep", *words), "b", "adap-ucb")
    assert found.fit == (4.0, 32.0)
    cells = [source for source in found.sources if isinstance(source, RegretExperiment)]
    assert [cell.instance for cell in cells] == [((0.75, 0.25),), ((0.75, 0.5, 0.25),)]
    assert {cell.grid for cell in cells} == {Grid.END}


def test_a_bound_is_given_the_values_of_its_panel_and_curve() -> None:
    words = ("figure.sweep.values=[3]", "+figure.curves.lower-bound.horizon=5000")
    spec = spec_of("adap-ksweep", *words)
    for letter, epsilon in (("a", 0.1), ("b", 1.0)):
        (bound,) = curve(spec, letter, "lower-bound").sources
        assert isinstance(bound, Formula)
        expected = {"means": (0.75, 0.5, 0.25), "horizon": 5000, "epsilon": epsilon}
        assert dict(bound.values) == expected
    assert not any(isinstance(c, Formula) for c in spec.experiments())


def test_an_environment_may_be_described_in_place() -> None:
    beta = "figure.environment={family: beta, means: [0.25, 0.75], concentration: 4}"
    example = bandit_cells(spec_of("adap-c2", beta))[0]
    assert (example.environment, example.instance) == ("beta", ((0.25, 0.75), 4.0))
    steps = "figure.environment={family: bernoulli, means: {first: 1, last: 0, arms: 3}}"
    assert bandit_cells(spec_of("adap-c2", steps))[0].instance == ((1.0, 0.5, 0.0),)


def test_equal_cells_of_different_panels_are_one() -> None:
    spec = spec_of("adap-c2", "+figure.curves.ucb.algorithm=ucb")  # it has no epsilon
    assert len({cell(spec, letter, "ucb") for letter in "abcd"}) == 1
    assert len(set(spec.experiments())) == len(spec_of("adap-c2").experiments()) + 1


def test_curves_are_added_left_out_and_changed_one_by_one() -> None:
    spec = spec_of(
        "adap-c2",
        *("~figure.curves.dp-se", "+algorithm@figure.curves.half=adap-ucb"),
        *("figure.curves.half.alpha=1.5", "+figure.curves.half.label='AdaP-UCB ({alpha})'"),
    )
    assert [c.name for c in spec.panels[0].curves] == ["dp-ucb", "adap-ucb", "adap-klucb", "half"]
    assert [value(spec, "a", name, "alpha") for name in ("half", "adap-ucb")] == [1.5, 3.1]
    labels = [(c.label, c.style) for c in spec.panels[0].curves[1:4:2]]
    assert labels == [("AdaP-UCB", "adap-ucb"), ("AdaP-UCB (1.5)", "adap-ucb")]


def test_a_panel_draws_every_curve_for_each_of_several_values() -> None:
    spec = spec_of("dpse-epsilon")
    seen = [(c.label, c.sources[0].params.epsilon) for c in panel(spec, "b").curves]
    assert seen == [
        ("DP-UCB (epsilon=0.5)", 0.5),
        ("DP-UCB (epsilon=1)", 1.0),
        ("DP-SE (epsilon=0.5)", 0.5),
        ("DP-SE (epsilon=1)", 1.0),
    ]


def test_a_panel_may_have_checkpoints_and_a_sweep_of_its_own() -> None:
    spec = spec_of("adap-c2", "+figure.panels.b.checkpoints=log")
    assert [cell(spec, letter, "dp-se").grid for letter in "ab"] == [Grid.LINEAR, Grid.LOG]
    spec = spec_of("adac-price")
    assert [len(c.x or ()) for c in panel(spec, "a").curves] == [16] * 3
    assert [c.x for c in panel(spec, "b").curves] == [None] * 3


@pytest.mark.parametrize(
    ("template", "given", "expected"),
    [
        ("{x}", 1.0, "1"),
        ("{x}", 1e-10, "10^{-10}"),
        ("{x}", math.exp(-10), "e^{-10}"),
        ("{x:g}", math.exp(-10), "4.53999e-05"),
        ("{x:words} arms", 2, "two arms"),
        ("{x:words} arms", 25, "25 arms"),
        ("{x} {x:with|without}", False, "False without"),
        ("{x}", Several([0.1, 0.25]), "0.1 and 0.25"),
        ("{x:words}", Several([2, 10, 12]), "two, ten and 12"),
    ],
)
def test_a_value_is_written_as_asked(template: str, given: object, expected: str) -> None:
    assert Texts().vformat(template, (), {"x": given}) == expected


TEMPLATES = ["{y}", "{horizon:words:3}", "{arms[a]}", "{", "{arms.y}", "{0}"]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_that_names_something_else_is_an_error(template: str) -> None:
    with pytest.raises(UserError, match=r"figure.title .* may name only .* in braces"):
        spec_of("adap-c2", f"figure.title='{template}'")


def test_titles_and_labels_follow_the_overrides() -> None:
    spec = spec_of("dpucb-2arms", "figure.environment=c1")
    assert spec.title == "Regret with five arms"
    assert spec.panels[0].title == r"$\epsilon = 1$, 5 arms"
    # A panel with its own environment: the title lists both.
    spec = spec_of("adap-c2", "+figure.panels.a.environment=c4")
    assert spec.title == "Evolution of regret on C4 and C2"
    spec = spec_of("adap-alpha", "figure.curves.adap-ucb-one.alpha=2")
    assert spec.panels[0].curves[2].label == "AdaP-UCB (alpha=2)"
    spec = spec_of("dpse-epsilon", "figure.panels.a.each.values=[0.2,0.3,4]")
    assert spec.panels[0].title == r"$\epsilon$ = 0.2, 0.3 and 4"
    # An instance without a named file is described by its law; a name belongs to the instance.
    c4 = str(written("environment", "c4")["means"]).replace(" ", "")
    for means, name in (("[0.5,0.1]", "Bernoulli, K = 2"), (c4, "C4")):
        spec = spec_of("adap-c2", f"figure.environment={{family:bernoulli,means:{means}}}")
        assert spec.title == f"Evolution of regret on {name}"
    # A horizon in a text is the one that is played.
    assert "1,000 rounds" in spec_of("leaderboard", "profile=smoke").panels[0].row


def test_a_legend_tells_the_input_privacy_where_the_figure_asks() -> None:
    legends = {c.label: c.legend for c in panel(spec_of("dpucb-2arms"), "b").curves}
    assert (legends["UCB"], legends["DP-UCB"]) == ("UCB", "DP-UCB (0.1)")
    spec = spec_of("dpucb-2arms", "figure.input_privacy=false")
    assert all(c.legend == c.label for c in panel(spec, "b").curves)


@pytest.mark.parametrize("override", ["engine=dask", "++engine.workers=2", "paths.out=x"])
def test_the_command_in_a_picture_names_neither_folders_nor_engine(override: str) -> None:
    command = produce.command("run", *load("adap-c2", [override, "runs=3"]))
    assert command == "dpbandits run adap-c2 runs=3"


def test_1_and_1_point_0_are_one_key_on_the_command_line() -> None:
    keys = set()
    for number in ("1", "1.0", "1e0"):
        environment = f"figure.environment={{family: bernoulli, means: [{number}, 0.5]}}"
        spec = spec_of("adap-c2", f"figure.panels.a.epsilon={number}", environment)
        key.cache_clear()
        keys.add(key(cell(spec, "a", "adap-ucb")))
    assert len(keys) == 1


def test_what_does_not_move_a_number_does_not_move_a_key() -> None:
    keys = []
    for overrides in (
        "",
        "runs=3 engine.workers=1 engine.block=2 paths.cache=elsewhere paths.out=elsewhere"
        " figure.title=Another figure.panels.a.title=another figure.centre=median"
        " figure.spread=quartiles +figure.slopes=true +figure.curves.dp-se.label=another",
    ):
        key.cache_clear()
        keys.append([key(c) for c in spec_of("adap-c2", *overrides.split()).experiments()])
    assert keys[0] == keys[1]


def test_folders_and_engine_are_settings(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = settings_of()
    assert (usual.cache, usual.out) == (root / "cache", root / "out")
    assert (usual.workers, usual.cluster) == (None, None)
    monkeypatch.setenv("HOME", str(tmp_path))
    for text, folder in (("'a b=Größe'", root / "a b=Größe"), ("'~/x'", tmp_path / "x")):
        assert settings_of(f"paths.out={text}").out == folder
    words = (f"paths.cache={tmp_path}", "engine.workers=3", "engine.block=7")
    moved = settings_of(*words)
    assert (moved.cache, moved.workers, moved.block, moved.overrides) == (tmp_path, 3, 7, words)


@pytest.mark.parametrize("address", ["tcp://a:8786", "tls://n-1.example.org:1", "tcp://[::1]:80"])
def test_a_cluster_is_a_setting(address: str) -> None:
    local = settings_of("engine=dask", "engine.workers=3")
    assert (local.cluster, local.workers) == (Cluster(None), 3)
    assert settings_of("engine=dask", f"engine.scheduler='{address}'").cluster == Cluster(address)


def test_the_nearest_checkout_upwards_counts(
    root: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = checkout / "conf" / "figure" / "adap-c2.yaml"
    text = file.read_text().replace("environment: c2", "environment: c3")
    file.with_stem("mine").write_text(text)
    monkeypatch.chdir(checkout / "conf" / "figure")
    spec, settings = load("mine", [])
    monkeypatch.chdir(root)
    assert bandit_cells(spec)[0].instance == (tuple(written("environment", "c3")["means"]),)
    assert settings.out == checkout / "out"
    with pytest.raises(UserError, match="unknown figure 'mine'"):
        compose.load("mine", [])


def test_threads_may_load_and_check_figures_at_the_same_time(
    request: pytest.FixtureRequest,
) -> None:
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)

    def load_and_check(seed: int) -> int:
        spec, _ = compose.load("ftpl-gauss-cdf", [f"seed={seed}"])
        fault.cache_clear()
        produce.refuse_undrawable(spec)
        return spec.seed

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(load_and_check, range(16))] == [*range(16)]
