"""KL-UCB on extreme means, Private-UCB, DP-UCB-BOUND and SE where the oracles do not go."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import dp_ucb_bound, klucb, private_ucb, se
from dpbandits.algorithms.private_ucb import Decay, Relaxation, Split
from dpbandits.core.bandit import Bandit, new_bandit, playing, pull, rounds_played
from dpbandits.core.kl import bernoulli_kl_upper
from dpbandits.environments import bernoulli


def bandit_of(means: tuple[float, ...], horizon: int, per_round: bool = True) -> Bandit:
    rng = np.random.Generator(np.random.PCG64(1))
    law = bernoulli.law(bernoulli.Params(means))
    return new_bandit(law, len(means), horizon, np.array([horizon]), rng, per_round)


def generator() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(2))


@pytest.mark.parametrize(
    "means",
    [(1.0, 0.98, 0.0), (0.0, 0.0, 0.0), (0.999, 0.9999), tuple(np.linspace(0.1, 0.8, 40))],
    ids=lambda means: f"{len(means)} arms from {means[0]}",
)
def test_klucb_pulls_the_arm_whose_inverse_is_largest(means: tuple[float, ...]) -> None:
    ours, literal = (bandit_of(means, 3000) for _ in range(2))
    klucb.play(klucb.Params(), ours, generator())
    rewards: list[list[float]] = [[] for _ in means]
    while playing(literal):
        t = int(rounds_played(literal)) + 1
        arm = t - 1
        if t > len(means):
            n = [len(own) for own in rewards]
            index = [
                bernoulli_kl_upper(sum(own) / k, math.log(t) / k)
                for own, k in zip(rewards, n, strict=True)
            ]
            arm = index.index(max(index))
        rewards[arm].append(pull(literal, arm))
    assert ours.pulls.tolist() == literal.pulls.tolist()


def test_se_compares_rarely() -> None:
    # Two equal arms over 10^9 rounds: a comparison after each of 5 10^8 passes would take a minute.
    bandit = bandit_of((0.5, 0.5), 10**9, per_round=False)
    steps, rng = 0, generator()

    class Counting:
        """Generator of the rewards; a step draws the sum of every viable arm once."""

        def binomial(self, n: int, p: float) -> float:
            nonlocal steps
            steps += 1
            return float(rng.binomial(n, p))

    counting: Any = Counting()
    play: Any = getattr(se.play, "py_func", se.play)
    play(se.Params(10**9), bandit._replace(rng=counting), generator())
    assert bandit.pulls.tolist() == [5 * 10**8, 5 * 10**8]
    assert steps < 20_000


def test_the_readings_of_private_ucb_differ() -> None:
    pulls: dict[tuple[Relaxation, Split], set[int]] = {}
    for decay, split, relaxation in itertools.product(Decay, Split, Relaxation):
        bandit = bandit_of((0.9, 0.6), 3000)
        params = private_ucb.Params(50.0, 3000, 0.1, decay, split, relaxation)
        private_ucb.play(params, bandit, generator())
        pulls.setdefault((relaxation, split), set()).add(int(bandit.pulls[0]))
    for relaxation, split in itertools.product((Relaxation.ON, Relaxation.CSS), Split):
        assert len(pulls[relaxation, split]) == len(Decay)
    # Without a relaxation there is no failure probability; only the noise remains.
    off = [pulls[Relaxation.OFF, split] for split in Split]
    assert len(set.union(*off)) == len(Split) == sum(map(len, off))


@pytest.mark.parametrize("horizon", [1, 2, 3, 10**7])
def test_the_relaxation_of_private_ucb_is_that_by_hand_and_never_negative(horizon: int) -> None:
    for relaxation in Relaxation:
        params = private_ucb.Params(1.0, horizon, relaxation=relaxation)
        start, growth = private_ucb.relaxation(params, 5)
        assert start >= 0.0
        if relaxation is Relaxation.ON and horizon == 10**7:
            # gamma = 0.1, epsilon = 1: 5 (16.118)^2 log(5 10^8 16.118).
            assert start == pytest.approx(5 * 259.7930 * 22.8102, rel=1e-5)
            assert growth == 0.0


def test_the_smaller_nu_at_a_power_of_two_parks_an_arm_there() -> None:
    # n of every other arm stays at a power of two until the bonus of the best arm is as small.
    bandit = bandit_of((0.9, 0.6), 100_000)
    dp_ucb_bound.play(dp_ucb_bound.Params(1.0), bandit, generator())
    assert int(bandit.pulls[1]).bit_count() == 1
