"""Verdicts of a comparison: runs that would decide, and outcomes that no run has shown."""

import numpy as np
import pytest

from dpbandits.api import unseen
from dpbandits.api.budgets import Budget
from dpbandits.api.standings import Standing, is_clearly_lower
from dpbandits.api.verdict import verdict


def standing(
    label: str, regret: float, error: float, *, runs: int = 50, outcomes: int = 50,
    undeclared: bool = False, private: bool = True,
) -> Standing:  # fmt: skip
    """Return the standing of an algorithm whose worst run has a regret of 125,000."""
    low, high = unseen.possible_means(regret, outcomes, runs, 125_000.0)
    return Standing(
        epsilon=2.0, label=label, regret=regret, error=error, std=error * runs**0.5, runs=runs,
        rank=1.0, best=1.0, worst=2.0, factor=1.0, undeclared=undeclared, horizon=10**6,
        budget=Budget(2.0, 2.0, 0.0, "global DP", "a test") if private else None,
        outcomes=outcomes, largest=125_000.0, low=low, high=high,
    )  # fmt: skip


def test_the_runs_that_would_decide_are_more_than_those_played() -> None:
    text = verdict([standing("A", 698, 13.9), standing("B", 3019, 914)])
    assert "undecided against B: less than 3 standard errors apart" in text
    assert "about 70 runs would decide" in text
    few = [standing("A", 698, 49, runs=4), standing("B", 3019, 914, runs=4)]
    assert "about 6 runs would decide" in verdict(few)


def test_runs_that_end_alike_do_not_decide() -> None:
    alike = standing("DP-LogETC", 125, 0, outcomes=1)
    other = standing("AdaP-KLUCB", 916, 23.5)
    assert not is_clearly_lower(alike, other)
    assert (
        "undecided against AdaP-KLUCB: all 50 runs of DP-LogETC end alike: an outcome of less than"
        " 6 % may not have been seen and could cost up to 125,000."
    ) in verdict([alike, other])
    many = standing("DP-LogETC", 125, 0, outcomes=1, runs=5000)  # 3/5000 of 125,000 is 75
    assert is_clearly_lower(many, other)
    assert "decided, 33.7 standard errors apart" in verdict([many, other])


def test_a_rival_whose_runs_end_alike_could_be_the_lower_one() -> None:
    best, rival = standing("A", 125, 1), standing("B", 130, 0, outcomes=2)
    assert "all 50 runs of B end in 2 values" in verdict([best, rival])
    assert "could cost nothing" in verdict([best, rival])
    assert is_clearly_lower(best, standing("B", 150, 0, outcomes=2))


def test_an_unseen_outcome_moves_a_mean_by_the_rule_of_three() -> None:
    assert unseen.possible_means(100.0, 1, 50, 1100.0) == pytest.approx((94.0, 160.0))
    assert unseen.possible_means(100.0, 6, 50, 1100.0) == (100.0, 100.0)
    assert unseen.possible_means(100.0, 5, 50, 1100.0)[1] > 100.0  # a tenth counts as few
    assert unseen.possible_means(100.0, 1, 5, 1100.0) == pytest.approx((40.0, 700.0))
    assert unseen.possible_means(100.0, 1, 2, 1100.0) == pytest.approx((0.0, 1100.0))
    assert unseen.possible_means(1100.0, 1, 50, 1100.0)[1] == 1100.0
    for runs in (4, 10, 50, 10**6):
        assert (1 - unseen.probability(runs)) ** runs <= 0.05
    assert unseen.outcomes(np.array([2.0, 1.0, 2.0])) == 2


def test_algorithms_without_a_declaration_are_not_called_free_of_privacy() -> None:
    own = standing("Own", 90, 1, private=False, undeclared=True)
    text = verdict([own, standing("A", 100, 1), standing("UCB", 40, 1, private=False)])
    assert "Without privacy: UCB 40 (1). Privacy not declared: Own 90 (1)." in text
