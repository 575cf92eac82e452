"""Ties and random choices have their stated law, where possible exactly.

A choice is a function of uniform numbers. Numbers just below and just above each border of its
intervals show where these lie, so that every probability is compared without sampling error.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import azize2022
import azize2025
import numpy as np
import pytest
import tossou2016
from played import play_bandit
from scipy import stats
from shared_games import game_of, ours_of
from streams import Draws, Game, policy_stream

from dpbandits.algorithms import (
    adap_klucb,
    adap_ucb,
    dp_imed,
    dp_klucb,
    dp_ucb,
    dp_ucb_bound,
    dp_ucb_int,
    private_ucb,
    ucb,
)
from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms.adap_ucb import Ties, largest
from dpbandits.environments import bernoulli
from dpbandits.kernel.bandit import draw, new_bandit, pull

NEAR = 1e-12


class Given:
    """Generator that returns given uniform numbers and no noise."""

    def __init__(self, *uniforms: float) -> None:
        self.uniforms = iter(uniforms)

    def random(self) -> float:
        return next(self.uniforms)

    def laplace(self, location: float, scale: float) -> float:
        return 0.0

    def normal(self, location: float, scale: float) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("values", "first"), [((1, 1, 1), 0), ((0, 2, 1, 2), 1), ((-2, -1, -1), 1), ((3,), 0)]
)
def test_the_first_of_the_largest_wins(values: tuple[float, ...], first: int) -> None:
    assert argmax(np.array(values, float)) == first


def random_argmax(values: np.ndarray, *uniforms: float) -> int:
    return int(largest(values, Ties.RANDOM, Given(*uniforms)))


def outcomes(values: np.ndarray, chance: Fraction, uniforms: list[float]) -> Iterator[Any]:
    # Every outcome with its probability. The j-th tied value is taken for a
    # uniform number below 1/j; a number on either side of that border stands for each branch.
    try:
        yield random_argmax(values, *uniforms), chance
    except StopIteration:
        tied = len(uniforms) + 2
        border = 1 / tied
        taken, left = Fraction(1, tied), 1 - Fraction(1, tied)
        yield from outcomes(values, chance * taken, [*uniforms, border - NEAR])
        yield from outcomes(values, chance * left, [*uniforms, border + NEAR])


@pytest.mark.parametrize(
    "places", [(0, 1), (1, 3), (0, 2, 4), (1, 2, 3, 4), (0, 1, 2, 3, 4)], ids=str
)
def test_a_random_tie_falls_on_every_largest_value_alike(places: tuple[int, ...]) -> None:
    # Ties below the largest value take no part: the largest values come last or in between.
    values = np.zeros(5)
    values[list(places)] = 1.0
    if 0 not in places:
        values[0] = -1.0
    law = dict.fromkeys(range(5), Fraction(0))
    for place, chance in outcomes(values, Fraction(1), []):
        law[place] += chance
    expected = {i: Fraction(int(i in places), len(places)) for i in range(5)}
    assert law == expected


def test_a_tie_below_a_later_larger_value_is_forgotten() -> None:
    # Two zeros are tied first (one number), then two ones (one number, border 1/2).
    values = np.array([0.0, 0.0, 1.0, 1.0])
    for earlier in (0.1, 0.9):
        assert random_argmax(values, earlier, 0.5 - NEAR) == 3
        assert random_argmax(values, earlier, 0.5 + NEAR) == 2


# Module, oracle, parameters, arms, runs, numbers of arms that tie, sets of them. Means are clipped
# to 1 and tie, but for AdaP-UCB.
TIED: list[tuple[Any, Any, tuple[float, ...], int, int, set[int], int]] = [
    (adap_ucb, azize2022.AdaPUCB, (1.0, 0.5), 4, 100, {1}, 4),
    (adap_klucb, azize2022.AdaPKLUCB, (1.0, 0.5), 4, 800, {1, 2, 3, 4}, 15),
    (dp_klucb, azize2025.DPKLUCB, (2.0, 1.5), 3, 600, {1, 2, 3}, 3),
    (dp_imed, azize2025.DPIMED, (2.0, 1.5), 3, 600, {1, 2, 3}, 3),
]


@pytest.mark.parametrize(
    ("module", "oracle", "budget", "arms", "runs", "sizes", "sets"),
    TIED,
    ids=["adap-ucb", "adap-klucb", "dp-klucb", "dp-imed"],
)
def test_a_random_tie_falls_on_each_of_the_largest_indexes_equally_often(
    module: Any,
    oracle: Any,
    budget: tuple[float, ...],
    arms: int,
    runs: int,
    sizes: set[int],
    sets: int,
) -> None:
    means, counts = (0.5,) * arms, dict[tuple[int, ...], Counter[int]]()
    for seed in range(runs):
        params = module.Params(*budget, ties=Ties.RANDOM)
        ours, literal = ours_of(module, params, "bernoulli", means, arms + 1, seed), oracle(*budget)
        literal.play(game_of("bernoulli", means, arms + 1, seed), policy_stream(seed))
        counts.setdefault(tuple(literal.largest[0]), Counter())[ours.arms[arms]] += 1
    assert {len(tied) for tied in counts} == sizes
    assert len(counts) >= sets
    for tied, chosen in counts.items():
        assert set(chosen) == set(tied)
        if len(tied) > 1:
            # A fair choice fails any of at most 2^K - K - 1 comparisons with probability 10^-4.
            least = 1e-4 / (2**arms - arms - 1)
            assert stats.chisquare([chosen[arm] for arm in tied]).pvalue > least


FULL: dict[str, Any] = {"epsilon": 1.0, "variant": "hybrid-full"}
ZERO_NOISE: dict[str, tuple[Any, Any, Callable[..., None]]] = {
    "ucb": (ucb, ucb.Params(), lambda game, rng: tossou2016.play_ucb(game)),
    "dp-ucb": (dp_ucb, dp_ucb.Params(1.0), partial(tossou2016.play_dp_ucb, **FULL)),
    "dp-ucb-bound": (
        *(dp_ucb_bound, dp_ucb_bound.Params(1.0)),
        partial(tossou2016.play_dp_ucb_bound, **FULL),
    ),
    "private-ucb": (
        *(private_ucb, private_ucb.Params(1.0, 150)),
        partial(tossou2016.play_private_ucb, epsilon=1.0, failure=lambda t: 0.1),
    ),
    "dp-ucb-int": (
        *(dp_ucb_int, dp_ucb_int.Params(9.0, 0.1, 1.4)),
        partial(tossou2016.play_dp_ucb_int, target=(9.0, 0.1), v=1.4),
    ),
}


@pytest.mark.parametrize("name", ZERO_NOISE)
@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_arms_with_equal_rewards_and_no_noise_are_tied_for_the_first(
    name: str, gain: float
) -> None:
    module, params, literal = ZERO_NOISE[name]
    law = bernoulli.law(bernoulli.Params((gain,) * 3))
    rng = np.random.Generator(np.random.PCG64(0))
    bandit = new_bandit(law, 3, 150, np.arange(1, 151), rng, per_round=True)
    ours = play_bandit(module.play, params, bandit, Draws(Given()))
    game = Game(3, 150, lambda arm, t: gain)
    literal(game, Given())
    assert ours.arms == game.played
    assert set(game.played) == {0, 1, 2}


def assert_intervals(choose: Callable[[Any], int], probabilities: list[float]) -> None:
    """Require that the i-th choice is made for exactly the i-th interval of a uniform number."""
    left = 0.0
    for i, p in enumerate(probabilities):
        right = left + p
        if p > 2 * NEAR:
            assert choose(Given(left + NEAR)) == i
            assert choose(Given(min(right, 1.0) - NEAR)) == i
        left = right
    assert left == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("mean", [0.0, 0.3, 0.55, 1.0])
def test_a_bernoulli_reward_is_one_below_its_mean(mean: float) -> None:
    law = bernoulli.law(bernoulli.Params((mean, 0.5)))
    assert_intervals(lambda rng: 1 - int(draw(law, rng, 0, 0)), [mean, 1.0 - mean])
    # The generator returns 0 but never 1.
    assert draw(law, Given(0.0), 0, 0) == float(mean > 0)
    assert draw(law, Given(1.0 - 2.0**-53), 0, 0) == float(mean == 1)
    bandit = new_bandit(law, 2, 1, np.array([1]), Given(0.5 - NEAR))  # type: ignore[arg-type]
    assert pull(bandit, 1) == 1.0
