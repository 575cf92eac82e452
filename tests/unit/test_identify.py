"""Identification in Python and on the command line: results, the cache, and errors of one line."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pytest
import scipy.stats
from complaints import called, complaint
from matplotlib import pyplot

import dpbandits as dp
from dpbandits.algorithms import uniform
from dpbandits.environments import bernoulli
from dpbandits.experiments.identification import IdentificationExperiment
from dpbandits.kernel.answers import UNDECIDED, answer
from dpbandits.kernel.bandit import pull_each, pull_many, rounds_left
from dpbandits.kernel.compilation import kernel
from dpbandits.run import user_algorithms
from dpbandits.tables.series import parsed

NAME = "dp-se-identify"
SMALL: dict[str, Any] = {"means": [0.5, 0.9], "epsilon": 1, "runs": 4, "progress": False}
FIGURE = """
paper: across
title: Times
draw: stopping_times
runs: 3
limit: 400
centre: median
spread: quartiles
environment: { family: bernoulli, means: [0.5, 0.9] }
sweep: { key: epsilon, values: [0.5, 1] }
curves:
  dp-se-identify: { algorithm: dp-se-identify, risk: 0.05 }
panels:
  a: { shows: stopping-time }
  b: { shows: undecided }
"""


@pytest.fixture(autouse=True)
def _in_copy(checkout: Path) -> Iterator[None]:
    """Work in a copy of the checkout, and draw without a screen."""
    before = matplotlib.get_backend()
    matplotlib.use("agg")
    yield
    pyplot.close("all")
    matplotlib.use(before)


@kernel
def lot(params: Any, bandit: Any, rng: Any) -> None:
    """Answer with a random arm after four rounds, or play on to the limit."""
    pull_each(bandit, np.arange(2), 2)
    chosen = rng.integers(0, 3)
    if chosen < 2:
        answer(bandit, chosen)
    else:
        pull_many(bandit, 0, rounds_left(bandit))


class Lot:
    """An algorithm of a notebook that is wrong, right or undecided, each in a third of the runs."""

    LABEL, KIND, play = "Lot", "identification", staticmethod(lot)

    class Params(NamedTuple):
        """None."""


@pytest.mark.parametrize(("answers", "marked"), [([2], 0), ([3], 3), ([-1], 3), ([0, 1], 3)])
def test_no_such_arm_or_a_second_answer_marks_the_game(answers: list[int], marked: int) -> None:
    bandit = SimpleNamespace(
        pulls=np.zeros(3, int), clock=np.zeros(3, int), answer=np.array([UNDECIDED])
    )
    for arm in answers:
        getattr(answer, "py_func", answer)(bandit, arm)
    assert bandit.clock[2] == marked
    assert bandit.answer[0] == (answers[0] if 0 <= answers[0] < 3 else UNDECIDED)


def test_an_answer_is_wrong_if_its_arm_has_a_gap() -> None:
    experiment = IdentificationExperiment(
        *("uniform", uniform.Params(), "bernoulli", bernoulli.Params((0.5, 0.9, 0.3))),
        *(100, 1),
    )
    answers = np.array([0.0, 1, 2, UNDECIDED])[:, None]
    assert experiment.observe("wrong", lambda columns: answers).tolist() == [1, 0, 1, 0]
    assert experiment.observe("undecided", lambda columns: answers).tolist() == [0, 0, 0, 1]


def test_a_result_has_the_times_answers_and_pulls_of_all_runs() -> None:
    found = dp.identify(NAME, **SMALL)
    assert found.answers.tolist() == [1] * 4
    assert (found.best, found.computed, found.limit) == (1, 4, 1_000_000)
    np.testing.assert_array_equal(found.pulls().sum(axis=1), found.rounds)
    assert found.median == np.median(found.rounds)
    assert found.budget is not None
    assert (found.budget.claimed, found.budget.composed, found.budget.delta) == (1.0, 1.0, 0.0)
    assert found.to_frame().rounds.tolist() == found.rounds.tolist()
    assert not found.undecided.count + found.wrong.count
    more = dp.identify(NAME, **SMALL | {"runs": 6})
    assert more.computed == 2
    np.testing.assert_array_equal(more.rounds[:4], found.rounds)
    assert dp.identify(NAME, **SMALL, risk=0.2).median < found.median
    with pytest.raises(ValueError, match="read-only"):
        found.rounds[0] = 1


def test_a_limit_leaves_runs_undecided_and_the_median_is_a_lower_bound() -> None:
    found = dp.identify(NAME, **SMALL, limit=100)
    assert found.answers.tolist() == [-1] * 4
    assert found.rounds.tolist() == [100] * 4
    assert "median ≥ 100, undecided 100 %" in repr(found)
    assert [*np.ravel(found.plot().get_lines()[0].get_ydata())] == [0.0]


def test_shares_of_an_algorithm_of_a_notebook_have_exact_intervals() -> None:
    found = dp.identify(Lot, means=[0.9, 0.5], runs=90, limit=10, progress=False)
    counts = np.bincount(found.answers + 1)
    assert (found.undecided.count, found.wrong.count) == (counts[0], counts[2])
    assert all(counts > 10)
    for level in (0.95, 0.99):
        exact = scipy.stats.binomtest(int(counts[2]), 90).proportion_ci(level)
        assert found.wrong.interval(level) == pytest.approx((exact.low, exact.high))
    assert dp.Share(0, 30).interval()[0] == 0
    assert dp.Share(30, 30).interval()[1] == 1
    assert float(found.wrong) == counts[2] / 90
    ends = np.array(found.plot().get_lines()[0].get_xydata())
    assert ends[-1] == pytest.approx([10, 1 - counts[0] / 90])
    with pytest.raises(dp.UserError, match=r"lot identifies the best arm.*dpbandits\.identify"):
        dp.play(Lot, means=[0.9, 0.5], horizon=10)


def test_without_phases_every_pull_is_completed() -> None:
    name, instance = user_algorithms.register(Lot), bernoulli.Params((0.9, 0.5))
    experiment = IdentificationExperiment(name, Lot.Params(), "bernoulli", instance, 10, 1)
    values, _ = experiment.play(range(30))
    assert len({*values[:, 0]}) == 2  # answered, and undecided
    np.testing.assert_array_equal(values[:, 2], values[:, 0])


BAD: list[tuple[str, Any, dict[str, Any], str]] = [
    ("identify", NAME, {"risk": 1}, r"risk must be inside \(0, 1\), got 1"),
    ("identify", NAME, {"risk": 0}, r"risk must be inside \(0, 1\), got 0"),
    ("identify", NAME, {"means": [0.5, 0.5]}, "a unique best arm, but arms 1, 2 of bernoulli"),
    ("identify", NAME, {"limit": 1}, "limit must be at least 2, the number of arms"),
    ("identify", NAME, {"delta": 0.1}, "the chance of a wrong answer is risk, such as risk=0.1"),
    ("identify", NAME, {"means": [0.5, 2]}, r"means in \[0, 1\]"),
    ("identify", NAME, {"horizon": 100}, "undecided at limit: there is no horizon"),
    ("identify", NAME, {"epsilon": None}, "epsilon is missing"),
    ("identify", "ucb", {}, r"ucb plays for regret and gives no answer: dpbandits\.play"),
    ("identify", "nas", {}, "rules and bounds play no arms"),
    ("identify", "adap-t", {}, "unknown algorithm 'adap-t'; did you mean 'adap-tt'"),
    ("play", NAME, {"horizon": 100}, r"has no regret: dpbandits\.identify plays it"),
    ("compare", [NAME], {"horizon": 100}, r"has no regret: dpbandits\.identify plays it"),
    ("budget", NAME, {"means": 3, "delta": 0.1}, "the chance of a wrong answer is risk"),
]


@pytest.mark.parametrize(("name", "algorithm", "changes", "problem"), BAD)
def test_a_mistake_is_an_error_of_one_line(
    name: str, algorithm: Any, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(dp.UserError, match=problem) as caught:
        getattr(dp, name)(algorithm, **SMALL | changes)
    assert "\n" not in str(caught.value)
    assert not Path("cache").exists()


def test_a_comparison_has_medians_shares_and_budgets() -> None:
    words = NAME, f"{NAME}.passes=ceil,floor", "means=0.9,0.5", "runs=6", "risk=0.05", "limit=1479"
    done = called("compare", *words, "epsilon=0.5,1", "--csv", "--latex")
    assert done.status == 0, done.err
    assert "epsilon = 0.5, limit = 1,479, 6 runs" in done.out
    (file,) = Path("out/compare").glob("*/*-table.csv")
    rows = {(r["epsilon"], r["algorithm"]): r for r in parsed(file.read_bytes())}
    assert len(rows) == 4
    answered, cut = (rows["1", f"DP-SE (passes={p})"] for p in ("floor", "ceil"))
    assert (answered["mean"], answered["undecided"], answered["composed epsilon"]) == (
        *("1478.0", "0.0"),
        "1",
    )
    assert (cut["mean"], cut["undecided"], cut["median"]) == ("", "1.0", "1479.0")
    assert re.search(r"≥ 1,479 +≥ 1,479 to (≥ )?.*100 % \(54\.1 to", done.out)
    assert "are undecided at the limit of 1,479 rounds" in " ".join(
        file.with_name(file.name.replace("-table.csv", ".txt")).read_text("utf-8").split()
    )
    assert r"$\geq$ 1,479" in file.with_suffix(".tex").read_text("utf-8")


TYPED = [
    (("ucb", "horizon=50"), "ucb plays for regret and gives no answer: compare them in two"),
    (("delta=0.1",), "the chance of a wrong answer is risk: risk=<value>"),
    (("horizon=100",), "undecided at limit: limit=<rounds>"),
    (("risk=1.5",), "risk must be inside (0, 1), got 1.5"),
    (("limit=1",), "limit must be at least 2, the number of arms"),
    (("centre=mean",), "runs without an answer have no stopping time"),
    ((f"{NAME}.delta=0.1",), "the chance of a wrong answer is risk"),
]


@pytest.mark.parametrize(("words", "problem"), TYPED)
def test_a_mistake_of_a_command_is_one_line(words: tuple[str, ...], problem: str) -> None:
    done = called("compare", NAME, "means=0.9,0.5", "runs=2", *words)
    assert done.status != 0
    assert problem in done.err
    assert done.err.count("\n") == 1


def test_regret_and_stopping_times_share_no_panel() -> None:
    curve = f"+algorithm@figure.curves.x={NAME}"
    assert "stopping-time, of kind identification, is drawn over a sweep" in complaint(
        "adap-c2", [curve]
    )
    over_arms = complaint("adap-ksweep", [curve, "++figure.curves.x.limit=1000"])
    assert "stopping-time is not drawn beside the regret of" in over_arms
    Path("conf/figure/times.yaml").write_text(FIGURE)
    shown = complaint("times", ["figure.panels.a.shows=regret"])
    assert f"regret is not for {NAME}, of kind identification" in shown
    path = f"figure.curves.{NAME}"
    assert "chance of a wrong answer" in complaint("times", [f"++{path}.delta=0.1"])


def test_a_limit_that_was_reached_is_in_caption_sidecar_and_the_line_of_the_command() -> None:
    Path("conf/figure/times.yaml").write_text(FIGURE)
    done = called("run", "times", "profile=paper")
    words = "all runs are undecided at the limit of 400 rounds"
    assert words in done.out.splitlines()[-1], done
    for ending in ("txt", "json"):
        content = Path(f"out/times/times.{ending}").read_text("utf-8")
        assert words in " ".join(content.split()), content
    found = dp.figure("times", "profile=paper", "figure.limit=100_000")
    assert "undecided at the limit" not in found.caption
    rows = parsed(found.files["csv"].read_bytes())
    assert all(float(row["median"]) < 100_000 for row in rows)


def test_a_multirun_sweeps_a_figure_of_the_kind() -> None:
    Path("conf/figure/times.yaml").write_text(FIGURE)
    done = called("multirun", "figure=times", "figure.limit=400,2000")
    assert done.status == 0, done.err
    (table,) = Path("out/multirun/times").glob("*.csv")
    rows = parsed(table.read_bytes())
    ends = {(r["figure.limit"], r["panel"]): float(r["centre"]) for r in rows if r["x"] == "1"}
    assert ends["400", "a"] == float("inf")  # undecided runs have no stopping time
    assert ends["400", "b"] == 1
    assert 400 < ends["2000", "a"] < 2000
    assert ends["2000", "b"] == 0
