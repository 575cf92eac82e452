"""DP-KLUCB, DP-IMED, IMED and the bound of azize2025 against tests/oracles/azize2025*.py."""

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import azize2025
import azize2025_bounds
import numpy as np
import pytest
from played import assert_same_run
from scipy import stats
from shared_games import LAWS, game_of, ours_of
from streams import Draws, policy_stream, regret_curve

from dpbandits.algorithms import _private_batches, dp_imed, dp_klucb, imed
from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.algorithms._private_batches import Rounding, pulls_after
from dpbandits.theory import bounds, function, transitions

MEANS = [(0.9, 0.1), (0.3, 0.5, 0.45), (0.5, 0.5, 0.5, 0.5), (0.05, 0.95, 0.2)]
EPSILONS = (0.05, 0.5, 2.0, 100.0)
RATIOS = ("1.1", "1.5", "2", "3.7")

ALGORITHMS = [(dp_klucb, azize2025.DPKLUCB), (dp_imed, azize2025.DPIMED)]
IDS = ["dp-klucb", "dp-imed"]


def compare(
    pair: tuple[Any, Any], law: str, means: tuple[float, ...], horizon: int, seed: int, **open_: Any
) -> Counter[str]:
    """Compare one whole run; return the branches that it took."""
    module, oracle = pair
    ratio, epsilon = open_.pop("ratio"), open_.pop("epsilon")
    params = module.Params(epsilon, float(ratio), **open_)
    ours = ours_of(module, params, law, means, horizon, seed)
    literal = oracle(
        epsilon,
        ratio,
        up=open_.get("rounding", Rounding.CEIL) is Rounding.CEIL,
        first=open_.get("first_batch", 1),
        plus=1 if open_.get("log_t", dp_klucb.LogT.NEXT) is dp_klucb.LogT.NEXT else 0,
    )
    game, draws = game_of(law, means, horizon, seed), Draws(policy_stream(seed))
    literal.play(game, draws)
    assert_same_run(ours, game.played, draws.log, unused=literal.branches["cut"])
    np.testing.assert_allclose(ours.regrets, regret_curve(game.played, means), rtol=1e-9)
    taken: Counter[str] = literal.branches
    return taken


@pytest.mark.parametrize("rounding", Rounding)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("pair", ALGORITHMS, ids=IDS)
def test_the_batches_are_the_literal_ones(
    pair: tuple[Any, Any], law: str, rounding: Rounding
) -> None:
    taken: Counter[str] = Counter()
    games = itertools.product(MEANS, EPSILONS, RATIOS)
    for seed, (means, epsilon, ratio) in enumerate(games):
        for horizon in (64, 400 + seed):
            taken += compare(
                pair, law, means, horizon, seed, epsilon=epsilon, ratio=ratio, rounding=rounding
            )
    expected = {"same arm", "other arm", "cut", "below 0", "inside", "above 1", "tie"}
    if rounding is Rounding.FLOOR:
        expected |= {"at least one"}
    assert set(+taken) == expected
    assert min(taken[branch] for branch in expected) >= 5


@pytest.mark.parametrize(
    ("pair", "open_"),
    [
        (ALGORITHMS[0], {"log_t": dp_klucb.LogT.PLAYED}),
        (ALGORITHMS[0], {"first_batch": 7}),
        (ALGORITHMS[1], {"first_batch": 7}),
    ],
    ids=["dp-klucb, played", "dp-klucb, first batch", "dp-imed, first batch"],
)
def test_the_other_readings_are_the_literal_ones(
    pair: tuple[Any, Any], open_: dict[str, Any]
) -> None:
    module, differs = pair[0], 0
    for seed, (means, epsilon) in enumerate(itertools.product(MEANS, EPSILONS)):
        compare(pair, "bernoulli", means, 700, seed, epsilon=epsilon, ratio="1.5", **open_)
        params = module.Params(epsilon)
        usual = ours_of(module, params, "bernoulli", means, 700, seed)
        other = ours_of(module, params._replace(**open_), "bernoulli", means, 700, seed)
        differs += usual.arms != other.arms
    assert differs >= 3


@pytest.mark.parametrize("ratio", ["1", "1.5"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_imed_is_the_literal_one(means: tuple[float, ...], law: str, ratio: str) -> None:
    for seed in range(3):
        ours = ours_of(imed, imed.Params(float(ratio)), law, means, 500, seed)
        game = game_of(law, means, 500, seed)
        azize2025.IMED(ratio).play(game, policy_stream(seed))
        assert_same_run(ours, game.played, [])
        np.testing.assert_allclose(ours.regrets, regret_curve(game.played, means), rtol=1e-9)


@pytest.mark.parametrize("pair", ALGORITHMS, ids=IDS)
def test_a_random_tie_falls_on_each_of_the_best_indexes_equally_often(
    pair: tuple[Any, Any],
) -> None:
    # At this budget some means are clipped, so that some indexes tie.
    module, oracle = pair
    means, arms, epsilon = (0.5,) * 3, 3, 2.0
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for seed in range(600):
        params = module.Params(epsilon, ties=Ties.RANDOM)
        ours = ours_of(module, params, "bernoulli", means, arms + 1, seed)
        literal = oracle(epsilon, "1.5")
        literal.play(game_of("bernoulli", means, arms + 1, seed), policy_stream(seed))
        counts.setdefault(tuple(literal.best[0]), Counter())[ours.arms[arms]] += 1
    assert {len(tied) for tied in counts} == {1, 2, 3}
    for tied, chosen in counts.items():
        assert set(chosen) == set(tied)
        if len(tied) > 1:
            # At most 4 comparisons: a fair choice fails any of them with probability 10^-4.
            assert stats.chisquare([chosen[arm] for arm in tied]).pvalue > 1e-4 / 4


@pytest.mark.parametrize("ratio", ["1", "1.01", "1.1", "1.3", "1.5", "1.7", "2", "10"])
def test_a_batch_ends_at_the_decimal_product(ratio: str) -> None:
    # 1.1 * 10 is 11.000000000000002 in floating point, and 12 rounded up.
    for pulls in [*range(1, 400), 10**6, 7 * 10**9]:
        product = Fraction(ratio) * pulls
        up, down = -(-product.numerator // product.denominator), int(product)
        assert pulls_after(pulls, float(ratio), Rounding.CEIL) == max(up, pulls + 1)
        assert pulls_after(pulls, float(ratio), Rounding.FLOOR) == max(down, pulls + 1)


def test_a_huge_ratio_plays_one_batch() -> None:
    assert pulls_after(3, 1e300, Rounding.CEIL) == 2**53
    (first, *rest) = _private_batches.releases(dp_klucb.Params(1.0, 1e300), 1, 2**53)
    assert [first.last, *(each.last for each in rest)] == [1, 2**53]


# Bound -------------------------------------------------------------------------------------------

INSTANCES = [(0.8, 0.1, 0.1), (0.5, 0.75, 0.25), (0.3, 0.31), (0.999, 0.5), (1.0, 0.4), (0.4, 0.0)]
CASES: dict[str, list[tuple[Any, ...]]] = {
    "lower_bound": list(itertools.product(INSTANCES, (2, 10**7), (1e-4, 0.01, 0.3, 2.0, 100.0))),
    "transitions": [(means,) for means in INSTANCES],
}


def test_every_bound_of_the_paper_has_its_oracle() -> None:
    assert {f"azize2025.{name}" for name in CASES} == {
        name for name in [*bounds(), *transitions()] if name.startswith("azize2025.")
    }


@pytest.mark.parametrize("name", CASES)
def test_a_bound_is_the_one_of_the_slides(name: str) -> None:
    ours, literal = function(f"azize2025.{name}"), getattr(azize2025_bounds, name)
    for arguments in CASES[name]:
        # The oracle searches for the infimum.
        expected = pytest.approx(literal(*arguments), rel=1e-7)
        assert ours(*arguments) == expected, arguments
