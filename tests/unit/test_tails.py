"""Quantities of the worst runs: shares of lost runs, and the regret of the worst hundredth."""

import numpy as np
import pytest
from composed import load

from dpbandits.algorithms import ucb
from dpbandits.environments import bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import LOST, WORST, RegretExperiment
from dpbandits.kernel.errors import UserError

pytestmark = pytest.mark.usefixtures("in_checkout")
TWO = RegretExperiment(
    "ucb", ucb.Params(), "bernoulli", bernoulli.Params((0.75, 0.65)), 1000, Grid.END, 1
)


def observed(shows: str, regret: np.ndarray) -> np.ndarray:
    return TWO.observe(shows, lambda rounds: regret[:, None])


def test_a_run_is_lost_from_the_regret_of_half_of_its_rounds_on_the_second_best_arm() -> None:
    regret = np.array([0.0, 49.9, 50.1, 100.0])
    assert observed(LOST, regret).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("runs", [100, 1000, 1700])
def test_the_mean_is_the_conditional_value_at_risk(runs: int) -> None:
    regret = np.random.default_rng(runs).pareto(2.0, runs)
    worst = np.sort(regret)[-(runs // 100) :]
    assert observed(WORST, regret).mean() == pytest.approx(worst.mean())


def test_its_error_is_that_of_repeated_samples() -> None:
    rng = np.random.default_rng(5)
    samples = [observed(WORST, rng.exponential(size=2000)) for _ in range(400)]
    errors = [sample.std() / np.sqrt(2000) for sample in samples]
    assert np.mean(errors) == pytest.approx(np.std([s.mean() for s in samples]), rel=0.15)


def test_a_share_of_lost_runs_needs_arms_with_means() -> None:
    with pytest.raises(UserError, match="is for arms with means, not random-means"):
        load("equal-privacy", ["+figure.panels.a.shows=lost"])
