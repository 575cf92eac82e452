"""LDP-UCB-B and LDP-UCB-L against tests/oracles/ren2020.py, and their local mechanisms alone."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import ren2020
from scipy import stats
from shared_games import LAWS, MEANS, compare

from dpbandits.algorithms import ldp_ucb_b, ldp_ucb_l
from dpbandits.algorithms.ldp_ucb_l import Start
from dpbandits.kernel.compilation import kernel
from dpbandits.mechanisms.perturbation import randomised_response

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
            literal = oracle(epsilon, start is Start.PHANTOM)
            taken += compare(module, params, literal, law, means, horizon, seed)
    expected = {"index"}
    expected |= {"first pull"} if start is Start.ONE_PULL else set()
    expected |= {"forced"} if name == "ldp-ucb-l" else set()
    assert set(+taken) == expected


# The local mechanisms ----------------------------------------------------------------------------


class Compared:
    """Generator of a uniform number that keeps the chance with which it is compared."""

    chance: float

    def random(self) -> "Compared":
        return self

    def __lt__(self, chance: float) -> bool:
        self.chance = chance
        return True


def chance_of_one(reward: float, epsilon: float) -> float:
    rng = Compared()
    assert randomised_response(rng, reward, epsilon) == 1.0
    return rng.chance


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 0.5, 1.0, 2.0, 30.0])
def test_a_bit_is_exactly_e_to_the_epsilon_times_as_likely_for_reward_1_as_for_reward_0(
    epsilon: float,
) -> None:
    ones = chance_of_one(1.0, epsilon) / chance_of_one(0.0, epsilon)
    zeros = (1.0 - chance_of_one(0.0, epsilon)) / (1.0 - chance_of_one(1.0, epsilon))
    assert ones == pytest.approx(math.exp(epsilon), rel=1e-13)
    # 1 - p has only 16 - log10(e^epsilon) digits.
    assert zeros == pytest.approx(math.exp(epsilon), rel=1e-13 + 1e-15 * math.exp(epsilon))


def test_randomised_response_survives_an_epsilon_that_overflows_the_exponential() -> None:
    assert (chance_of_one(1.0, 1e4), chance_of_one(0.0, 1e4)) == (1.0, 0.0)


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
