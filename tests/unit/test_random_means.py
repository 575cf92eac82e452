"""Instances whose means are drawn for every run."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from dpbandits.algorithms import ucb, uniform
from dpbandits.config import compose, instances
from dpbandits.environments import random_means
from dpbandits.experiments import kinds
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import Regret, RegretExperiment, play_run
from dpbandits.kernel.errors import UserError

INSTANCE = random_means.Params(3, 0.2, 0.8)
PLAYED = RegretExperiment("ucb", ucb.Params(), "random-means", INSTANCE, 60, Grid.END, 5)


def test_all_algorithms_and_horizons_of_a_run_have_its_means_and_runs_have_their_own() -> None:
    others = [
        replace(PLAYED, horizon=90),
        replace(PLAYED, regret=Regret.REALISED),
        replace(PLAYED, member="uniform", params=uniform.Params()),
    ]
    laws: list[Any] = [play_run(played, 3).law for played in (PLAYED, *others)]
    means = [getattr(law, "law", law).means for law in laws]
    assert np.ptp(means, axis=0).max() == 0.0
    assert laws[2].best == means[0].max()
    assert np.all(np.abs(play_run(PLAYED, 4).law.means - means[0]) > 1e-6)
    assert kinds.words(PLAYED).later == ("horizon",)


def test_the_regret_of_a_run_has_the_law_of_a_plain_game_with_drawn_means() -> None:
    rng, runs, arms, horizon = np.random.default_rng(1), 3000, 3, 60
    played = replace(PLAYED, member="uniform", params=uniform.Params())
    plain = []
    for _ in range(runs):
        means = [rng.uniform(0.2, 0.8) for _ in range(arms)]
        regret = 0.0
        for _ in range(horizon):
            regret += max(means) - means[rng.integers(arms)]
        plain.append(regret)
    found = played.play(range(runs))[0][:, 0]
    assert ks_2samp(found, plain).pvalue > 1e-3
    assert (
        found.max()
        <= kinds.of(played).most(played, {"horizon": horizon})
        == pytest.approx(0.6 * horizon)
    )


def test_a_caption_says_that_means_are_drawn_and_a_bound_that_needs_them_is_refused() -> None:
    text = "K = 3, Bernoulli arms, means drawn uniformly in [0.2, 0.8] for every run"
    assert instances.description("random-means", INSTANCE) == text
    game = "figure.environment={family: random-means, arms: 3}"
    bound = "++figure.curves.lb={bound: azize2022.problem_dependent_lower_bound}"
    with pytest.raises(UserError, match=r"adap-c2: figure\.curves\.lb needs means"):
        compose.load("adap-c2", [game, bound])
