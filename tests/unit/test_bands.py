"""Bands around references: false alarms are as rare as promised, wrong laws are detected.

The expected bands and counts are those of tests/oracles/bands.py, which shares no line with the
package; probabilities are stated, and the number of alarms must be one that they make likely.
"""

import math
from collections.abc import Callable

import bands as oracle
import numpy as np
import pytest
from bands import Summary
from commands import ROOT
from drawn_tables import table
from scipy import stats

from dpbandits.checks import against_reference
from dpbandits.checks.against_reference import Checked, points
from dpbandits.checks.tolerance_bands import (
    MARGIN,
    Reference,
    band_result,
    too_many,
)

Law = Callable[[np.random.Generator, int], np.ndarray]

# Typical laws of the regret: many values, few values, one value with a rare other, a lost run.
LAWS: dict[str, Law] = {
    "normal": lambda rng, n: rng.normal(100.0, 10.0, n),
    "negative": lambda rng, n: rng.normal(-3.0, 1.0, n),
    "skewed": lambda rng, n: rng.lognormal(0.0, 2.0, n),
    "few values": lambda rng, n: rng.choice([1456.5, 2048.0, 2900.0], n, p=[0.7, 0.25, 0.05]),
    "one in fifty differs": lambda rng, n: np.where(rng.random(n) < 0.02, 2.0, 1.0),
    "one in thirty is lost": lambda rng, n: np.where(rng.random(n) < 1 / 30, 29_947.0, 118.0),
    "one in 250 is lost": lambda rng, n: np.where(rng.random(n) < 0.004, 29_947.0, 118.0),
    "always the same": lambda rng, n: np.full(n, 307.2),
}


def summary(values: np.ndarray) -> Summary:
    """Return the statistics of a reference that these runs make."""
    std = float(np.std(values, ddof=1)) if len(set(values.tolist())) > 1 else 0.0
    ends = float(values.min()), float(values.max())
    return Summary(len(values), float(values.mean()), std, float(np.median(values)), *ends)


def of(values: np.ndarray) -> Reference:
    return Reference(*summary(values))


@pytest.mark.parametrize(("runs", "std"), [(1, 0.5), (9, 0.0), (9, 4e-9)])  # the last: rounding
def test_without_a_deviation_there_is_no_band(runs: int, std: float) -> None:
    found = band_result(np.full(8, 5.0), Reference(runs, 5.0, std, 5.0, 4.0, 6.0), 0.02)
    assert found.resolution == 0.0


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
    found = band_result(np.array(values), wide, 0.01).alarm
    assert found.partition(",")[0] == alarm


def test_ratios_to_one_mean_of_all_runs_are_compared_by_their_mean_alone() -> None:
    # As a price where every run adds 1 to a regret whose mean is 100 here and 100.1 in the
    # reference: all runs lie on one side.
    ratios, reference = np.full(40, 1 / 100), of(np.full(400, 1 / 100.1))
    assert "40 of 40 runs are above" in band_result(ratios, reference, 1e-7).alarm
    assert not band_result(ratios, reference, 1e-7, independent=False).alarm
    far = Reference(400, 0.01, 0.001, 0.01, 0.007, 0.013)
    assert "mean" in band_result(np.full(40, 0.012), far, 1e-7, independent=False).alarm


@pytest.mark.long
@pytest.mark.parametrize("runs", [(20, 40), (100, 8), (720, 24)])
@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_are_no_more_frequent_than_stated(law: str, runs: tuple[int, int]) -> None:
    level, trials = 0.02, 1500
    rng = np.random.default_rng(5)
    draw = LAWS[law]
    alarms = sum(
        bool(band_result(draw(rng, runs[1]), of(draw(rng, runs[0])), level).alarm)
        for _ in range(trials)
    )
    # With the stated probability, more alarms would occur in one of 10,000 such tests.
    assert alarms <= stats.binom.isf(1e-4, trials, level)


def test_a_reference_without_spread_is_compared_exactly_but_for_a_few_runs() -> None:
    reference = of(np.full(400, 307.2))
    few, many = np.full(40, 307.2), np.full(40, 307.2)
    few[:2] += 0.3
    many[:20] += 0.3
    assert not band_result(few, reference, 1e-7).alarm
    assert "20 of 40 runs are above" in band_result(many, reference, 1e-7).alarm
    assert not band_result(np.full(40, 307.2 * (1 + 1e-12)), reference, 1e-7).alarm


def test_a_difference_of_the_means_within_the_margin_is_none() -> None:
    reference = Reference(10**6, 1000.0, 1e-3, 1000.0, 0.0, 2000.0)
    inside, outside = 1000.0 * (1 + 0.9 * MARGIN), 1000.0 * (1 + 1.1 * MARGIN)
    assert "mean" not in band_result(np.full(10**5, inside), reference, 1e-3).alarm
    assert "mean" in band_result(np.full(10**5, outside), reference, 1e-3).alarm


def test_a_number_without_randomness_is_compared_up_to_rounding() -> None:
    assert not band_result(np.array([39.39]), 39.39 * (1 + 1e-13), 0.01).alarm
    assert band_result(np.array([39.39]), 39.39 * (1 + 1e-6), 0.01).alarm
    assert not band_result(np.array([0.0]), 0.0, 0.01).alarm
    assert band_result(np.array([1e-300]), 0.0, 0.01).alarm
    assert band_result(np.array([math.nan]), 1.0, 0.01).alarm
    assert band_result(np.array([2.0]), 2.1, 0.01).share == math.inf


# Power -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_alarms_and_shares_are_those_of_the_definition(law: str) -> None:
    rng, seen = np.random.default_rng(9), {True: 0, False: 0}
    for of_reference, runs in [(20, 40), (101, 8), (100, 24)]:
        for level in (0.05, 1e-4):
            for shift in (0.0, 0.2, 0.7, 1.5):
                reference = LAWS[law](rng, of_reference)
                new = LAWS[law](rng, runs) + shift * max(reference.std(), 1.0)
                known = summary(reference)
                outcome = band_result(new, Reference(*known), level)
                alarm, share = oracle.verdict(new.tolist(), known, level)
                assert bool(outcome.alarm) == alarm
                assert outcome.share == pytest.approx(share, rel=1e-9)
                seen[alarm] += 1
    assert min(seen.values()) >= 3


def test_counts_that_alarm_are_the_smallest_unlikely_ones() -> None:
    for runs, reference in [(1, 1), (3, 2), (8, 100), (40, 101), (24, 720)]:
        for place in {1, (reference + 1) // 2, reference}:
            for level in (0.3, 0.01, 1e-6, 1e-12):
                expected = oracle.too_many(runs, reference, reference - place, level)
                assert too_many(runs, reference, place, level) == expected


@pytest.mark.parametrize("n", [3, 5, 41])
def test_the_median_of_an_odd_number_of_runs_is_one_of_them(n: int) -> None:
    runs, reference = 40, of(np.arange(float(n)))
    limit = oracle.too_many(runs, n, n - (n + 1) // 2, 0.5 / 8)
    for count in (limit - 1, limit):
        values = np.full(runs, reference.median)
        values[:count] += 1e-6
        assert bool(band_result(values, reference, 0.5).alarm) is (count == limit)


def likely(trials: int, chance: float) -> tuple[int, int]:
    """Return the numbers of alarms that contain all but one in 10,000."""
    low, high = stats.binom.interval(1 - 1e-4, trials, chance)
    return int(low), int(high)


@pytest.mark.parametrize(
    ("steps", "chance"), [(-2.0, 0.02275), (-0.5, 0.3085), (0.5, 0.6915), (2.0, 0.97725)]
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_shift_of_the_mean_passes_the_band_with_its_stated_probability(
    sign: int, steps: float, chance: float
) -> None:
    # The mean of 40 normal values with sigma = 50 has the standard error 50/sqrt(40), and a shift
    # to `steps` of these beyond the band exceeds it with probability Phi(steps).
    reference, runs, level = Summary(100, 1000.0, 50.0, 1000.0, 600.0, 1400.0), 40, 1e-6
    shift = oracle.allowed(reference, runs, level) + steps * 50.0 / math.sqrt(runs)
    rng, trials = np.random.default_rng(10), 1500
    beyond = sum(
        band_result(
            rng.normal(1000.0 + sign * shift, 50.0, runs), Reference(*reference), level
        ).share
        > 1.0
        for _ in range(trials)
    )
    low, high = likely(trials, chance)
    assert low <= beyond <= high


@pytest.mark.parametrize("target", [0.03, 0.5, 0.97])
def test_a_law_with_the_same_mean_and_another_median_alarms_with_its_stated_probability(
    target: float,
) -> None:
    # Of 60 values 999 and 1001, Bin(60, p) are above the reference's median; their mean is within
    # the margin of 2.
    reference, runs, level = Summary(200, 1000.0, 60.0, 1000.0, 0.0, 1300.0), 60, 1e-3
    limit = oracle.too_many(runs, 200, 100, level / 8)
    p = float(stats.beta.ppf(target, limit, runs - limit + 1))  # P[Bin(60, p) >= limit] = target
    chance = float(stats.binom.sf(limit - 1, runs, p))
    assert chance == pytest.approx(target, abs=1e-9)
    rng, trials, alarms = np.random.default_rng(11), 1200, 0
    for _ in range(trials):
        above = rng.random(runs) < p
        values = np.where(above, 1001.0, 999.0)
        alarms += (
            "above the reference's median"
            in band_result(values, Reference(*reference), level).alarm
        )
    low, high = likely(trials, chance)
    assert low <= alarms <= high


@pytest.mark.parametrize("runs", [40, 300])
def test_on_every_committed_reference_one_per_cent_inside_the_band_passes_and_outside_alarms(
    runs: int,
) -> None:
    level, compared = 1e-7, 0
    for figure in sorted(f.stem for f in (ROOT / "figures" / "reference").glob("*.csv")):
        for columns in table(figure).values():
            of_reference = int(columns["runs"][0])
            if not of_reference:
                continue
            for i in np.linspace(0, columns["x"].size - 1, 5).round().astype(int):
                numbers = (float(columns[k][i]) for k in ("mean", "std", "median", "min", "max"))
                known = Summary(of_reference, *numbers)
                if known.std <= 1e-9 * abs(known.mean) or known.mean == 0:
                    continue
                allowed = oracle.allowed(known, runs, level)
                for sign in (-1, 1):
                    inside, outside = (known.mean + sign * f * allowed for f in (0.99, 1.01))
                    if not known.min <= outside <= known.max:
                        continue  # further runs beyond the reference's are for the counts
                    compared += 1
                    one, other = (
                        band_result(np.full(runs, v), Reference(*known), level).alarm
                        for v in (inside, outside)
                    )
                    assert not one.startswith("mean")
                    assert other.startswith("mean")
    assert compared > 200


@pytest.mark.usefixtures("in_checkout")
def test_a_whole_check_raises_a_false_alarm_once_in_a_thousand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The chance of an alarm is divided by the number of comparisons of all figures together.
    levels: list[float] = []

    def record(spec: object, settings: object, found: object, level: float) -> Checked:
        levels.append(level)
        return Checked("recorded", ())

    monkeypatch.setattr(against_reference, "compare_all", record)
    figures = ["adap-alpha", "exp3-switching"]
    number = sum(len(points(against_reference.prepare(name, [])[0])) for name in figures)
    assert against_reference.check(figures, []) == 0
    assert levels == [0.001 / number] * 2


@pytest.mark.parametrize("undecided", [0.1, 0.6])  # of a reference; its median is infinite for .6
def test_a_reference_with_infinite_runs_is_compared_by_counts_alone(undecided: float) -> None:
    rng, alarms = np.random.default_rng(4), dict.fromkeys(("same", "more", "fewer", "all"), 0)

    def times(runs: int, share: float) -> np.ndarray:
        return np.where(rng.random(runs) < share, math.inf, rng.normal(100.0, 10.0, runs))

    for _ in range(300):
        values = times(100, undecided)
        reference = Reference(
            100, math.inf, math.nan, float(np.median(values)), values.min(), math.inf
        )
        shares = {"same": undecided, "more": 0.99, "fewer": 0.0, "all": 1.0}
        for name, share in shares.items():
            result = band_result(times(100, share), reference, 0.01)
            assert result.share == result.resolution == 0.0
            alarms[name] += bool(result.alarm)
    assert alarms["same"] <= 9  # 3 are expected at most
    # More infinite runs are beyond a finite median, fewer ones below an infinite one.
    assert alarms["fewer" if undecided > 0.5 else "more"] == 300
