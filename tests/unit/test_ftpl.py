"""Algorithms of wang2024 against their boxes, and their constants."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new, gdp_elim_new
from dpbandits.algorithms._largest_sample import Method
from dpbandits.core import parameters
from dpbandits.core.bandit import Bandit, new_bandit, playing, pull
from dpbandits.core.errors import UserError
from dpbandits.environments import bernoulli, beta
from dpbandits.mechanisms.perturbation import perturbation
from dpbandits.privacy.releases import composed_epsilon

INSTANCE_1 = tuple(0.3 + 0.05 * i for i in range(9))
INSTANCE_2 = tuple(0.3 + 0.004 * i for i in range(101))
MEANS = [(0.6, 0.5, 0.3), (0.3, 0.5, 0.5, 0.52), (0.05, 0.9)]


def a_bandit(means: tuple[float, ...], horizon: int, run: int = 0, law: Any = bernoulli) -> Bandit:
    rng = np.random.Generator(np.random.PCG64([1, run]))
    # Drawn one by one, in the order of the pulls: the same rewards for both versions.
    instance = law.law(law.Params(means))
    return new_bandit(instance, len(means), horizon, np.array([horizon]), rng, True)


def generator(run: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([2, run]))


def log_ratio(a: float, b: float) -> float:
    return math.log(a) - math.log(b)


# The boxes -------------------------------------------------------------------------------------

Sample = Callable[[list[float], Any], float]  # theta_i from the rewards of the arm


def literal_ftpl(bandit: Bandit, rng: Any, needed: float, sample: Sample) -> None:
    """Play Algorithms 1 to 3, recomputing everything in every round from all rewards."""
    rewards: list[list[float]] = [[] for _ in bandit.pulls]
    for arm, own in enumerate(rewards):
        while len(own) < needed and playing(bandit):
            own.append(pull(bandit, arm))
    while playing(bandit):
        theta = [sample(own, rng) for own in rewards]
        arm = theta.index(max(theta))
        rewards[arm].append(pull(bandit, arm))


def literal_quantile(u: float, epsilon: float, delta: float) -> float:
    """F(x) = u of Lemma 15 solved for x, in units of 1/N."""
    if u > 0.5:
        return -literal_quantile(1 - u, epsilon, delta)
    if epsilon == 0:
        return (u - 0.5) / delta
    e = math.exp(epsilon) - 1
    return log_ratio(delta + u * e, delta + e / 2) / epsilon


def gauss_sample(rewards: list[float], rng: Any) -> float:
    n = len(rewards)
    return float(rng.normal(math.fsum(rewards) / n, math.sqrt(2 / n)))


def beta_sample(rewards: list[float], rng: Any) -> float:
    n, total = len(rewards), sum(rewards)
    k = n // 8 + 1
    return float(rng.beta(total + 1 + k, n - total + 1 + k))


def new_sample(epsilon: float, delta: float, horizon: int) -> Sample:
    if epsilon > 0:
        e = math.exp(epsilon) - 1
        ratio = horizon * e + 2 * horizon * delta, 2 * e + 2 * horizon * delta
        radius = log_ratio(*ratio) / epsilon
    else:
        radius = (horizon - 2) / (2 * horizon * delta)

    def sample(rewards: list[float], rng: Any) -> float:
        n = len(rewards)
        centre = sum(rewards) / n + math.sqrt(math.log(horizon) / n) + radius / n
        return centre + literal_quantile(rng.random(), epsilon, delta) / n

    return sample


@pytest.mark.parametrize("law", [bernoulli, beta], ids=["bernoulli", "beta"])
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_dp_ftpl_gauss_is_the_literal_one(means: tuple[float, ...], law: Any) -> None:
    for run, (epsilon, delta) in enumerate([(1.0, 0.01), (0.3, 0.02), (0.0, 0.05), (1.0, 1.0)]):
        # At (1, 1) the logarithm is negative, but a mean needs a reward.
        needed = max(1 / (4 * math.pi * delta**2), 1)
        if epsilon > 0:
            private = math.log(math.e / (4 * math.pi * delta**2)) / epsilon**2
            needed = max(min(needed, private), 1)
        params = dp_ftpl_gauss.Params(epsilon, delta, Method.PLAIN)
        ours, literal = (a_bandit(means, 1500, run, law) for _ in range(2))
        dp_ftpl_gauss.play(params, ours, generator(run))
        literal_ftpl(literal, generator(run), needed, gauss_sample)
        assert ours.pulls.tolist() == literal.pulls.tolist()


@pytest.mark.parametrize("law", [bernoulli, beta], ids=["bernoulli", "beta"])
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_dp_ftpl_beta_is_the_literal_one(means: tuple[float, ...], law: Any) -> None:
    for run, (epsilon, delta) in enumerate([(1.0, 0.01), (20.0, 0.02)]):
        e, pi = math.e, math.pi
        private = 8000 * math.log(e / (2 * pi * delta**2)) / (81 * epsilon**2)
        needed = max(min(40 * e / (9 * pi * delta**2), private), 1000 * e / (9 * pi))
        ours, literal = (a_bandit(means, 5000, run, law) for _ in range(2))
        params = dp_ftpl_beta.Params(epsilon, delta, Method.PLAIN)
        dp_ftpl_beta.play(params, ours, generator(run))
        literal_ftpl(literal, generator(run), needed, beta_sample)
        assert ours.pulls.tolist() == literal.pulls.tolist()


@pytest.mark.parametrize("law", [bernoulli, beta], ids=["bernoulli", "beta"])
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_dp_ftpl_new_is_the_literal_one(means: tuple[float, ...], law: Any) -> None:
    for run, (epsilon, delta) in enumerate([(1.0, 0.01), (0.1, 0.0), (0.0, 0.05), (20.0, 0.0)]):
        params = dp_ftpl_new.Params(epsilon, delta, 1500, Method.PLAIN)
        ours, literal = (a_bandit(means, 1500, run, law) for _ in range(2))
        dp_ftpl_new.play(params, ours, generator(run))
        literal_ftpl(literal, generator(run), 1, new_sample(epsilon, delta, 1500))
        assert ours.pulls.tolist() == literal.pulls.tolist()


def literal_gdp_elim_new(params: gdp_elim_new.Params, bandit: Bandit, rng: Any) -> None:
    epsilon, delta, t = params
    arms = range(len(bandit.pulls))
    for k in itertools.count(1):
        gap = 2.0**-k
        if epsilon > 0:
            e = math.exp(epsilon) - 1
            private = 4 / (gap * epsilon) * log_ratio(t**2 * (e + delta), 2 * e + t**2 * delta)
        else:
            private = 4 / gap * (t**2 - 2) / (t**2 * delta)
        n = max(32 * math.log(t) / gap**2, private)
        rewards: list[list[float]] = [[] for _ in arms]
        while len(rewards[-1]) < n:
            for arm in arms:
                if playing(bandit):
                    rewards[arm].append(pull(bandit, arm))
            if not playing(bandit):
                return
        theta = [
            sum(own) / len(own) + literal_quantile(rng.random(), epsilon, delta / 2) / n
            for own in rewards
        ]
        for arm in arms:
            if theta[arm] >= max(theta[j] for j in arms if j != arm) + gap:
                while playing(bandit):
                    pull(bandit, arm)
                return


@pytest.mark.parametrize("law", [bernoulli, beta], ids=["bernoulli", "beta"])
@pytest.mark.parametrize("means", [(0.9, 0.1), (0.5, 0.75), (0.2, 0.5, 0.8)], ids=str)
def test_gdp_elim_new_is_the_literal_one(means: tuple[float, ...], law: Any) -> None:
    ends = set()
    budgets = [(1.0, 0.01), (0.02, 0.0), (0.0, 0.05), (20.0, 0.0)]
    for run, (budget, horizon) in enumerate(itertools.product(budgets, (2, 3001, 25_000))):
        params = gdp_elim_new.Params(*budget, horizon)
        ours, literal = (a_bandit(means, horizon, run, law) for _ in range(2))
        gdp_elim_new.play(params, ours, generator(run))
        literal_gdp_elim_new(params, literal, generator(run))
        assert ours.pulls.tolist() == literal.pulls.tolist()
        ends.add(max(ours.pulls) - min(ours.pulls) > 1)
    assert ends == {True, False}  # some runs exploit, some never do


# The constants ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "needed", "pulls"),
    [
        ((1.0, 0.01), 7.679, 8),
        ((1.0, math.exp(-10)), 18.469, 19),
        ((0.0, 0.01), 795.77, 796),
        ((0.0, 0.001), 79577.5, 79578),
        ((1.0, 1.0), math.log(math.e / (4 * math.pi)), 1),
    ],
    ids=str,
)
def test_the_start_of_dp_ftpl_gauss(budget: tuple[float, float], needed: float, pulls: int) -> None:
    params = dp_ftpl_gauss.Params(*budget)
    assert dp_ftpl_gauss.start(params) == pytest.approx(needed, rel=1e-4)
    bandit = a_bandit((0.5, 0.5), 2 * pulls)
    dp_ftpl_gauss.play(params, bandit, generator())
    assert bandit.pulls.tolist() == [pulls, pulls]


@pytest.mark.parametrize(
    ("budget", "needed"),
    [
        ((1.0, 0.01), 826.91),
        ((1.0, math.exp(-10)), 1892.56),
        ((0.0, 0.01), 40 * math.e / (9 * math.pi * 1e-4)),
        ((1e9, 0.01), 1000 * math.e / (9 * math.pi)),
    ],
    ids=str,
)
def test_the_start_of_dp_ftpl_beta(budget: tuple[float, float], needed: float) -> None:
    assert dp_ftpl_beta.start(dp_ftpl_beta.Params(*budget)) == pytest.approx(needed, rel=1e-5)


@pytest.mark.parametrize(
    ("means", "delta", "regret"),
    [
        (INSTANCE_1, 0.01, 1488.6),
        (INSTANCE_1, math.exp(-10), 3407.4),
        (INSTANCE_2, 0.01, 16705.4),
        (INSTANCE_2, math.exp(-10), 38238.6),
    ],
)
def test_the_start_of_dp_ftpl_beta_costs_most_of_its_regret(
    means: tuple[float, ...], delta: float, regret: float
) -> None:
    each = math.ceil(dp_ftpl_beta.start(dp_ftpl_beta.Params(1.0, delta)))
    bandit = a_bandit(means, each * len(means))._replace(per_round=False)
    dp_ftpl_beta.play(dp_ftpl_beta.Params(1.0, delta), bandit, generator())
    assert bandit.pulls.tolist() == [each] * len(means)
    assert bandit.curve[-1] == pytest.approx(regret, abs=0.05)


@pytest.mark.parametrize("module", [dp_ftpl_gauss, dp_ftpl_beta], ids=["gauss", "beta"])
def test_the_start_plays_arm_by_arm_up_to_the_horizon(module: Any) -> None:
    for delta in (0.001, 1e-200):
        bandit = a_bandit((0.5, 0.5, 0.5), 100)
        module.play(module.Params(0.0, delta), bandit, generator())
        assert bandit.pulls.tolist() == [100, 0, 0]
        assert not list(module.releases(module.Params(0.0, delta), 3, 100))


def test_the_phases_of_gdp_elim_new_on_instance_1() -> None:
    params = gdp_elim_new.Params(1.0, 0.0, 10**6)
    law = perturbation(1.0, 0.0)
    needed = [gdp_elim_new.passes_of_phase(params, law, 2.0**-k) for k in range(1, 5)]
    assert [math.ceil(n) for n in needed] == [1769, 7074, 28295, 113177]
    bandit = a_bandit(INSTANCE_1, 10**6)._replace(per_round=False)
    gdp_elim_new.play(params, bandit, generator())
    # It never finishes exploring: it passes over the arms until the end.
    assert bandit.pulls.tolist() == [111112] + [111111] * 8


# Rejected values -------------------------------------------------------------------------------

MODULES = [dp_ftpl_gauss, dp_ftpl_beta, dp_ftpl_new, gdp_elim_new]


def refusal(module: Any, **values: float) -> str:
    known = {"epsilon": 1.0, "delta": 0.01, "horizon": 100} | values
    given = {name: known[name] for name in module.Params._fields if name in known}
    with pytest.raises(UserError) as caught:
        parameters.build(module.Params, given, "here", str)
    return str(caught.value)


@pytest.mark.parametrize("module", MODULES)
def test_what_no_noise_gives_is_refused(module: Any) -> None:
    assert "must not" in refusal(module, epsilon=0, delta=0)
    assert "epsilon must be" in refusal(module, epsilon=-0.1)
    assert r"delta must be in [0, 1], got 1.5" in refusal(module, delta=1.5)


@pytest.mark.parametrize("module", MODULES[:2])
def test_a_start_that_never_ends_is_refused(module: Any) -> None:
    assert refusal(module, delta=0) == (
        f"here: delta must not be 0: {module.LABEL} only works when delta != 0 (Remark 17) (delta)"
    )


@pytest.mark.parametrize("module", MODULES[2:])
def test_one_part_of_the_budget_may_be_0(module: Any) -> None:
    for epsilon, delta in ((0, 0.01), (1, 0)):
        values = {"epsilon": epsilon, "delta": delta, "horizon": 100}
        assert parameters.build(module.Params, values, "here", str)[:2] == (epsilon, delta)


# Releases --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "params"),
    [
        (dp_ftpl_gauss, dp_ftpl_gauss.Params(0.0, 0.01)),
        (dp_ftpl_beta, dp_ftpl_beta.Params(0.0, 0.01)),
        (dp_ftpl_new, dp_ftpl_new.Params(0.0, 0.01, 10**6)),
        (dp_ftpl_new, dp_ftpl_new.Params(1.0, 0.0, 10**6)),
    ],
    ids=str,
)
def test_what_all_rounds_compose_to_has_no_bound(module: Any, params: Any) -> None:
    declared = list(module.releases(params, 9, 10**6))
    assert composed_epsilon(declared, params.delta) == math.inf
    # A single round is as private as requested.
    alone = [release._replace(times=1) for release in declared]
    assert composed_epsilon(alone, params.delta) == params.epsilon


@pytest.mark.parametrize("budget", [(1.0, 0.01), (0.1, 0.0), (0.0, 0.01)], ids=str)
def test_gdp_elim_new_composes_to_what_it_was_given(budget: tuple[float, float]) -> None:
    epsilon, delta = budget
    declared = list(gdp_elim_new.releases(gdp_elim_new.Params(*budget, 10**6), 9, 10**6))
    assert len({release.first for release in declared}) > 1
    assert composed_epsilon(declared, delta) == epsilon
    assert composed_epsilon(declared, delta / 2) == epsilon
    if delta > 0:
        assert composed_epsilon(declared, 0.49 * delta) == math.inf
