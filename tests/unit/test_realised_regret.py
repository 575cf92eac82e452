"""Tests of the regret by received rewards (environments/_realised.py)."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.stats import hypergeom

from dpbandits.algorithms import adap_ucb, dp_se, exp3, ucb
from dpbandits.environments import bernoulli, beta
from dpbandits.environments._realised import Realised, realised
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import Regret, RegretExperiment, play_run
from dpbandits.kernel.bandit import new_bandit, pull, pull_each, pull_many, regret

MEANS = (0.75, 0.5, 0.25)


def stream(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def account(seed: int = 1) -> Realised:
    return realised(bernoulli.law(bernoulli.Params(MEANS)), MEANS, stream(seed))


def both(algorithm: str, params: Any) -> list[RegretExperiment]:
    instance = bernoulli.Params(MEANS)
    cell = RegretExperiment(algorithm, params, "bernoulli", instance, 3000, Grid.LINEAR, 3)
    return [dataclasses.replace(cell, regret=regret) for regret in (Regret.PSEUDO, Regret.REALISED)]


def test_the_regret_is_t_times_the_best_mean_minus_the_rewards() -> None:
    bandit = new_bandit(account(), 3, 60, np.arange(1, 61), stream(2))
    earned = 0.0
    for t in range(1, 31):
        earned += pull(bandit, t % 3)
        assert bandit.curve[t - 1] == 0.75 * t - earned
    earned += pull_many(bandit, 0, 20)
    assert bandit.curve[49] == 0.75 * 50 - earned
    earned += pull_each(bandit, np.array([1, 2]), 5).sum()
    assert bandit.curve[59] == 0.75 * 60 - earned


def test_within_a_sum_the_regret_is_that_of_rewards_0_or_1() -> None:
    bandit = new_bandit(account(), 3, 400, np.arange(1, 401), stream(2))
    pull_many(bandit, 1, 200)
    pull_each(bandit, np.array([0, 2]), 100)
    steps = 0.75 - np.diff(bandit.curve, prepend=0.0)
    assert set(np.round(steps, 9)) == {0.0, 1.0}


@pytest.mark.parametrize("ones", [0, 3, 7, 12])
def test_the_first_rewards_of_a_sum_are_hypergeometric(ones: int) -> None:
    part, n, games = 5, 12, 4000
    counts = np.zeros(part + 1)
    for game in range(games):
        law = account(game)
        law.drawn[0], law.waiting[0] = n, float(ones)
        bandit = new_bandit(law, 3, n, np.array([part, n]), stream(0))
        bandit.pulls[0] = part
        counts[int(0.75 * part - regret(law, bandit.pulls))] += 1
    chances = hypergeom(n, ones, part).pmf(np.arange(part + 1))
    errors = np.sqrt(games * chances * (1 - chances))
    assert (np.abs(counts - games * chances) <= 4 * errors + 1e-9).all()


@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("dp-se", dp_se.Params(1.0, 3000)),
        ("adap-ucb", adap_ucb.Params(1.0)),
        ("exp3", exp3.Params(3000)),
        ("ucb", ucb.Params()),
    ],
)
def test_the_game_is_that_of_the_pseudo_regret(algorithm: str, params: Any) -> None:
    plain, rewards = both(algorithm, params)
    for run in range(3):
        one, other = play_run(plain, run), play_run(rewards, run)
        assert one.pulls.tolist() == other.pulls.tolist()
        assert one.curve.tolist() != other.curve.tolist()
        assert other.law.drawn.tolist() == one.pulls.tolist()


def test_both_regrets_have_one_mean_and_the_rewards_their_own_spread() -> None:
    cells = both("dp-se", dp_se.Params(1.0, 3000))
    plain, rewards = (of.play(range(2000))[0] for of in cells)
    apart = rewards - plain
    error = apart.std(axis=0) / np.sqrt(len(apart))
    assert (np.abs(apart.mean(axis=0)) <= 4.5 * error).all()
    # the rewards of an arm of mean mu have variance mu (1 - mu)
    variance = apart[:, -1].var()
    assert 1.1 * variance > 0.1875 * 3000
    assert variance < 1.1 * 0.25 * 3000


def test_rewards_between_0_and_1_are_accounted_for_one_by_one() -> None:
    instance = beta.Params(MEANS)
    law = realised(beta.law(instance), MEANS, stream(1))
    bandit = new_bandit(law, 3, 50, np.arange(1, 51), stream(2))
    earned = pull_many(bandit, 0, 50)
    assert bandit.curve[-1] == pytest.approx(0.75 * 50 - earned, abs=1e-12)
