"""Python interface: its public names, its results, its errors and its examples."""

import ast
import doctest
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import dpbandits as dp
from dpbandits.api import MODULES
from dpbandits.config import compose
from dpbandits.factory.produce import drawing
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables.series import summarise

ARMS: dict[str, Any] = {"means": [0.9, 0.5]}
SMALL: dict[str, Any] = {**ARMS, "horizon": 300, "runs": 4, "seed": 1, "progress": False}
FUNCTIONS = {"play", "compare", "budget", "run_audit", "lower_bound", "figure"}
RESULTS = {"PlayResult", "Comparison", "Standing", "Budget", "AuditResult", "FigureResult"}


@pytest.fixture(autouse=True)
def quiet_pictures(checkout: Path) -> Iterator[None]:
    """Work in a copy of the checkout, and draw without a screen."""
    before = matplotlib.get_backend()
    matplotlib.use("agg")
    yield
    matplotlib.pyplot.close("all")
    matplotlib.use(before)


def test_the_public_names_are_these_and_no_others(root: Path) -> None:
    public = FUNCTIONS | RESULTS | {"UserError", "__version__"}
    assert set(dp.__all__) == public
    assert dir(dp) == sorted(public)
    packages = {path.name for path in (root / "src" / "dpbandits").iterdir() if path.is_dir()}
    others = {name for name in vars(dp) if not name.startswith("_")} - public - packages
    assert not others
    assert not public & packages


def test_type_checkers_see_the_same_names(root: Path) -> None:
    tree = ast.parse((root / "src" / "dpbandits" / "__init__.pyi").read_text("utf-8"))
    imported = {
        alias.name: str(node.module).rpartition(".")[2]
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == MODULES
    (listed,) = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    assert set(ast.literal_eval(listed)) == set(dp.__all__)
    assert (root / "src" / "dpbandits" / "py.typed").is_file()


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'plays'"):
        getattr(dp, "plays")  # noqa: B009


def test_the_import_loads_no_large_library() -> None:
    large = "numba", "numpy", "matplotlib", "hydra", "omegaconf", "joblib", "pandas", "scipy"
    program = f"import sys, dpbandits; print([n for n in {large} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_the_interface_is_no_source_of_a_result() -> None:
    from dpbandits.store.key import sources

    found = sources(("experiments/regret.py",))
    assert "core/roots.py" in found
    assert not [name for name in found if name.startswith(("api/", "cli/", "config/"))]


@pytest.mark.parametrize("module", sorted({*MODULES.values()}))
def test_every_example_is_true(module: str) -> None:
    found = importlib.import_module(f"dpbandits.api.{module}")
    result = doctest.testmod(found, optionflags=doctest.FAIL_FAST)
    assert result.failed == 0
    public = [getattr(dp, n) for n in FUNCTIONS if MODULES[n] == module]
    assert all("Examples:" in (function.__doc__ or "") for function in public)
    assert bool(public) == bool(result.attempted)


def test_the_statistics_are_those_of_the_runs() -> None:
    played = dp.play("ucb", **SMALL)
    assert played.regret.shape == (4, len(played.rounds))
    assert played.rounds.dtype == np.int64
    assert played.rounds[-1] == 300
    np.testing.assert_allclose(played.mean, played.regret.mean(axis=0))
    np.testing.assert_allclose(played.std, played.regret.std(axis=0, ddof=1))
    np.testing.assert_allclose(played.standard_error, played.std / 2)
    np.testing.assert_array_equal(played.quantiles(0.0), played.regret.min(axis=0))
    assert played.quantiles([0.1, 0.9]).shape == (2, len(played.rounds))
    assert played.budget is None
    assert repr(played).startswith("PlayResult(UCB, T=300, 4 runs, mean ")
    assert len(repr(played)) < 80
    with pytest.raises(ValueError, match="read-only"):
        played.regret[0, 0] = 1.0


def test_a_run_of_a_figure_is_not_computed_again() -> None:
    made = dp.figure("adap-c2", "figure.horizon=1_000", "runs=3", progress=False)
    assert made.computed
    again = dp.figure("adap-c2", "figure.horizon=1_000", "runs=3", progress=False)
    assert again.computed == 0
    game: dict[str, Any] = {"environment": "c2", "horizon": 1000, "progress": False}
    played = dp.play("adap-klucb", epsilon=0.25, runs=3, **game)
    assert played.computed == 0
    more = dp.play("adap-klucb", epsilon=0.25, runs=5, **game)
    assert more.computed == 2
    np.testing.assert_array_equal(more.regret[:3], played.regret)
    assert dp.play("adap-klucb", epsilon=0.25, runs=3, seed=5, **game).computed == 3
    compared = dp.compare(["adap-ucb", "azize2022-dp-ucb"], epsilon=[0.1, 1], runs=3, **game)
    assert {each.computed for each in compared.plays.values()} == {0}
    table = made.to_frame()
    row = table[(table.panel == "b") & (table.label == "AdaP-KLUCB")].iloc[-1]
    assert row["mean"] == played.mean[-1]


def test_a_figure_has_its_table_files_and_axes() -> None:
    made = dp.figure("adap-c2", "figure.horizon=1_000", "runs=2", "paths.out=elsewhere")
    assert made.folder.is_relative_to(Path.cwd() / "elsewhere")
    assert all(path.is_file() for path in made.files.values())
    assert made.files["csv"].read_text("utf-8").count("\n") == len(made.to_frame()) + 1
    assert made.sidecar["runs"] == 2
    assert made.caption == made.files["txt"].read_text("utf-8")
    assert len(made.plot().axes) >= 4
    spec, settings = compose.load("adap-c2", ["figure.horizon=1_000", "runs=2"])
    series = summarise(spec, Store(settings.cache))
    assert len(made.to_frame()) == sum(len(each.x) for each in series)
    assert isinstance(spec, FigureSpec)
    assert drawing(spec, series).panels


def test_a_comparison_has_plays_bounds_standings_and_verdicts() -> None:
    found = dp.compare(["ucb", "adap-klucb", "dp-se"], epsilon=[0.5, 2], **SMALL)
    assert found.epsilons == (0.5, 2.0)
    assert len(found.plays) == 6
    assert found.plays["ucb", 0.5].budget is None
    composed = found.plays["adap-klucb", 2.0].budget
    assert composed is not None
    assert composed.composed == 2.0
    bound = dp.lower_bound(**ARMS, epsilon=0.5, horizon=300)
    assert found.lower_bounds[0.5][-1] == bound
    assert dp.lower_bound(**ARMS, epsilon=0.01, horizon=300) > bound  # privacy has its price
    assert [standing.epsilon for standing in found.standings] == [0.5] * 3 + [2.0] * 3
    for epsilon, first in ((0.5, found.standings[0]), (2.0, found.standings[3])):
        means = {
            played.label: played.mean[-1] for (_, e), played in found.plays.items() if e == epsilon
        }
        assert first.regret == min(means.values())
        assert first.label == min(means, key=lambda label: means[label])
    assert "The others compose to the ε they are given." in " ".join(found.caption.split())
    assert len(found.plot().axes) == 2
    assert len(found.to_frame()) == sum(played.regret.size for played in found.plays.values())
    assert set(found.table().columns) >= {"label", "regret", "error", "behind", "composed"}


def test_one_algorithm_with_two_values_of_a_parameter_has_two_labels() -> None:
    found = dp.compare([("adap-ucb", {"alpha": 2}), ("adap-ucb", {"alpha": 4})], **SMALL)
    assert {each.label for each in found.standings} == {"AdaP-UCB (alpha=2)", "AdaP-UCB (alpha=4)"}
    found = dp.compare([("adap-ucb", {"alpha": 2.5}), ("adap-ucb", {"alpha": 4})], **SMALL)
    assert set(found.plays) == {("AdaP-UCB (alpha=2.5)", 1.0), ("AdaP-UCB (alpha=4)", 1.0)}
    assert {each.algorithm for each in found.plays.values()} == {"adap-ucb"}
    assert (
        repr(found)
        == "Comparison(AdaP-UCB (alpha=2.5), AdaP-UCB (alpha=4), epsilon=1, T=300, 4 runs)"
    )


def test_two_algorithms_of_one_label_are_told_apart() -> None:
    found = dp.compare(["sajed2019-dp-ucb", "azize2022-dp-ucb"], **SMALL)
    names = "DP-UCB (sajed2019-dp-ucb)", "DP-UCB (azize2022-dp-ucb)"
    assert {each.label for each in found.standings} == {*names}


def test_a_play_is_drawn_on_its_own_axes_or_on_given_ones() -> None:
    played = dp.play("ucb", **SMALL)
    ax = played.plot()
    assert len(ax.lines) == 1
    assert played.plot(ax) is ax
    assert len(ax.lines) == 2


def test_without_pandas_a_table_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    played = dp.play("ucb", **SMALL)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dp.UserError, match=r"needs pandas.*pip install 'dpbandits\[pandas\]'"):
        played.to_frame()


def test_an_audit_bounds_what_is_claimed(short_audits: None) -> None:
    found = dp.run_audit("dp-exp3-lap", epsilon=1.0, plays=4000, workers=1)
    assert found.claimed > 0
    assert not found.refutes_claim
    assert found.epsilon <= found.claimed


BAD: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("play", ("adap-ubc",), {"epsilon": 1}, "unknown algorithm 'adap-ubc'; did you mean"),
    ("play", ("adap-ucb",), {"epsilno": 1}, "no parameter 'epsilno'; did you mean 'epsilon'"),
    ("play", ("adap-ucb",), {"epsilon": -1}, "epsilon must be positive and finite, got -1"),
    ("play", ("adap-ucb",), {}, "epsilon is missing"),
    ("play", ("ucb",), {"environment": "c2"}, "both are given"),
    ("play", ("ucb",), {"means": None}, "neither is given"),
    ("play", ("ucb",), {"means": None, "environment": "c9"}, "unknown environment 'c9'"),
    ("play", ("ucb",), {"means": [0.5, 2]}, r"means in \[0, 1\]"),
    ("play", ("ucb",), {"horizon": None}, "horizon is missing"),
    ("compare", (["ucb"],), {"horizon": None}, "horizon is missing"),
    ("play", ("ucb",), {"horizon": 1}, "at least 2, the number of arms"),
    ("play", ("ucb",), {"runs": 0}, "runs must be a whole number from 1"),
    ("play", ("ucb",), {"seed": -1}, "seed must be a whole number"),
    ("play", ("ucb",), {"grid": "dense"}, "unknown checkpoints 'dense'"),
    ("play", ("ucb",), {"workers": 0}, "workers must be a whole number"),
    ("play", ("nas",), {}, "is a stopping rule"),
    ("play", (3,), {}, "3 is no algorithm"),
    ("compare", (["ucb", "ucb"],), {}, "ucb is named twice"),
    ("compare", ("ucb",), {}, "give a list of algorithms"),
    ("compare", (["ucb"],), {"epsilon": [1, 1.0]}, "the same epsilon is given twice"),
    ("compare", (["ucb"],), {"epsilon": 0}, "epsilon must be positive"),
]


@pytest.mark.parametrize(("name", "arguments", "changes", "problem"), BAD)
def test_a_mistake_is_an_error_of_one_line(
    name: str, arguments: tuple[Any, ...], changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(dp.UserError, match=problem) as caught:
        getattr(dp, name)(*arguments, **{**SMALL, **changes})
    assert "\n" not in str(caught.value)
    assert not Path("cache").exists()


def test_quantities_without_a_game_check_their_arguments() -> None:
    with pytest.raises(dp.UserError, match="ucb promises no privacy"):
        dp.budget("ucb")
    with pytest.raises(dp.UserError, match="horizon must be"):
        dp.budget("dp-se", epsilon=1, horizon=0)
    with pytest.raises(dp.UserError, match="for Bernoulli arms, not for beta"):
        dp.lower_bound(environment={"law": "beta", "means": [0.5, 0.4]}, horizon=10)
    with pytest.raises(dp.UserError, match=r"q must be in \[0, 1\]"):
        dp.play("ucb", **SMALL).quantiles(1.5)


def test_progress_can_be_silenced(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpbandits.run.progress.LINE_EVERY", 0.0)
    dp.play("ucb", **{**SMALL, "runs": 20})
    assert capfd.readouterr() == ("", "")
    dp.play("ucb", **{**SMALL, "seed": 2, "runs": 20, "progress": True})
    assert "play: " in capfd.readouterr().err


def test_the_sidecar_of_a_play_names_its_key() -> None:
    played = dp.play("ucb", **SMALL)
    folder = Path("cache") / "ucb" / played.provenance["key"]
    identity = json.loads((folder / "identity.json").read_bytes())
    assert identity["cell"]["horizon"] == 300


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "alpha: 3.1\n",
            r"conf/algorithm/mine\.yaml names no algorithm; add the line `algorithm: ",
        ),
        ("algorithm:\n", r"conf/algorithm/mine\.yaml names no algorithm"),
        (
            "bound: azize2022.problem_dependent_lower_bound\n",
            "'mine' is a bound, which plays no arms",
        ),
    ],
)
def test_a_file_without_an_algorithm_is_an_error_of_one_line(
    checkout: Path, content: str, problem: str
) -> None:
    (checkout / "conf" / "algorithm" / "mine.yaml").write_text(content)
    with pytest.raises(dp.UserError, match=problem) as caught:
        dp.play("mine", **SMALL)
    assert "\n" not in str(caught.value)
