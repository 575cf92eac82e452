"""Python interface: its public names, its results, its errors and its examples."""

import ast
import doctest
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pytest

import dpbandits as dp
from dpbandits.api.plays import Standing, verdict
from dpbandits.kernel.bandit import pull_many, rounds_left
from dpbandits.kernel.errors import UserError
from dpbandits.store.key import sources

ARMS: dict[str, Any] = {"means": [0.9, 0.5]}
SMALL: dict[str, Any] = {**ARMS, "horizon": 300, "runs": 4, "seed": 1, "progress": False}


@pytest.fixture(autouse=True)
def quiet_pictures(checkout: Path) -> Iterator[None]:
    """Work in a copy of the checkout, and draw without a screen."""
    before = matplotlib.get_backend()
    matplotlib.use("agg")
    yield
    matplotlib.pyplot.close("all")
    matplotlib.use(before)


def test_every_public_name_is_there_and_described_to_type_checkers(root: Path) -> None:
    assert dir(dp) == sorted(dp.__all__)
    assert all(hasattr(dp, name) for name in dp.__all__)
    tree = ast.parse((root / "src" / "dpbandits" / "__init__.pyi").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    described = {alias.name: node.module for node in imports for alias in node.names}
    assert {*described, "__version__"} == {*dp.__all__}
    for name, module in described.items():
        assert getattr(dp, name).__module__ in (module, UserError.__module__)


@pytest.mark.parametrize(
    ("program", "large"),
    [
        ("import dpbandits", "numba numpy matplotlib hydra omegaconf joblib pandas scipy"),
        ("from dpbandits.factory import produce", "scipy.stats"),  # slower than all the rest
    ],
)
def test_an_import_loads_no_library_that_it_does_not_need(program: str, large: str) -> None:
    program += f"; import sys; print([n for n in {large.split()} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_the_interface_is_no_source_of_a_result() -> None:
    found = sources(("experiments/regret.py",))
    assert "kernel/roots.py" in found
    assert not [name for name in found if name.startswith(("api/", "cli/", "config/"))]


@pytest.mark.parametrize("name", ["figure", "play", "compare", "budget"])
def test_every_example_is_true(name: str) -> None:
    module = importlib.import_module(getattr(dp, name).__module__)
    result = doctest.testmod(module, optionflags=doctest.FAIL_FAST)
    assert result.attempted
    assert not result.failed


def test_the_statistics_are_those_of_the_runs(capsys: pytest.CaptureFixture[str]) -> None:
    played = dp.play("ucb", **SMALL)
    assert capsys.readouterr() == ("", "")  # progress=False
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
    table = played.to_frame().set_index(["run", "round"]).regret
    assert [*table[3]] == [*played.regret[3]]
    identity = Path("cache") / "ucb" / played.provenance["key"] / "identity.json"
    assert json.loads(identity.read_bytes())["experiment"]["horizon"] == 300
    ax = played.plot()
    assert played.plot(ax) is ax
    assert len(ax.lines) == 2
    with pytest.raises(ValueError, match="read-only"):
        played.regret[0, 0] = 1.0


def test_a_figure_shares_its_runs_with_play_and_compare() -> None:
    asked = "figure.horizon=1_000", "runs=3", "paths.out=elsewhere"
    made = dp.figure("adap-c2", *asked, progress=False)
    assert made.computed
    assert dp.figure("adap-c2", *asked, progress=False).computed == 0
    game: dict[str, Any] = {"environment": "c2", "horizon": 1000, "progress": False}
    played = dp.play("adap-klucb", epsilon=0.25, runs=3, **game)
    assert played.computed == 0
    more = dp.play("adap-klucb", epsilon=0.25, runs=5, **game)
    assert more.computed == 2
    np.testing.assert_array_equal(more.regret[:3], played.regret)
    assert dp.play("adap-klucb", epsilon=0.25, runs=3, seed=5, **game).computed == 3
    compared = dp.compare(["adap-ucb", "azize2022-dp-ucb"], epsilon=[0.1, 1], runs=3, **game)
    assert {play.computed for play in compared.plays.values()} == {0}
    table = made.to_frame()
    row = table[(table.panel == "b") & (table.label == "AdaP-KLUCB")].iloc[-1]
    assert row["mean"] == played.mean[-1]
    assert made.folder.is_relative_to(Path.cwd() / "elsewhere")
    assert all(path.is_file() for path in made.files.values())
    assert made.files["csv"].read_text("utf-8").count("\n") == len(table) + 1
    assert made.caption == made.files["txt"].read_text("utf-8")
    assert len(made.plot().axes) >= 4


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
    assert set(found.table().columns) >= {"label", "regret", "error", "behind", "composed"}


def test_settings_and_names_tell_algorithms_of_one_label_apart() -> None:
    found = dp.compare([("adap-ucb", {"alpha": 2.5}), ("adap-ucb", {"alpha": 4})], **SMALL)
    labels = "AdaP-UCB (alpha=2.5)", "AdaP-UCB (alpha=4)"
    assert {*found.plays} == {(label, 1.0) for label in labels}
    assert {place.label for place in found.standings} == {*labels}
    assert {played.algorithm for played in found.plays.values()} == {"adap-ucb"}
    assert repr(found) == found.verdicts[0]
    found = dp.compare(["sajed2019-dp-ucb", "azize2022-dp-ucb"], **SMALL)
    names = "DP-UCB (sajed2019-dp-ucb)", "DP-UCB (azize2022-dp-ucb)"
    assert {place.label for place in found.standings} == {*names}


def test_without_pandas_a_table_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    played = dp.play("ucb", **SMALL)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dp.UserError, match=r"needs pandas.*pip install 'dpbandits\[pandas\]'"):
        played.to_frame()


BAD: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("play", ("adap-ubc",), {"epsilon": 1}, "unknown algorithm 'adap-ubc'; did you mean"),
    ("play", ("adap-ucb",), {"epsilno": 1}, "unknown parameter 'epsilno'.*mean 'epsilon'"),
    ("play", ("adap-ucb",), {}, "epsilon is missing"),
    ("play", ("ucb",), {"environment": "c2"}, "both are given"),
    ("play", ("ucb",), {"means": None}, "neither is given"),
    ("play", ("ucb",), {"means": None, "environment": "c9"}, "unknown environment 'c9'"),
    ("play", ("ucb",), {"means": [0.5, 2]}, r"means in \[0, 1\]"),
    ("play", ("ucb",), {"horizon": None}, "horizon is missing"),
    ("play", ("ucb",), {"horizon": 1}, "at least 2, the number of arms"),
    ("play", ("ucb",), {"runs": 0}, "runs must be a whole number from 1"),
    ("play", ("ucb",), {"grid": "dense"}, "unknown checkpoints 'dense'"),
    ("play", ("ucb",), {"workers": 0}, "play: workers must be a whole number"),
    ("play", ("nas",), {}, "nas.yaml names no algorithm, and rules and bounds play no arms"),
    ("play", (3,), {}, "3 is no algorithm"),
    ("compare", (["ucb", "ucb"],), {}, "ucb is named twice"),
    ("compare", ("ucb",), {}, "give a list of algorithms"),
    ("compare", (["ucb"],), {"epsilon": [1, 1.0]}, "up to 26 different values"),
    ("compare", (["ucb"],), {"epsilon": 0}, "epsilon must be positive"),
    ("budget", ("ucb",), {}, "ucb promises no privacy"),
    ("budget", ("dp-se",), {"epsilon": 1, "horizon": 0}, "horizon must be"),
    ("run_audit", ("dp-se",), {"epsilon": 1, "workers": 0}, "workers must be"),
    ("lower_bound", (), {"environment": {"law": "beta", "means": [0.5, 0.4]}}, "not for beta"),
]


@pytest.mark.parametrize(("name", "arguments", "changes", "problem"), BAD)
def test_a_mistake_is_an_error_of_one_line(
    name: str, arguments: tuple[Any, ...], changes: dict[str, Any], problem: str
) -> None:
    game = {"play": SMALL, "compare": SMALL, "lower_bound": {"horizon": 10}}.get(name, {})
    with pytest.raises(dp.UserError, match=problem) as caught:
        getattr(dp, name)(*arguments, **game | changes)
    assert "\n" not in str(caught.value)
    assert not Path("cache").exists()


LONG = {**SMALL, "horizon": 2000}
LONG.pop("runs")


def standing(label: str, behind: float, is_clear: bool, error: float = 1.0) -> Standing:
    """Return the standing of an algorithm of which only the order matters."""
    privacy = "not private" if np.isnan(behind) else "global DP"
    return Standing(1.0, label, 90.0, error, behind, error, is_clear, privacy, 1.0, 1.0)


def test_the_order_is_that_of_the_differences_in_the_same_run() -> None:
    found = dp.compare(["ucb", "dp-se", "adap-klucb"], runs=20, **LONG)
    final = {name: played.regret[:, -1] for (name, _), played in found.plays.items()}
    by_label = {each.label: each for each in found.standings}
    lowest, other = by_label["AdaP-KLUCB"], by_label["DP-SE"]
    difference = final["dp-se"] - final["adap-klucb"]
    assert (lowest.behind, lowest.is_clear) == (0.0, False)
    assert other.behind == pytest.approx(difference.mean())
    assert other.behind_error == pytest.approx(difference.std(ddof=1) / 20**0.5)
    assert other.is_clear == (other.behind > 3 * other.behind_error)
    assert np.isnan(by_label["UCB"].behind)  # not private: not compared with those that are
    assert by_label["UCB"].claimed is None


def test_runs_that_are_equal_or_single_or_differ_by_a_constant_decide_nothing() -> None:
    def pulling(arm: int) -> SimpleNamespace:
        def play(params: Any, bandit: Any, rng: Any) -> None:
            pull_many(bandit, arm, rounds_left(bandit))

        return SimpleNamespace(LABEL=f"Arm {arm}", play=play)

    single = dp.compare(["uniform", ("adap-ucb", {"alpha": 3.1})], runs=1, **LONG)
    equal = dp.compare([("adap-ucb", {"alpha": 3.1}), "adap-ucb"], runs=5, **LONG)
    assert [place.behind for place in equal.standings] == [0.0, 0.0]
    constant = dp.compare([pulling(0), pulling(1)], epsilon=None, runs=5, **LONG)
    assert [place.behind for place in constant.standings] == pytest.approx([0.0, 800.0])
    for found in (single, equal, constant):
        assert not any(place.is_clear for place in found.standings)


def test_a_verdict_names_the_lowest_and_those_that_are_not_clearly_behind() -> None:
    several = [standing("UCB", np.nan, False), standing("A", 0.0, False), standing("B", 9.0, True)]
    assert verdict(several).startswith("A has the lowest mean of the 2 private algorithms, by more")
    undecided = verdict([*several, standing("C", 2.0, False)])
    assert undecided.endswith("the 3 private algorithms, but it is undecided against C.")
    assert verdict(several[1:2]) == "A ends at a mean regret of 90 (1)."
    single = [standing("A", 0.0, False, np.nan), standing("B", 9.0, False, np.nan)]
    assert "nothing is decided: one run has no standard error" in verdict(single)
