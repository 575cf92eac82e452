"""Python interface: its public names, its results, its errors and its examples."""

import ast
import copy
import doctest
import importlib
import json
import multiprocessing
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pandas
import pytest
import scipy.stats

import dpbandits as dp
from dpbandits.api.standings import Standing, verdict
from dpbandits.audit.events import Loss
from dpbandits.audit.search import AuditFinding, Auditor
from dpbandits.audit.subject import Limit
from dpbandits.environments import bernoulli
from dpbandits.kernel.bandit import pull_many, rounds_left
from dpbandits.kernel.errors import UserError
from dpbandits.privacy.notions import Guarantee, Notion
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
    assert "kernel/bandit.py" in found
    apart = ("api/", "cli/", "config/", "kinds/", "kernel/re", "kernel/roots")
    assert not [name for name in found if name.startswith(apart)]


@pytest.mark.parametrize("name", ["figure", "play", "compare", "identify", "budget"])
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


def test_a_play_of_one_budget_has_the_name_of_its_algorithm_as_its_key() -> None:
    found = dp.compare(["ts", "ucb"], **SMALL)
    assert found.plays["ts"] is found.plays["ts", 1.0]
    several = dp.compare(["ts"], epsilon=[1, 2], **SMALL)
    for plays, key, valid in (
        (found.plays, "dp-se", r"\('ts', 1\.0\), \('ucb', 1\.0\)"),
        (several.plays, "ts", r"\('ts', 1\.0\), \('ts', 2\.0\)"),
    ):
        with pytest.raises(dp.UserError, match=rf"plays: '{key}' is no key; valid: {valid}"):
            plays[key]


def test_a_comparison_says_whom_the_order_of_the_arms_favours() -> None:
    found = dp.compare(["adap-klucb", "ucb"], epsilon=0.01, **SMALL)
    (remark,) = found.remarks
    assert remark.startswith("AdaP-KLUCB: where nothing tells the arms apart")
    assert repr(found).endswith(remark)
    assert dp.compare(["ucb"], **SMALL | {"means": [0.5, 0.9]}).remarks == ()


def test_given_checkpoints_are_recorded_with_the_horizon() -> None:
    played = dp.play("ucb", checkpoints=[50, 20], **SMALL)
    assert played.rounds.tolist() == [20, 50, 300]
    every = dp.play("ucb", checkpoints=range(1, 301), **SMALL)
    np.testing.assert_array_equal(played.regret, every.regret[:, [19, 49, 299]])
    with pytest.raises(dp.UserError, match="record: UCB has runs 0 to 3, got 7"):
        played.record(run=7)


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
    ("play", ("ucb",), {"means": None, "environment": "c9.yaml"}, "c9.yaml cannot be read"),
    ("play", ("ucb",), {"means": None, "environment": 3}, "3 is no environment"),
    ("play", ("ucb",), {"means": [0.5, 2]}, r"means in \[0, 1\]"),
    ("play", ("ucb",), {"horizon": None}, "horizon is missing"),
    ("play", ("ucb",), {"horizon": 1}, "at least 2, the number of arms"),
    ("play", ("ucb",), {"runs": 0}, "runs must be a whole number from 1"),
    ("play", ("ucb",), {"checkpoints": "dense"}, "unknown checkpoints 'dense'"),
    ("play", ("ucb",), {"workers": 0}, "play: workers must be a whole number"),
    ("play", ("ucb",), {"checkpoints": [1, 301]}, "or whole numbers from 1 to 300, the horizon"),
    ("play", ("adap-ucb",), {"epsilon": "0.3"}, "epsilon must be a number, got the text '0.3'"),
    ("compare", (["ucb"],), {"epsilon": "0.3"}, "epsilon must be a number, got the text '0.3'"),
    ("play", ("nas",), {}, "nas.yaml names no algorithm, and rules and bounds play no arms"),
    ("play", (3,), {}, "3 is no algorithm"),
    ("compare", (["ucb"],), {"epsilon": ["1e-1"]}, "epsilon must be a number, got the text '1e-1'"),
    ("compare", (["ucb", "ucb"],), {}, "ucb is named twice"),
    ("compare", ("ucb",), {}, "give a list of algorithms"),
    ("compare", (["ucb"],), {"epsilon": [1, 1.0]}, "up to 26 different values"),
    ("compare", (["ucb"],), {"epsilon": 0}, "epsilon must be from 1e-100"),
    ("budget", ("ucb",), {}, "ucb promises no privacy"),
    ("budget", ("dp-se",), {"epsilon": 1, "horizon": 0}, "horizon must be"),
    ("run_audit", ("dp-se",), {"epsilon": 1, "workers": 0}, "workers must be"),
    ("lower_bound", (), {"environment": {"family": "beta", "means": [0.5, 0.4]}}, "not for beta"),
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


def test_every_result_can_be_pickled_copied_and_sent_to_a_spawned_process() -> None:
    results: list[Any] = [
        dp.play("adap-ucb", epsilon=1.0, **SMALL),
        dp.compare(["dp-se", "ucb"], **SMALL),
        dp.budget("dp-se", epsilon=0.5),
        dp.run_audit("adap-ucb", epsilon=1.0, plays=1000, workers=1),
        dp.figure("ftpl-new-cdf", progress=False),
    ]
    offered = {name for name in dp.__all__ if isinstance(getattr(dp, name), type)}
    answered = dp.identify("dp-se-identify", epsilon=1, runs=2, **ARMS, progress=False)
    results += [results[1].standings[0], answered, answered.wrong]
    assert {type(result).__name__ for result in results} == offered - {"UserError"}
    for result in (*results, UserError("a line")):
        again = pickle.loads(pickle.dumps(result)), copy.deepcopy(result)
        assert [repr(one) for one in again] == [repr(result)] * 2
    np.testing.assert_array_equal(copy.deepcopy(results[0]).pulls().sum(axis=1), [300] * 4)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(repr, (results,)) == repr(results)


def test_an_audit_reports_its_largest_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    guarantee, limit = Guarantee(Notion.PER_ROUND, 1.0, 0.0, "a paper"), Limit(9.0, 0.0, False)
    losses = [Loss(more, 10, 1000) for more in (900, 500)]
    found = [AuditFinding(guarantee, limit, False, "", "", 1, loss) for loss in losses]
    monkeypatch.setattr(Auditor, "audit", lambda self, games: found)
    assert dp.run_audit("adap-ucb", epsilon=1.0).epsilon == found[0].epsilon


GAME = {"horizon": 100, "runs": 2, "seed": 7, "workers": 1, "epsilon": 1}
AUDIT = {"many_arms": 3, "changed_reward": 1, "seed": 7, "workers": 1}
NUMBERS: list[tuple[str, tuple[Any, ...], dict[str, Any], dict[str, int]]] = [
    ("play", ("dp-exp3-lap",), ARMS, GAME),
    ("compare", (["ucb", "dp-se"],), ARMS, GAME),
    ("budget", ("dp-se",), {}, {"horizon": 100, "arms": 3, "epsilon": 1}),
    ("run_audit", ("adap-ucb",), {"plays": np.int64(1000), "epsilon": 1.0}, AUDIT),
    ("lower_bound", (), ARMS, {"horizon": 100, "epsilon": 1}),
]


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.array])
@pytest.mark.parametrize(("name", "arguments", "game", "numbers"), NUMBERS)
def test_numbers_of_numpy_are_numbers(
    name: str, arguments: Any, game: dict[str, Any], numbers: dict[str, int], kind: Any
) -> None:
    function = getattr(dp, name)
    expected = repr(function(*arguments, **game, **numbers))
    of_numpy = {key: kind(value) for key, value in numbers.items()}
    assert repr(function(*arguments, **game, **of_numpy)) == expected


def test_means_budgets_and_algorithms_may_be_any_sequence() -> None:
    game: dict[str, Any] = {"horizon": 100, "runs": 2, "progress": False}
    kinds: list[Any] = [np.array, pandas.Series, iter]
    expected = repr(dp.compare(["ucb", "dp-se"], epsilon=[0.5, 1], means=[0.5, 0.75], **game))
    for kind in kinds:
        algorithms, budgets, means = kind(["ucb", "dp-se"]), kind([0.5, 1]), kind([0.5, 0.75])
        assert repr(dp.compare(algorithms, epsilon=budgets, means=means, **game)) == expected
    assert dp.lower_bound(means=iter([0.5, 0.75]), horizon=pandas.Series([9, 99])).shape == (2,)


def test_a_result_tells_what_was_pulled_and_received() -> None:
    played = dp.play("ucb", **SMALL)
    pulls = played.pulls()
    assert pulls.sum(axis=1).tolist() == [300] * 4
    np.testing.assert_allclose(pulls @ [0.0, 0.4], played.regret[:, -1])
    arms, rewards = played.record(run=2)
    assert (arms.dtype, arms.shape, rewards.shape) == (np.dtype(np.int64), (300,), (300,))
    assert {*arms[:2]} == {0, 1} == {*rewards}
    assert rewards[arms == 0].mean() > rewards[arms == 1].mean()

    def first(params: Any, bandit: Any, rng: Any) -> None:
        pull_many(bandit, 0, rounds_left(bandit))

    def second(params: Any, bandit: Any, rng: Any) -> None:
        pull_many(bandit, 1, rounds_left(bandit))

    first.__name__ = second.__name__ = "changing"
    played = dp.play(first, **SMALL)
    assert played.pulls().tolist() == [[300, 0]] * 4
    assert played.record()[0].tolist() == [0] * 300
    dp.play(second, **SMALL)
    with pytest.raises(dp.UserError, match="changing has changed since"):
        played.pulls()


def test_an_interval_is_that_of_student() -> None:
    played = dp.play("uniform", **SMALL)
    final = played.regret[:, -1]
    ends = scipy.stats.t.interval(0.9, 3, final.mean(), scipy.stats.sem(final))
    np.testing.assert_allclose(played.interval(0.9)[:, -1], ends)
    assert np.isnan(dp.play("ucb", **SMALL | {"runs": 1}).interval()).all()


def test_an_environment_may_be_a_path_or_an_object(tmp_path: Path) -> None:
    game: dict[str, Any] = {"horizon": 100, "runs": 2, "progress": False}
    file = tmp_path / "own.yaml"
    for means in ([0.5, 0.9], [0.5, 0.7]):  # also after an edit
        file.write_text(f"family: bernoulli\nmeans: {means}\n")
        expected = dp.play("ucb", means=means, **game)
        for path in (file, str(file)):
            np.testing.assert_array_equal(
                dp.play("ucb", environment=path, **game).regret, expected.regret
            )
    constants = SimpleNamespace(Params=bernoulli.Params, arms=bernoulli.arms, law=bernoulli.law)
    found = dp.play("ucb", environment={"family": constants, "means": [0.5, 0.9]}, **game)
    assert "key" not in found.provenance
    assert found.pulls().sum() == 200


def test_a_comparison_is_drawn_on_given_axes_and_written_for_papers_and_notebooks() -> None:
    found = dp.compare(["ucb", "adap-klucb"], epsilon=[0.5, 2], **SMALL)
    figure, axes = matplotlib.pyplot.subplots(1, 2)
    assert found.plot(axes) is figure
    assert [len(ax.get_legend().texts) for ax in axes] == [3, 3]
    with pytest.raises(dp.UserError, match="an axes for each of 2"):
        found.plot(axes[0])
    latex = found.latex()
    assert latex.count(" & ") == 4 * 4  # of the head, UCB once and AdaP-KLUCB at both budgets
    assert r"\toprule" in latex
    end = found.plays["adap-klucb", 2.0].regret[:, -1]
    low, high = scipy.stats.t.interval(0.9, 3, end.mean(), scipy.stats.sem(end))
    cells = re.findall(r"AdaP-KLUCB & \$(\S+) \\pm (\S+)\$", found.latex("confidence", 0.9))[-1]
    numbers = [float(cell.replace("{,}", "")) for cell in cells]
    assert numbers == pytest.approx([end.mean(), (high - low) / 2], rel=0.05)
    bands = found.plot(spread="confidence", level=0.9).axes[1].collections
    tops = [np.max(band.get_paths()[0].vertices, axis=0)[1] for band in bands]
    assert any(top == pytest.approx(high) for top in tops)
    with pytest.raises(dp.UserError, match="unknown spread 'err'; valid"):
        found.plot(spread="err")
    html = found._repr_html_() or ""
    assert html.count("<tr") == 5
    assert found.verdicts[0] in html


LONG = {**SMALL, "horizon": 2000}
LONG.pop("runs")


def standing(
    label: str,
    behind: float,
    is_clear: bool = True,
    error: float = 1.0,
    privacy: str = "global DP",
    claimed: float = 1.0,
) -> Standing:
    """Return the standing of an algorithm of which only the order matters."""
    return Standing(1.0, label, 90.0, error, behind, error, is_clear, privacy, claimed, 1.0)


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
    for played in found.plays.values():
        end, place = played.regret[:, -1], by_label[played.label]
        assert place.regret == pytest.approx(end.mean())
        assert place.error == pytest.approx(end.std(ddof=1) / 20**0.5)


def test_only_algorithms_of_one_definition_of_privacy_and_delta_are_compared() -> None:
    budgets = [("adac-ucb", {"rho": 0.5}), ("dp-ucb-int", {"delta": 1e-3})]
    found = dp.compare([*budgets, "dp-ucb-int", "dp-ucb", "dp-se"], **SMALL)
    names = {place.privacy: place.label for place in found.standings}
    per_round = {f"per-round DP{at}" for at in ("", " at δ = 4.54e-05", " at δ = 0.001")}
    assert {*names} == {"global DP", "zCDP at δ = 1e-06", *per_round}
    assert all(np.isnan(place.behind) and not place.is_clear for place in found.standings)
    assert found.verdicts[0].endswith("of different definitions of privacy are not comparable.")
    assert f"Under global DP: {names['global DP']} ends at" in found.verdicts[0]


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
    ucb = standing("UCB", np.nan, privacy="not private")
    several = [ucb, standing("A", 0.0), standing("B", 9.0)]
    clear = "Under global DP: A has the lowest mean of the 2 algorithms, by more than 3 standard"
    assert verdict(several, 20) == f"{clear} errors of the differences of runs."
    undecided = verdict([*several[1:], standing("C", 2.0, False)], 20)
    assert undecided.endswith("of the 3 algorithms, but it is undecided against C.")
    assert verdict(several[1:2], 20) == "A ends at a mean regret of 90 (1)."
    assert verdict([ucb], 20).startswith("UCB ends at")


def test_a_verdict_of_few_equal_or_unequally_private_runs_says_so() -> None:
    single = [standing("A", 0.0, False, np.nan), standing("B", 9.0, False, np.nan)]
    assert "nothing is decided: one run has no standard error" in verdict(single, 1)
    few = verdict([standing("A", 0.0), standing("B", 9.0)], 2)
    assert few.endswith("differences of runs. From 2 runs, standard errors are rough.")
    equal = [standing("A", 0.0, False, 0.0), standing("B", 0.0, False, 0.0)]
    same = "The 2 algorithms have the same regret in every run, 90 on average."
    assert verdict(equal, 20) == same
    other = verdict([standing("A", 0.0, claimed=5.0), standing("B", 9.0)], 20)
    assert "of the 2 algorithms (at different budgets), by more" in other


def test_a_label_has_no_digits_of_rounding() -> None:
    third = 0.1 + 0.2  # 0.30000000000000004
    game: dict[str, Any] = {"means": [0.9, 0.5], "horizon": 100, "runs": 2, "checkpoints": "end"}
    found = dp.compare([("adap-ucb", {"alpha": third}), "ucb"], progress=False, **game)
    assert {place.label for place in found.standings} == {"AdaP-UCB (alpha=0.3)", "UCB"}
