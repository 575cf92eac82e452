"""Bands around references: false alarms are as rare as promised, wrong laws are detected."""

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from dpbandits.checks.tolerance_bands import (
    MARGIN,
    BandResult,
    Reference,
    compare,
    compare_exact,
    half_width,
    too_many,
)

Law = Callable[[np.random.Generator, int], np.ndarray]

# Typical laws of the regret: many values, few values, one value with a rare other, a lost run.
LAWS: dict[str, Law] = {
    "normal": lambda rng, n: rng.normal(100.0, 10.0, n),
    "skewed": lambda rng, n: rng.lognormal(0.0, 2.0, n),
    "few values": lambda rng, n: rng.choice([1456.5, 2048.0, 2900.0], n, p=[0.7, 0.25, 0.05]),
    "one in fifty differs": lambda rng, n: np.where(rng.random(n) < 0.02, 2.0, 1.0),
    "one in 250 is lost": lambda rng, n: np.where(rng.random(n) < 0.004, 29_947.0, 118.0),
    "always the same": lambda rng, n: np.full(n, 307.2),
}


def of(values: np.ndarray) -> Reference:
    """Return the reference that these runs make."""
    return Reference(
        len(values),
        float(values.mean()),
        float(values.std(ddof=1)),
        float(np.median(values)),
        float(values.min()),
        float(values.max()),
    )


@pytest.mark.parametrize(
    "reference",
    [
        Reference(runs=1, mean=5.0, std=0.5, median=5.0, min=4.0, max=6.0),
        Reference(runs=9, mean=5.0, std=0.0, median=5.0, min=4.0, max=6.0),
        Reference(runs=9, mean=5.0, std=4e-9, median=5.0, min=4.0, max=6.0),  # rounding errors
    ],
    ids=["one run", "no deviation", "rounding"],
)
def test_without_a_deviation_there_is_no_band(reference: Reference) -> None:
    assert half_width(reference, 8, 0.01) == 0.0


@pytest.mark.parametrize(
    ("values", "alarm"),
    [
        ([5.0] * 20 + [11.0] * 10 + [4.0] * 10, "10 of 40 runs are above the reference's largest"),
        ([6.0] * 40, "40 of 40 runs are above the reference's median"),
        ([4.0] * 40, "40 of 40 runs are below the reference's median"),
        ([5.0] * 10 + [6.0] * 20 + [-1.0] * 10, "10 of 40 runs are below the reference's smallest"),
        ([5.0] * 20 + [10.0] * 10 + [0.0] * 10, ""),
    ],
)
def test_too_many_runs_on_one_side_raise_an_alarm_whatever_their_mean(
    values: list[float], alarm: str
) -> None:
    wide = Reference(runs=100, mean=5.0, std=50.0, median=5.0, min=0.0, max=10.0)
    found = compare(np.array(values), wide, 0.01).alarm
    assert found.partition(",")[0] == alarm


def test_an_exact_number_is_equal_or_infinitely_far() -> None:
    assert compare_exact(2.0, 2.0 + 1e-9) == BandResult("", 0.0, 0.0)
    unequal = compare_exact(2.0, 2.1)
    assert (unequal.share, unequal.resolution) == (math.inf, 0.0)
    assert unequal.alarm


def test_a_mean_of_zero_without_a_band_leaves_no_share() -> None:
    zero = Reference(runs=9, mean=0.0, std=0.0, median=0.0, min=0.0, max=0.0)
    outcome = compare(np.zeros(8), zero, 0.01)
    assert (outcome.alarm, outcome.share) == ("", 0.0)


@pytest.mark.long
@pytest.mark.parametrize("runs", [(20, 40), (100, 8), (100, 40), (400, 40), (720, 24)])
@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_are_no_more_frequent_than_stated(law: str, runs: tuple[int, int]) -> None:
    level, trials = 0.02, 1500
    rng = np.random.default_rng(5)
    draw = LAWS[law]
    alarms = sum(
        bool(compare(draw(rng, runs[1]), of(draw(rng, runs[0])), level).alarm)
        for _ in range(trials)
    )
    # With the stated probability, more alarms would occur in one of 10,000 such tests.
    assert alarms <= stats.binom.isf(1e-4, trials, level)


@pytest.mark.parametrize("law", ["normal", "skewed", "few values", "always the same"])
def test_a_shifted_law_raises_an_alarm(law: str) -> None:
    rng = np.random.default_rng(6)
    reference = LAWS[law](rng, 400)
    width = max(float(reference.std()), 1.0)
    for seed in range(20):
        new = LAWS[law](np.random.default_rng(seed), 40) + 2.5 * width
        assert compare(new, of(reference), 1e-7).alarm


def test_runs_that_all_agree_where_the_reference_spreads_are_noticed() -> None:
    # As when all arms share one noise: the mean may be unchanged.
    reference = np.random.default_rng(7).normal(100.0, 10.0, 400)
    new = np.full(40, float(np.median(reference)) + 1.0)
    assert "above the reference's median" in compare(new, of(reference), 1e-7).alarm


def test_a_reference_without_spread_is_compared_exactly_but_for_a_few_runs() -> None:
    reference = of(np.full(400, 307.2))
    few, many = np.full(40, 307.2), np.full(40, 307.2)
    few[:2] += 0.3
    many[:20] += 0.3
    assert not compare(few, reference, 1e-7).alarm
    assert "20 of 40 runs are above" in compare(many, reference, 1e-7).alarm
    assert not compare(np.full(40, 307.2 * (1 + 1e-12)), reference, 1e-7).alarm


def test_an_alarm_below_negative_regrets_shows_their_sign() -> None:
    # Against an adversary a run may earn more than the best fixed arm.
    reference, new = of(np.full(400, -307.2)), np.full(40, -307.2)
    new[:20] -= 0.3
    words = "20 of 40 runs are below the reference's smallest, -307.2"
    assert compare(new, reference, 1e-7).alarm == words
    new[:20] += 0.6
    words = "20 of 40 runs are above the reference's largest, -307.2"
    assert compare(new, reference, 1e-7).alarm == words


def test_one_lost_run_is_no_alarm_where_the_reference_has_lost_some() -> None:
    values = np.full(1000, 118.0)
    values[:4] = 29_947.0
    new = np.full(40, 118.0)
    new[0] = 29_947.0
    assert not compare(new, of(values), 1e-7).alarm
    new[:12] = 29_947.0
    assert compare(new, of(values), 1e-7).alarm


@pytest.mark.parametrize(("runs", "reference", "place"), [(3, 5, 5), (4, 5, 3), (5, 4, 2)])
def test_exceedances_have_the_law_that_all_orders_are_equally_likely(
    runs: int, reference: int, place: int
) -> None:
    # Enumerate which of the ordered values belong to the reference; all choices are equally likely.
    above = []
    for chosen in combinations(range(runs + reference), reference):
        limit = chosen[place - 1]
        above.append(sum(i > limit for i in range(runs + reference) if i not in chosen))
    for level in (0.5, 0.2, 0.1, 0.05, 0.01):
        least = too_many(runs, reference, place, level)
        assert np.mean(np.array(above) >= least) <= level + 1e-12
        if least > 0:
            assert np.mean(np.array(above) >= least - 1) > level - 1e-12


def test_a_difference_of_the_means_within_the_margin_is_none() -> None:
    reference = Reference(10**6, 1000.0, 1e-3, 1000.0, 0.0, 2000.0)
    inside, outside = 1000.0 * (1 + 0.9 * MARGIN), 1000.0 * (1 + 1.1 * MARGIN)
    assert "mean" not in compare(np.full(10**5, inside), reference, 1e-3).alarm
    assert "mean" in compare(np.full(10**5, outside), reference, 1e-3).alarm


def test_a_number_without_randomness_is_compared_up_to_rounding() -> None:
    assert not compare_exact(39.39, 39.39 * (1 + 1e-13)).alarm
    assert compare_exact(39.39, 39.39 * (1 + 1e-6)).alarm
    assert not compare_exact(0.0, 0.0).alarm
    assert compare_exact(1e-300, 0.0).alarm
    assert compare_exact(math.nan, 1.0).alarm
