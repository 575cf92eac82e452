"""Order of a comparison: differences run by run, and the verdict on them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpbandits as dp
from dpbandits.api.plays import Standing, verdict
from dpbandits.core.bandit import pull_many, rounds_left

SMALL: dict[str, Any] = {"means": [0.9, 0.5], "horizon": 2000, "seed": 1, "progress": False}


def standing(label: str, behind: float, is_clear: bool, error: float = 1.0) -> Standing:
    """Return the standing of an algorithm of which only the order matters."""
    privacy = "not private" if np.isnan(behind) else "global DP"
    return Standing(1.0, label, 90.0, error, behind, error, is_clear, privacy, 1.0, 1.0, 10**6)


@pytest.mark.usefixtures("checkout")
def test_the_order_is_that_of_the_differences_in_the_same_run() -> None:
    found = dp.compare(["ucb", "dp-se", "adap-klucb"], runs=20, **SMALL)
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


@pytest.mark.usefixtures("checkout")
def test_runs_that_are_equal_or_single_decide_nothing() -> None:
    found = dp.compare(["uniform", ("adap-ucb", {"alpha": 3.1})], runs=1, **SMALL)
    assert not any(each.is_clear for each in found.standings)
    pair = [("adap-ucb", {"alpha": 3.1}), "adap-ucb"]
    twice = dp.compare(pair, runs=5, **SMALL).standings
    assert [each.behind for each in twice] == [0.0, 0.0]
    assert not any(each.is_clear for each in twice)


@pytest.mark.usefixtures("checkout")
def test_differences_without_any_spread_decide_nothing() -> None:
    def pulling(arm: int) -> SimpleNamespace:
        def play(params: Any, bandit: Any, rng: Any) -> None:
            pull_many(bandit, arm, rounds_left(bandit))

        return SimpleNamespace(LABEL=f"Arm {arm}", play=play)

    found = dp.compare([pulling(0), pulling(1)], epsilon=None, runs=5, **SMALL)
    assert [(each.label, each.is_clear) for each in found.standings] == [
        ("Arm 0", False),
        ("Arm 1", False),
    ]
    assert found.standings[1].behind == pytest.approx(800.0)


def test_a_verdict_names_the_lowest_and_those_that_are_not_clearly_behind() -> None:
    several = [standing("UCB", np.nan, False), standing("A", 0.0, False), standing("B", 9.0, True)]
    assert verdict(several).startswith("A has the lowest mean of the 2 private algorithms, by more")
    undecided = verdict([*several, standing("C", 2.0, False)])
    assert undecided.endswith("the 3 private algorithms, but it is undecided against C.")
    assert verdict(several[1:2]) == "A ends at a mean regret of 90 (1)."
    single = [standing("A", 0.0, False, np.nan), standing("B", 9.0, False, np.nan)]
    assert "nothing is decided: one run has no standard error" in verdict(single)
