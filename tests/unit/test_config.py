"""Composition of YAML and command line to a figure's specification: which source wins."""

import re
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
import yaml
from cells import is_quick
from commands import bandit_cells
from composed import load

from dpbandits.config import compose
from dpbandits.config.settings import Cluster, Settings
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import sidecar
from dpbandits.files import project
from dpbandits.spec.figure import Curve, FigureSpec, Panel
from dpbandits.store import identity

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


def horizons(spec: FigureSpec) -> set[int]:
    return {c.horizon for c in bandit_cells(spec)}


def written(group: str, name: str) -> dict[str, Any]:
    """Return the content of a file of conf/."""
    content: dict[str, Any] = yaml.safe_load(Path("conf", group, f"{name}.yaml").read_text())
    return content


# Every figure ----------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("figure", project.names("figure"))
def test_every_figure_composes_under_every_profile(figure: str, profile: str) -> None:
    spec = spec_of(figure, f"profile={profile}")
    assert spec.name == figure
    assert spec.runs >= 1
    assert [p.letter for p in spec.panels] == list(ascii_lowercase[: len(spec.panels)])
    assert all(p.curves for p in spec.panels)
    full = spec_of(figure)
    assert len(spec.panels) == len(full.panels)
    assert max(horizons(spec), default=1) <= max(horizons(full), default=1)
    for each in spec.panels:
        labels = [c.label for c in each.curves]
        assert len(set(labels)) == len(labels), "two curves of a panel would share their rows"


@pytest.mark.parametrize("figure", project.names("figure"))
def test_make_test_compiles_every_algorithm_for_the_laws_on_which_figures_play_it(
    figure: str,
) -> None:
    for cell in bandit_cells(spec_of(figure)):
        pair = cell.member, cell.environment
        assert is_quick(*pair), f"{pair} is missing in tests/contract/cells.py: COMPILED"


# Runs and horizons -----------------------------------------------------------------------------


def test_without_an_override_the_figure_sets_the_number_of_runs() -> None:
    assert spec_of("adap-c2").runs == written("figure", "adap-c2")["runs"]
    assert spec_of("adap-c2", "figure.runs=13").runs == 13


def test_a_profile_sets_the_number_of_runs() -> None:
    assert spec_of("adap-c2", "profile=smoke").runs == written("profile", "smoke")["runs"]
    assert spec_of("dpucb-2arms", "profile=ci").runs == written("profile", "ci")["runs"]


def test_a_figures_section_overrides_the_runs_of_a_profile_and_a_curve_overrides_both() -> None:
    own = written("figure", "adap-c2")["profiles"]["ci"]
    runs = {c.name: c.runs for c in spec_of("adap-c2", "profile=ci").panels[0].curves}
    assert runs.pop("dp-ucb") == own["curves"]["dp-ucb"]["runs"] != own["runs"]
    assert set(runs.values()) == {own["runs"]}
    spec = spec_of("adap-c2", "profile=ci", "runs=3")
    assert {c.runs for p in spec.panels for c in p.curves} == {3}
    assert set(spec.runs_of_cells().values()) == {3}


@pytest.mark.parametrize("overrides", [("profile=smoke", "runs=5"), ("runs=5", "profile=smoke")])
def test_runs_of_the_command_line_override_the_profile_in_any_order(
    overrides: tuple[str, ...],
) -> None:
    assert written("profile", "smoke")["runs"] != 5
    assert spec_of("adap-c2", *overrides).runs == 5


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_scales_the_horizon_of_the_file(profile: str) -> None:
    scale = written("profile", profile)["profile"]["horizon_scale"]
    horizon = written("figure", "dpucb-2arms")["horizon"]
    assert horizons(spec_of("dpucb-2arms", f"profile={profile}")) == {round(scale * horizon)}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("figure", ["adap-c2", "adap-ksweep"])
def test_no_profile_scales_a_horizon_of_the_command_line(figure: str, profile: str) -> None:
    spec = spec_of(figure, f"profile={profile}", "figure.horizon=100_000")
    assert horizons(spec) == {100_000}


def test_no_profile_scales_a_horizon_of_the_command_line_for_a_curve_or_panel() -> None:
    spec = spec_of(
        "adap-c2",
        "profile=smoke",
        "+figure.curves.adap-ucb.horizon=777",
        "+figure.panels.b.horizon=888",
    )
    scaled = horizons(spec_of("adap-c2", "profile=smoke"))
    assert {cell(spec, letter, "adap-ucb").horizon for letter in "abcd"} == {777}
    assert cell(spec, "b", "dp-se").horizon == 888
    assert {cell(spec, letter, "dp-se").horizon for letter in "acd"} == scaled


def test_the_horizon_of_an_algorithm_is_that_of_its_cell() -> None:
    spec = spec_of("adap-c2", "profile=smoke", "+figure.panels.b.horizon=888")
    for letter in "abcd":
        own = cell(spec, letter, "dp-se")
        assert own.params._asdict()["horizon"] == own.horizon


def test_where_the_figure_gives_the_profile_a_grid_and_a_horizon_nothing_is_scaled() -> None:
    own = written("figure", "adap-ksweep")["profiles"]["smoke"]
    spec = spec_of("adap-ksweep", "profile=smoke")
    assert horizons(spec) == {own["horizon"]}
    assert {c.x for p in spec.panels for c in p.curves} == {tuple(own["sweep"]["values"])}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_grid_of_the_command_line_overrides_that_of_the_profile(profile: str) -> None:
    spec = spec_of("adap-ksweep", f"profile={profile}", "figure.sweep.values=[2,3,16]")
    assert {c.x for p in spec.panels for c in p.curves} == {(2.0, 3.0, 16.0)}
    arms = [len(c.instance._asdict()["means"]) for c in bandit_cells(spec)]
    assert set(arms) == {2, 3, 16}
    assert horizons(spec) == horizons(spec_of("adap-ksweep", f"profile={profile}"))


def test_a_horizon_may_be_written_in_any_whole_way(checkout: Path) -> None:
    for text in ("100_000", "1e5", "100000.0"):
        assert horizons(spec_of("adap-c2", f"figure.horizon={text}")) == {100_000}
    file = checkout / "conf" / "figure" / "adap-c2.yaml"
    file.write_text(file.read_text().replace("horizon: 10_000_000", "horizon: 1e6"))
    (horizon,) = horizons(spec_of("adap-c2"))
    assert horizon == 1_000_000
    assert isinstance(horizon, int)


def test_swept_horizons_are_taken_as_they_are(checkout: Path) -> None:
    file = checkout / "conf" / "figure" / "adap-ksweep.yaml"
    text = file.read_text().partition("profiles:")[0]
    text = text.replace("environment.means.arms", "horizon")
    file.write_text(re.sub(r"values: \[.*\]", "values: [100, 1000]", text))
    assert written("profile", "smoke")["profile"]["horizon_scale"] != 1
    assert horizons(spec_of("adap-ksweep", "profile=smoke")) == {100, 1000}


# Figure, panel, curve --------------------------------------------------------------------------


def test_a_panel_overrides_the_figure() -> None:
    spec = spec_of("adap-c2", "+figure.panels.b.environment=c1")
    for letter, environment in (("a", "c2"), ("b", "c1"), ("c", "c2")):
        means = tuple(written("environment", environment)["means"])
        assert cell(spec, letter, "adap-ucb").instance == (means,)
    spec = spec_of("adap-c2", "~figure.panels.a.epsilon", "+figure.epsilon=7")
    epsilons = [cell(spec, p.letter, "adap-ucb").params._asdict()["epsilon"] for p in spec.panels]
    assert epsilons == [7.0, 0.25, 0.5, 1.0]


def test_a_value_that_no_panel_sets_is_the_figures() -> None:
    spec = spec_of("adap-c2", "~figure.panels", "+figure.epsilon=7")
    assert [p.letter for p in spec.panels] == ["a"]
    assert spec.panels[0].title == ""
    assert cell(spec, "a", "dp-se").params._asdict()["epsilon"] == 7.0


def test_a_curve_overrides_the_panel() -> None:
    spec = spec_of(
        "adap-c2", "+figure.curves.adap-ucb.epsilon=3", "+figure.curves.dp-se.environment=c4"
    )
    c2, c4 = (tuple(written("environment", name)["means"]) for name in ("c2", "c4"))
    for letter, epsilon in zip("abcd", (0.1, 0.25, 0.5, 1.0), strict=True):
        assert cell(spec, letter, "adap-ucb").params._asdict()["epsilon"] == 3.0
        assert cell(spec, letter, "adap-klucb").params._asdict()["epsilon"] == epsilon
        assert cell(spec, letter, "adap-klucb").instance == (c2,)
        assert cell(spec, letter, "dp-se").instance == (c4,)


def test_a_swept_value_overrides_the_curve() -> None:
    spec = spec_of("klucb-improvement", "+figure.sweep={key: alpha, values: [0.5, 2]}")
    of_adap_ucb = [cell for cell in bandit_cells(spec) if cell.member == "adap-ucb"]
    assert {cell.params._asdict()["alpha"] for cell in of_adap_ucb} == {0.5, 2.0}


def test_a_sweep_changes_one_number_inside_the_environment() -> None:
    spec = spec_of("adap-ksweep", "figure.sweep.values=[2,3]")
    two, three = curve(spec, "b", "adap-ucb").sources
    assert isinstance(two, RegretExperiment)
    assert isinstance(three, RegretExperiment)
    assert two.instance == ((0.75, 0.25),)
    assert three.instance == ((0.75, 0.5, 0.25),)
    assert two.grid is Grid.END


def test_a_parameter_of_one_curve_is_no_other_s() -> None:
    spec = spec_of("adap-c2", "figure.curves.adap-ucb.alpha=1")
    assert cell(spec, "a", "adap-ucb").params._asdict()["alpha"] == 1.0
    assert cell(spec, "a", "adap-klucb").params._asdict()["alpha"] == 3.1


def test_a_bound_is_given_the_values_of_its_panel_and_curve() -> None:
    spec = spec_of(
        "adap-ksweep", "figure.sweep.values=[3]", "+figure.curves.lower-bound.horizon=5000"
    )
    for letter, epsilon in (("a", 0.1), ("b", 1.0)):
        (bound,) = curve(spec, letter, "lower-bound").sources
        assert isinstance(bound, Formula)
        assert bound.arguments() == {
            "means": (0.75, 0.5, 0.25),
            "horizon": 5000,
            "epsilon": epsilon,
        }
    assert not any(isinstance(c, Formula) for c in spec.cells())


def test_a_title_is_filled_in_from_the_values_of_its_panel() -> None:
    spec = spec_of("adap-c2", "figure.panels.b.title='{environment} {horizon} {epsilon}'", "runs=1")
    assert panel(spec, "a").title == r"$\epsilon = 0.1$"
    assert panel(spec, "b").title == "c2 10000000 0.25"
    changed = spec_of("adap-c2", "figure.panels.a.epsilon=0.75")
    assert panel(changed, "a").title == r"$\epsilon = 0.75$"


@pytest.mark.parametrize("override", ["figure.panels.a.title=null", "~figure.panels.a.title"])
def test_a_panel_may_have_no_title(override: str) -> None:
    assert panel(spec_of("adap-c2", override), "a").title == ""


def test_an_environment_may_be_described_in_place() -> None:
    spec = spec_of(
        "adap-c2", "figure.environment={law: beta, means: [0.25, 0.75], concentration: 4}"
    )
    (example, *_) = bandit_cells(spec)
    assert example.environment == "beta"
    assert example.instance == ((0.25, 0.75), 4.0)
    steps = spec_of(
        "adap-c2",
        "figure.environment={law: bernoulli, means: {first: 1, last: 0, arms: 3}}",
    )
    assert bandit_cells(steps)[0].instance == ((1.0, 0.5, 0.0),)


def test_equal_cells_of_different_panels_are_one() -> None:
    plain = spec_of("adap-c2")
    spec = spec_of("adap-c2", "+figure.curves.ucb.algorithm=ucb")  # it has no epsilon
    assert len({cell(spec, letter, "ucb") for letter in "abcd"}) == 1
    assert len(spec.cells()) == len(plain.cells()) + 1
    assert len(set(spec.cells())) == len(spec.cells())


def test_the_order_of_the_curves_is_that_of_the_defaults_list() -> None:
    for figure in project.names("figure"):
        content = written("figure", figure)
        listed = [
            key.partition("@curves.")[2]
            for entry in content.get("defaults", [])
            if isinstance(entry, dict)
            for key in entry
        ]
        beside = [name for name in content.get("curves", {}) if name not in listed]
        for each in spec_of(figure).panels:
            # A panel may draw each curve for several values, one after the other.
            named = content["panels"][each.letter].get("curves")
            drawn = list(dict.fromkeys(c.name for c in each.curves))
            assert drawn == (named or [*listed, *beside])


def test_a_curve_added_on_the_command_line_comes_last_and_may_be_taken_from_a_file() -> None:
    spec = spec_of(
        "adap-c2",
        "+algorithm@figure.curves.half=adap-ucb",
        "figure.curves.half.alpha=1.5",
        "+figure.curves.half.label='AdaP-UCB ({alpha})'",
    )
    assert [c.name for c in spec.panels[0].curves][-1] == "half"
    assert cell(spec, "a", "half").params._asdict()["alpha"] == 1.5
    assert cell(spec, "a", "adap-ucb").params._asdict()["alpha"] == 3.1


def test_a_curve_may_be_left_out() -> None:
    spec = spec_of("adap-c2", "~figure.curves.dp-se")
    assert "dp-se" not in [c.name for c in spec.panels[0].curves]
    assert len(spec.panels[0].curves) == len(spec_of("adap-c2").panels[0].curves) - 1


def test_a_curve_is_called_as_in_the_papers_unless_it_has_a_label() -> None:
    spec = spec_of("adap-c2", "+figure.curves.adap-ucb.label='AdaP-UCB (ours)'")
    assert curve(spec, "a", "dp-se").label == "DP-SE"
    assert curve(spec, "a", "adap-ucb").label == "AdaP-UCB (ours)"
    assert curve(spec, "a", "adap-ucb").style == "adap-ucb"


def test_a_panel_draws_every_curve_for_each_of_several_values() -> None:
    spec = spec_of("dpse-epsilon")
    seen = [(c.label, c.sources[0].params.epsilon) for c in panel(spec, "b").curves]  # type: ignore[union-attr]
    assert seen == [
        ("DP-UCB (epsilon=0.5)", 0.5),
        ("DP-UCB (epsilon=1)", 1.0),
        ("DP-SE (epsilon=0.5)", 0.5),
        ("DP-SE (epsilon=1)", 1.0),
    ]
    spec = spec_of(
        "dpse-epsilon",
        "figure.panels.a.each={key: environment.means.arms, values: [3]}",
        "figure.environment=linear",
        "+figure.panels.a.epsilon=1",
    )
    assert [c.label for c in panel(spec, "a").curves] == ["DP-UCB (arms=3)", "DP-SE (arms=3)"]


def test_a_panel_may_sweep_where_the_others_go_over_time() -> None:
    spec = spec_of("adac-price")
    assert [len(c.x or ()) for c in panel(spec, "a").curves] == [13] * 3
    assert [c.x for c in panel(spec, "b").curves] == [None] * 3


def test_a_legend_tells_the_input_privacy_where_the_figure_asks() -> None:
    legends = {c.label: c.legend for c in panel(spec_of("dpucb-2arms"), "b").curves}
    assert legends["UCB"] == "UCB"
    assert legends["DP-UCB"] == "DP-UCB (0.1)"
    spec = spec_of("dpucb-2arms", "figure.input_privacy=false")
    assert all(c.legend == c.label for c in panel(spec, "b").curves)


# Keys ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "override",
    ["engine=dask", "engine.block=1", "++engine.block=1", "++engine.workers=2", "paths.out=x"],
)
def test_the_command_in_a_picture_names_neither_folders_nor_engine(override: str) -> None:
    settings = load("adap-c2", ["runs=3"])[1]
    spec, elsewhere = load("adap-c2", [override, "runs=3"])
    command = sidecar.command("run", spec, elsewhere)
    assert command == sidecar.command("run", spec, settings) == "dpbandits run adap-c2 runs=3"


def test_1_and_1_point_0_are_one_key_on_the_command_line() -> None:
    keys = set()
    for number in ("1", "1.0", "1e0"):
        spec = spec_of(
            "adap-c2",
            f"figure.panels.a.epsilon={number}",
            f"figure.environment={{law: bernoulli, means: [{number}, 0.5]}}",
        )
        identity.key.cache_clear()
        keys.add(identity.key(cell(spec, "a", "adap-ucb")))
    assert len(keys) == 1


def test_what_does_not_move_a_number_does_not_move_a_key() -> None:
    keys = []
    for overrides in (
        (),
        (
            "runs=3",
            "engine.workers=1",
            "engine.block=2",
            "paths.cache=elsewhere",
            "paths.out=elsewhere",
            "figure.title=Another",
            "figure.panels.a.title=another",
            "figure.centre=median",
            "figure.spread=quartiles",
            "+figure.slopes=true",
            "+figure.curves.dp-se.label=another",
        ),
    ):
        identity.key.cache_clear()
        keys.append([identity.key(c) for c in spec_of("adap-c2", *overrides).cells()])
    assert keys[0] == keys[1]


def test_the_seed_is_that_of_every_cell() -> None:
    assert {c.seed for c in spec_of("adap-c2", "seed=5").cells()} == {5}
    usual = yaml.safe_load(Path("conf", "config.yaml").read_text())["seed"]
    assert {c.seed for c in spec_of("adap-c2").cells()} == {usual} != {5}


# Settings --------------------------------------------------------------------------------------


def test_folders_are_below_the_project_or_absolute(root: Path, tmp_path: Path) -> None:
    assert settings_of().cache == root / "cache"
    assert settings_of().out == root / "out"
    moved = settings_of("paths.cache=a/b", f"paths.out={tmp_path}")
    assert moved.cache == root / "a" / "b"
    assert moved.out == tmp_path


def test_the_engine_is_a_setting() -> None:
    assert settings_of().workers is None
    assert settings_of("engine.workers=3", "engine.block=7").workers == 3
    assert settings_of("engine.workers=3", "engine.block=7").block == 7
    assert settings_of().cluster is None


@pytest.mark.parametrize(
    "address", ["tcp://a:8786", "tls://n-1.example.org:1", "tcp://10.0.0.1:65535", "tcp://[::1]:80"]
)
def test_a_cluster_is_a_setting(address: str) -> None:
    assert settings_of("engine=dask").cluster == Cluster(None)
    assert settings_of("engine=dask", "engine.workers=3").workers == 3
    assert settings_of("engine=dask", f"engine.scheduler='{address}'").cluster == Cluster(address)


def test_the_overrides_are_kept_for_the_record() -> None:
    overrides = ("profile=smoke", "+figure.curves.ucb.algorithm=ucb")
    assert settings_of(*overrides).overrides == overrides


def test_a_figure_is_the_same_from_any_folder_of_the_checkout(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load("adap-c2", ["profile=smoke"])
    monkeypatch.chdir(root / "conf" / "figure")
    assert compose.load("adap-c2", ["profile=smoke"]) == expected


def test_the_nearest_checkout_upwards_counts(checkout: Path) -> None:
    file = checkout / "conf" / "figure" / "adap-c2.yaml"
    (checkout / "conf" / "figure" / "mine.yaml").write_text(
        file.read_text().replace("environment: c2", "environment: c3")
    )
    assert "mine" in project.names("figure")
    spec, settings = load("mine", [])
    assert spec.name == "mine"
    assert bandit_cells(spec)[0].instance == (tuple(written("environment", "c3")["means"]),)
    assert settings.out == checkout / "out"


def test_a_figure_without_a_profile_s_section_is_scaled_and_swept_as_written(
    checkout: Path,
) -> None:
    file = checkout / "conf" / "figure" / "adap-ksweep.yaml"
    text = file.read_text()
    file.write_text(text[: text.index("profiles:")])
    spec = spec_of("adap-ksweep", "profile=smoke")
    scale = written("profile", "smoke")["profile"]["horizon_scale"]
    assert horizons(spec) == {round(scale * written("figure", "adap-ksweep")["horizon"])}
    values = written("figure", "adap-ksweep")["sweep"]["values"]
    assert {c.x for c in spec.panels[0].curves} == {tuple(np.array(values, float))}


def test_a_slope_is_fitted_between_the_values_that_the_sweep_names() -> None:
    spec = spec_of("adap-ksweep", "+figure.sweep.fit=[4,32]")
    assert {c.fit for p in spec.panels for c in p.curves} == {(4.0, 32.0)}
    assert {c.fit for p in spec_of("adap-ksweep").panels for c in p.curves} == {None}


def test_a_panel_may_have_checkpoints_of_its_own() -> None:
    spec = spec_of("adap-c2", "+figure.panels.b.checkpoints=log")
    assert cell(spec, "a", "dp-se").grid is Grid.LINEAR
    assert cell(spec, "b", "dp-se").grid is Grid.LOG
