"""Policies against literal versions of their descriptions.

KL-UCB, Private-UCB, DP-UCB-BOUND and DP-UCB; also SE, whose comparisons are counted.

Each literal version recomputes everything in every round, from all rewards. It plays in plain
Python on the same streams, so that a single different choice changes the pulls.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import dp_ucb, dp_ucb_bound, klucb, private_ucb, se
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.algorithms.dp_ucb_bound import PowerOfTwo
from dpbandits.algorithms.private_ucb import Decay, Relaxation, Split
from dpbandits.core.bandit import Bandit, new_bandit, playing, pull, rounds_played
from dpbandits.core.kl import bernoulli_kl_upper
from dpbandits.environments import bernoulli, beta


def a_bandit(means: tuple[float, ...], horizon: int, run: int = 0, law: Any = None) -> Bandit:
    rng = np.random.Generator(np.random.PCG64([1, run]))
    law = law or bernoulli.law(bernoulli.Params(means))
    # Drawn one by one, in the order of the pulls: the same rewards for both versions.
    return new_bandit(law, len(means), horizon, np.array([horizon]), rng, True)


def generator(run: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([2, run]))


def choices(bandit: Bandit, choose: Callable[[int, list[list[float]]], int]) -> list[list[float]]:
    """Play to the end by a rule of t and all rewards; return the rewards of every arm."""
    rewards: list[list[float]] = [[] for _ in bandit.pulls]
    while playing(bandit):
        arm = choose(int(rounds_played(bandit)) + 1, rewards)
        rewards[arm].append(pull(bandit, arm))
    return rewards


MEANS = [(0.6, 0.5, 0.3), (0.5, 0.5, 0.5, 0.5), (0.05, 0.9)]


def test_se_compares_rarely() -> None:
    # Two equal arms over 10^9 rounds: a comparison after each of 5 10^8 passes would take a minute.
    bandit = a_bandit((0.5, 0.5), 10**9)._replace(per_round=False)
    steps = 0

    class Counting:
        """Generator of the rewards; a step draws the sum of every viable arm once."""

        def binomial(self, n: int, p: float) -> float:
            nonlocal steps
            steps += 1
            return float(rng.binomial(n, p))

    rng = generator()
    counting: Any = Counting()
    play: Any = getattr(se.play, "py_func", se.play)
    play(se.Params(10**9), bandit._replace(rng=counting), generator())
    assert bandit.pulls.tolist() == [5 * 10**8, 5 * 10**8]
    assert steps < 20_000


# KL-UCB ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "means",
    [*MEANS, (1.0, 0.98, 0.0), (0.0, 0.0, 0.0), (0.999, 0.9999), tuple(np.linspace(0.1, 0.8, 40))],
    ids=lambda means: f"{len(means)} arms from {means[0]}",
)
def test_klucb_pulls_the_arm_whose_inverse_is_largest(means: tuple[float, ...]) -> None:
    def choose(t: int, rewards: list[list[float]]) -> int:
        if t <= len(means):
            return t - 1
        level = math.log(t)
        index = [bernoulli_kl_upper(sum(own) / len(own), level / len(own)) for own in rewards]
        return index.index(max(index))

    laws: list[Any] = [bernoulli.law(bernoulli.Params(means))]
    if min(means) > 0.0 and max(means) < 1.0:
        laws.append(beta.law(beta.Params(means, 1.5)))
    for law, run in itertools.product(laws, range(3)):
        ours, literal = (a_bandit(means, 3000, run, law) for _ in range(2))
        klucb.play(klucb.Params(), ours, generator())
        choices(literal, choose)
        assert ours.pulls.tolist() == literal.pulls.tolist()


# Private-UCB -------------------------------------------------------------------------------------


def nodes(n: int) -> Iterator[int]:
    """Yield the items that completed the nodes of the sum of n items: n without its low bits."""
    return itertools.takewhile(
        bool, itertools.accumulate(itertools.repeat(n), lambda c, _: c & (c - 1))
    )


def literal_private_ucb(params: private_ucb.Params, bandit: Bandit, rng: Any) -> None:
    """Play Private-UCB with the index as the papers print it."""
    arms, horizon, epsilon = len(bandit.pulls), params.horizon, params.epsilon
    levels = math.floor(math.log2(horizon)) + 1
    shared = params.split is Split.ARMS
    noises: list[list[float]] = [[] for _ in range(arms)]  # of the node that each item completed

    def gamma(t: int) -> float:
        return {
            Decay.NONE: params.gamma,
            Decay.HORIZON: params.gamma / horizon,
            Decay.ROUND: params.gamma * t**-4.0,
        }[params.decay]

    def added(n: int, t: int) -> float:
        if params.relaxation is Relaxation.OFF:
            return 0.0
        if params.relaxation is Relaxation.CSS:
            return math.log(1 / gamma(t)) * math.log(n) ** 1.5 / epsilon
        if params.relaxation is Relaxation.LOG25:
            return math.log(horizon) ** 2.5 / epsilon
        if params.relaxation is Relaxation.LOG25_BASE_2:
            return math.log2(horizon) ** 2.5 / epsilon
        inside = arms * horizon * math.log(horizon) / gamma(t)
        return (arms if shared else 1) * math.log(horizon) ** 2 * math.log(inside) / epsilon

    def choose(t: int, rewards: list[list[float]]) -> int:
        for arm, own in enumerate(rewards):
            if len(own) > len(noises[arm]):
                scale = levels * (arms if shared else 1) / epsilon
                noises[arm].append(rng.laplace(0.0, scale))
        if t <= arms:
            return t - 1
        indices = []
        for arm, own in enumerate(rewards):
            n = len(own)
            noise = sum(noises[arm][c - 1] for c in nodes(n))
            index = (sum(own) + noise) / n + math.sqrt(2 * math.log(t) / n) + added(n, t) / n
            indices.append(index)
        return indices.index(max(indices))

    choices(bandit, choose)


@pytest.mark.parametrize("relaxation", Relaxation)
@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("decay", Decay)
def test_private_ucb_is_the_literal_one(decay: Decay, split: Split, relaxation: Relaxation) -> None:
    gamma = 1.0 if decay is Decay.ROUND else 0.1
    for run, (means, epsilon) in enumerate(itertools.product(MEANS, (0.5, 20.0))):
        params = private_ucb.Params(epsilon, 800, gamma, decay, split, relaxation)
        ours, literal = (a_bandit(means, 800, run) for _ in range(2))
        private_ucb.play(params, ours, generator(run))
        literal_private_ucb(params, literal, generator(run))
        assert ours.pulls.tolist() == literal.pulls.tolist()


def test_the_readings_of_private_ucb_differ() -> None:
    seen = set()
    for decay, split, relaxation in itertools.product(Decay, Split, Relaxation):
        bandit = a_bandit((0.9, 0.6), 3000)
        params = private_ucb.Params(50.0, 3000, 0.1, decay, split, relaxation)
        private_ucb.play(params, bandit, generator())
        seen.add((relaxation, split, decay, bandit.pulls[0]))
    for relaxation, split in itertools.product((Relaxation.ON, Relaxation.CSS), Split):
        assert len({row[3] for row in seen if row[:2] == (relaxation, split)}) == len(Decay)
    # Without a relaxation there is no failure probability; only the noise remains.
    off = {row[1:] for row in seen if row[0] is Relaxation.OFF}
    assert len({pulls for _, _, pulls in off}) == len(Split)


def test_gamma_of_private_ucb_by_hand() -> None:
    # K = 5, T = 10^7, gamma = 0.1, epsilon = 1: 5 (16.118)^2 log(5 10^8 16.118).
    params = private_ucb.Params(1.0, 10**7)
    start, growth = private_ucb.relaxation(params, 5)
    assert start == pytest.approx(5 * 259.7930 * 22.8102, rel=1e-5)
    assert growth == 0.0


@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_private_ucb_over_fewer_rounds_than_a_logarithm_needs(horizon: int) -> None:
    for relaxation in Relaxation:
        params = private_ucb.Params(1.0, horizon, relaxation=relaxation)
        start, growth = private_ucb.relaxation(params, 2)
        assert start >= 0.0
        assert growth == 0.0


# DP-UCB-BOUND and DP-UCB -------------------------------------------------------------------------


class LiteralCounter:
    """Hybrid mechanism in the three readings; it adds up every sum again from all draws."""

    def __init__(self, counter: Counter, epsilon: float, rng: Any) -> None:
        self.single = counter is Counter.SINGLE
        self.epsilon = epsilon / 2 if counter is Counter.HYBRID_SPLIT else epsilon
        self.rng = rng
        self.items: list[float] = []
        self.draws: list[float] = []  # of item 1, 2, ...

    def insert(self, item: float) -> float:
        self.items.append(item)
        c = len(self.items)
        k = int(math.log2(c))
        factor = 1.0 if c == 2**k else math.log(c) if self.single else k
        self.draws.append(self.rng.laplace(0.0, factor / self.epsilon))
        if self.single:
            return sum(self.items) + self.draws[-1]
        logarithmic = [self.draws[2**j - 1] for j in range(k + 1)]
        tree = [self.draws[2**k + r - 1] for r in nodes(c - 2**k)]
        return sum(self.items) + sum(logarithmic) + sum(tree)


def literal_dp_ucb(params: Any, bandit: Bandit, rng: Any, every_round: bool) -> None:
    """Play Algorithm 1 with its nu, or with `every_round` Algorithm 2."""
    arms, epsilon = len(bandit.pulls), params.epsilon
    counters = [LiteralCounter(params.counter, epsilon, rng) for _ in range(arms)]
    sums = [0.0] * arms
    while playing(bandit):
        t = int(rounds_played(bandit)) + 1
        chosen = t - 1
        if t > arms:
            indices = []
            for arm in range(arms):
                n = int(bandit.pulls[arm])
                nu = math.sqrt(8) / epsilon * math.log(4 * t**4)
                if not (n in (2**j for j in range(20)) and params[-1] is PowerOfTwo.ON):
                    nu = nu * math.log(n) + nu
                if every_round:
                    nu = 0.0
                indices.append(sums[arm] / n + math.sqrt(2 * math.log(t) / n) + nu / n)
            chosen = indices.index(max(indices))
        reward = pull(bandit, chosen)
        for arm in range(arms):
            if arm == chosen:
                sums[arm] = counters[arm].insert(reward)
            elif every_round:
                sums[arm] = counters[arm].insert(0.0)


@pytest.mark.parametrize("power_of_two", PowerOfTwo)
@pytest.mark.parametrize("counter", Counter)
def test_dp_ucb_bound_is_the_literal_one(counter: Counter, power_of_two: PowerOfTwo) -> None:
    for run, (means, epsilon) in enumerate(itertools.product(MEANS, (0.5, 20.0))):
        params = dp_ucb_bound.Params(epsilon, counter, power_of_two)
        ours, literal = (a_bandit(means, 900, run) for _ in range(2))
        dp_ucb_bound.play(params, ours, generator(run))
        literal_dp_ucb(params, literal, generator(run), every_round=False)
        assert ours.pulls.tolist() == literal.pulls.tolist()


@pytest.mark.parametrize("counter", Counter)
def test_dp_ucb_is_the_literal_one(counter: Counter) -> None:
    for run, (means, epsilon) in enumerate(itertools.product(MEANS, (0.5, 20.0))):
        params = dp_ucb.Params(epsilon, counter)
        ours, literal = (a_bandit(means, 500, run) for _ in range(2))
        dp_ucb.play(params, ours, generator(run))
        literal_dp_ucb(params, literal, generator(run), every_round=True)
        assert ours.pulls.tolist() == literal.pulls.tolist()


def test_the_smaller_nu_at_a_power_of_two_parks_an_arm_there() -> None:
    # n of every other arm stays at a power of two until the bonus of the best arm is as small.
    bandit = a_bandit((0.9, 0.6), 100_000)
    dp_ucb_bound.play(dp_ucb_bound.Params(1.0), bandit, generator())
    assert int(bandit.pulls[1]).bit_count() == 1
