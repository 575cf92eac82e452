"""DP-KLUCB, DP-IMED, IMED and the bound of azize2025 against tests/oracles/azize2025*.py."""

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import azize2025
import pytest
from shared_games import LAWS, MEANS, compare, cut, ours_of

from dpbandits.algorithms import adap_klucb, dp_imed, dp_klucb, imed
from dpbandits.algorithms.dp_klucb import Rounding, pulls_after

EPSILONS = (0.05, 0.5, 2.0, 100.0)
RATIOS = ("1.1", "1.5", "2", "3.7")

ALGORITHMS = [(dp_klucb, azize2025.DPKLUCB), (dp_imed, azize2025.DPIMED)]
IDS = ["dp-klucb", "dp-imed"]


def compare_pair(
    pair: tuple[Any, Any], law: str, means: tuple[float, ...], horizon: int, seed: int, **open_: Any
) -> Counter[str]:
    """Compare one whole run; return the branches that it took."""
    module, oracle = pair
    ratio, epsilon = open_.pop("ratio"), open_.pop("epsilon")
    params = module.Params(epsilon, float(ratio), **open_)
    literal = oracle(
        epsilon,
        ratio,
        up=open_.get("rounding", Rounding.CEIL) is Rounding.CEIL,
        first=open_.get("first_batch", 1),
        plus=1 if open_.get("log_t", dp_klucb.LogT.NEXT) is dp_klucb.LogT.NEXT else 0,
    )
    return compare(module, params, literal, law, means, horizon, seed, cut)


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
            taken += compare_pair(
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
    for seed, (means, epsilon) in enumerate(itertools.product(MEANS, EPSILONS)):
        compare_pair(pair, "bernoulli", means, 700, seed, epsilon=epsilon, ratio="1.5", **open_)


@pytest.mark.parametrize("alpha", [1.0, 3.1])
@pytest.mark.parametrize(("forgetting", "bonus"), [(True, False), (False, True), (True, True)])
def test_the_ingredients_of_azize2022_are_the_literal_ones(
    alpha: float, forgetting: bool, bonus: bool
) -> None:
    allowance = dp_klucb.Allowance(bonus)
    for seed, (means, epsilon, ratio) in enumerate(itertools.product(MEANS, EPSILONS, RATIOS)):
        params = dp_klucb.Params(
            epsilon, float(ratio), alpha=alpha, forgetting=forgetting, allowance=allowance
        )
        literal = azize2025.DPKLUCB(epsilon, ratio, alpha=alpha, forgetting=forgetting, bonus=bonus)
        compare(dp_klucb, params, literal, "bernoulli", means, 500, seed, cut)


def test_with_all_ingredients_dp_klucb_is_adap_klucb() -> None:
    for seed, (means, epsilon) in enumerate(itertools.product(MEANS, EPSILONS)):
        params = dp_klucb.Params(
            epsilon, 2.0, alpha=3.1, forgetting=True, allowance=dp_klucb.Allowance.BONUS
        )
        ours = ours_of(dp_klucb, params, "bernoulli", means, 700, seed)
        theirs = ours_of(adap_klucb, adap_klucb.Params(epsilon), "bernoulli", means, 700, seed)
        assert ours.arms == theirs.arms


@pytest.mark.parametrize("ratio", ["1", "1.5"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_imed_is_the_literal_one(means: tuple[float, ...], law: str, ratio: str) -> None:
    for seed in range(3):
        literal = azize2025.IMED(ratio)
        compare(imed, imed.Params(float(ratio)), literal, law, means, 500, seed)


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
    (first, *rest) = dp_klucb.releases(dp_klucb.Params(1.0, 1e300), 1, 2**53)
    assert [first.last, *(each.last for each in rest)] == [1, 2**53]
