"""LDP-UCB-B and LDP-UCB-L against tests/oracles/ren2020.py, and their local mechanisms alone."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import ren2020
from played import assert_same_run
from scipy import stats
from shared_games import LAWS, game_of, ours_of
from streams import Draws, policy_stream, regret_curve

from dpbandits.algorithms import ldp_ucb_b, ldp_ucb_l
from dpbandits.algorithms._local import Start
from dpbandits.core import parameters
from dpbandits.core.errors import UserError
from dpbandits.core.kernel import kernel
from dpbandits.mechanisms.randomised_response import chance_of_one, randomised_response

MEANS = [(0.9, 0.1), (0.3, 0.5, 0.45), (0.5, 0.5, 0.5, 0.5), (0.05, 0.95, 0.2)]
EPSILONS = [0.5, 1.0, 2.0, 20.0]
ALGORITHMS = {
    "ldp-ucb-b": (ldp_ucb_b, ren2020.LdpUcbB),
    "ldp-ucb-l": (ldp_ucb_l, ren2020.LdpUcbL),
}


@pytest.mark.parametrize("start", Start)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_is_the_literal_one(name: str, law: str, start: Start) -> None:
    module, oracle = ALGORITHMS[name]
    taken: Counter[str] = Counter()
    for seed, (means, epsilon) in enumerate(itertools.product(MEANS, EPSILONS)):
        for horizon in (len(means), 300 + seed):
            params: Any = module.Params(epsilon, start)
            ours = ours_of(module, params, law, means, horizon, seed)
            literal = oracle(epsilon, start is Start.PHANTOM)
            game, draws = game_of(law, means, horizon, seed), Draws(policy_stream(seed))
            literal.play(game, draws)
            assert_same_run(ours, game.played, draws.log)
            np.testing.assert_allclose(ours.regrets, regret_curve(game.played, means), rtol=1e-9)
            taken += literal.branches
    expected = {"index"}
    expected |= {"first pull"} if start is Start.ONE_PULL else set()
    expected |= {"forced"} if name == "ldp-ucb-l" else set()
    assert set(+taken) == expected


# The local mechanisms ----------------------------------------------------------------------------

plain_chance = getattr(chance_of_one, "py_func", chance_of_one)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.5, 1.0, 2.0, 30.0])
def test_a_bit_is_exactly_e_to_the_epsilon_times_as_likely_for_reward_1_as_for_reward_0(
    epsilon: float,
) -> None:
    ones = plain_chance(1.0, epsilon) / plain_chance(0.0, epsilon)
    zeros = (1.0 - plain_chance(0.0, epsilon)) / (1.0 - plain_chance(1.0, epsilon))
    assert ones == pytest.approx(math.exp(epsilon), rel=1e-13)
    # 1 - p has only 16 - log10(e^epsilon) digits.
    assert zeros == pytest.approx(math.exp(epsilon), rel=1e-13 + 1e-15 * math.exp(epsilon))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_no_two_rewards_are_further_apart(epsilon: float) -> None:
    chances = [plain_chance(r, epsilon) for r in np.linspace(0.0, 1.0, 101)]
    e = math.exp(epsilon)
    printed = [(r * e + 1 - r) / (1 + e) for r in np.linspace(0.0, 1.0, 101)]
    assert chances == pytest.approx(printed, rel=1e-13)
    for p, q in itertools.product(chances, repeat=2):
        assert p <= e * q * (1 + 1e-12)
        assert 1.0 - p <= e * (1.0 - q) * (1 + 1e-12)


def test_randomised_response_survives_an_epsilon_that_overflows_the_exponential() -> None:
    assert (plain_chance(1.0, 1e4), plain_chance(0.0, 1e4)) == (1.0, 0.0)


@kernel
def bits(rng: Any, reward: float, epsilon: float, out: Any) -> None:
    for i in range(out.size):
        out[i] = randomised_response(rng, reward, epsilon)


@pytest.mark.parametrize("reward", [0.0, 0.3, 1.0])
def test_the_bits_have_that_probability(reward: float) -> None:
    out = np.empty(200_000)
    bits(np.random.default_rng(3), reward, 0.7, out)
    assert set(out) == {0.0, 1.0}
    chance = (reward * math.exp(0.7) + 1 - reward) / (1 + math.exp(0.7))
    assert stats.binomtest(int(out.sum()), out.size, chance).pvalue > 1e-3


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_the_laplace_density_of_a_private_reward_falls_by_e_to_the_epsilon_at_most(
    epsilon: float,
) -> None:
    (release, *_) = ldp_ucb_l.releases(ldp_ucb_l.Params(epsilon), 2, 10)
    y = np.linspace(-3.0, 4.0, 141)
    density = [stats.laplace(r, release.scale).logpdf(y) for r in (0.0, 1.0)]
    loss = np.abs(density[0] - density[1])
    assert loss.max() == pytest.approx(epsilon, rel=1e-12)
    assert release.epsilon == pytest.approx(epsilon, rel=1e-12)


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("epsilon", [0, -1.0, math.inf])
def test_an_epsilon_that_is_not_positive_is_one_line(name: str, epsilon: float) -> None:
    cls: Any = ALGORITHMS[name][0].Params
    with pytest.raises(UserError, match=rf"^{name}: epsilon must be positive and finite, got"):
        parameters.build(cls, {"epsilon": epsilon}, name, lambda field: "a test")
