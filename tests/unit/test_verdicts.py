"""Claims are judged as intended, on made-up curves."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpbandits.algorithms import adap_ucb, dp_ftpl_new, dp_ucb
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.checks import verdicts
from dpbandits.checks.comparisons import ERRORS, Verdict
from dpbandits.curves.series import Series
from dpbandits.environments import bernoulli
from dpbandits.spec.claims import (
    OTHERS,
    Alike,
    At,
    Bounded,
    Claim,
    Contrast,
    Extremes,
    Gap,
    Growth,
    Limits,
    Ratio,
    Slope,
    Spent,
    Test,
    Value,
)
from dpbandits.spec.figure import Bound, Curve, FigureSpec, Panel, Quantity
from dpbandits.theory import azize2022

HOLDS, FAILS, DEPENDS, UNDECIDED = (
    Verdict.HOLDS,
    Verdict.FAILS,
    Verdict.DEPENDS,
    Verdict.UNDECIDED,
)
RUNS = 100  # a standard error is a tenth of a standard deviation
MEANS = (0.9, 0.5)
TIME = (10.0, 100.0, 1000.0)

LESS, MORE, TWICE = Limits(at_most=1.0), Limits(at_least=1.0), Limits(at_least=2.0)
A, B, PANEL = ("a",), ("b",), ("a",)


class Drawn:
    """Panels with curves that have these means at the times above."""

    def __init__(self) -> None:
        self.curves: dict[str, list[Curve]] = {}
        self.series: list[Series] = []

    def add(
        self,
        name: str,
        means: Sequence[float],
        error: float = 0.0,
        panel: str = "a",
        x: Sequence[float] | None = None,
        runs: int = RUNS,
        cells: Sequence[Any] = (Bound("none", ()),),
        **statistics: Sequence[float],
    ) -> "Drawn":
        """Add a curve with the standard error of its means; over `x` where it is not over time."""
        swept = None if x is None else tuple(x)
        label = f"{name.upper()}{len(self.series)}"
        curve = Curve(
            name,
            label,
            label,
            name,
            Quantity.REGRET,
            "t" if x is None else "x",
            swept,
            tuple(cells),
            runs,
        )
        self.curves.setdefault(panel, []).append(curve)
        mean = np.array(means, float)
        columns: dict[str, Any] = dict.fromkeys(
            ("median", "min", "max", "centre", "low", "high"), mean
        )
        columns |= {key: np.array(values, float) for key, values in statistics.items()}
        std = np.full(len(mean), error * math.sqrt(RUNS))
        places = np.array(TIME[-len(mean) :] if x is None else x, float)
        self.series.append(
            Series(panel, label, label, name, runs, None, places, mean, std, **columns)
        )
        return self

    def judge(self, readings: dict[str, Sequence[Test]]) -> verdicts.ClaimResult:
        """Judge a claim with these tests."""
        claim = Claim("it", "so", "here", "", tuple((r, tuple(t)) for r, t in readings.items()))
        panels = tuple(Panel(letter, "", tuple(c)) for letter, c in self.curves.items())
        spec = FigureSpec("f", "p", "t", "d", RUNS, "mean", "none", False, panels, (claim,))
        (judged,) = verdicts.evaluate(spec, self.series)
        return judged

    def of(self, *tests: Test) -> Verdict:
        """Return the verdict of the tests."""
        return self.judge({"": tests}).verdict

    def told(self, *tests: Test) -> str:
        """Return the numbers of the only finding."""
        (finding,) = self.judge({"": tests}).findings
        return finding.numbers


def two(a: Sequence[float], b: Sequence[float], error: float = 0.0) -> Drawn:
    """Return two curves of the same standard error."""
    return Drawn().add("a", a, error).add("b", b, error)


def ratio(limits: Limits, **more: Any) -> Ratio:
    return Ratio(A, B, PANEL, limits, **more)


# Ratios ------------------------------------------------------------------------------------------


def test_three_standard_errors_decide() -> None:
    assert ERRORS == 3
    error = math.hypot(1.0, 1.0)
    for room, verdict in ((3.01, HOLDS), (2.99, UNDECIDED), (0, UNDECIDED), (-2.99, UNDECIDED)):
        assert two([100 - room * error], [100], 1.0).of(ratio(LESS)) is verdict
    assert two([100 + 3.01 * error], [100], 1.0).of(ratio(LESS)) is FAILS


def test_the_limit_stretches_the_error_of_the_other_curve() -> None:
    error = math.hypot(1.0, 2.0)  # of a - 2 b
    assert two([200 + 3.01 * error], [100], 1.0).of(ratio(TWICE)) is HOLDS
    assert two([200 + 2.99 * error], [100], 1.0).of(ratio(TWICE)) is UNDECIDED


def test_up_to_noise_an_undecided_comparison_holds() -> None:
    assert two([101], [100], 1.0).of(ratio(LESS)) is UNDECIDED
    assert two([101], [100], 1.0).of(ratio(LESS, up_to_noise=True)) is HOLDS
    assert two([110], [100], 1.0).of(ratio(LESS, up_to_noise=True)) is FAILS


def test_without_spread_any_difference_decides_and_a_tie_is_undecided() -> None:
    assert two([99.9], [100]).of(ratio(LESS)) is HOLDS
    assert two([100.1], [100]).of(ratio(LESS)) is FAILS
    assert two([100 * (1 + 1e-12)], [100]).of(ratio(LESS)) is UNDECIDED
    assert two([100], [100]).of(ratio(LESS, up_to_noise=True)) is HOLDS
    assert two([0], [0]).of(ratio(LESS)) is UNDECIDED


def test_a_ratio_is_put_at_the_end_everywhere_somewhere_or_at_a_point() -> None:
    drawn = two([1, 3, 1], [2, 2, 2])
    assert drawn.of(ratio(LESS)) is HOLDS
    assert drawn.of(ratio(LESS, at=At.EVERYWHERE)) is FAILS
    assert drawn.of(ratio(MORE, at=At.SOMEWHERE)) is HOLDS
    assert drawn.of(ratio(TWICE, at=At.SOMEWHERE)) is FAILS
    assert drawn.of(ratio(LESS, at=100.0)) is FAILS
    assert drawn.of(ratio(LESS, at=99.0)) is HOLDS  # the last point up to this time
    assert drawn.of(ratio(LESS, at=At.EVERYWHERE, between=(500.0, math.inf))) is HOLDS
    assert drawn.of(ratio(LESS, at=At.EVERYWHERE, between=(100.0, 100.0))) is FAILS


def test_curves_are_compared_where_both_have_a_point() -> None:
    drawn = Drawn().add("a", [1, 5, 1], x=(1, 2, 3), cells=[Bound("none", ())] * 3)
    drawn.add("b", [2, 2], x=(1, 3), cells=[Bound("none", ())] * 2)
    assert drawn.of(ratio(LESS, at=At.EVERYWHERE)) is HOLDS
    nowhere = ratio(LESS, at=At.EVERYWHERE, between=(1.5, 2.5))
    assert drawn.of(nowhere) is UNDECIDED


def test_somewhere_must_be_so_for_each_of_others_and_between_both_limits_at_once() -> None:
    drawn = two([1, 3, 1], [2, 2, 2]).add("c", [9, 9, 9])
    above = Ratio(A, ("b", "c"), PANEL, MORE, at=At.SOMEWHERE)
    assert drawn.of(above) is FAILS
    near = ratio(Limits(0.9, 1.1), at=At.SOMEWHERE)
    assert drawn.of(near) is FAILS
    assert two([1, 2.1, 9], [2, 2, 2]).of(near) is HOLDS


def test_others_are_all_that_are_played() -> None:
    drawn = two([1], [2]).add("bound", [0.5], runs=0)
    lowest = Ratio(A, (OTHERS,), PANEL, LESS)
    assert drawn.of(lowest) is HOLDS
    assert drawn.add("c", [0.5]).of(lowest) is FAILS


def test_every_one_of_several_curves_counts_and_every_panel() -> None:
    drawn = two([1], [2]).add("a", [3], panel="b").add("b", [2], panel="b")
    assert drawn.of(ratio(LESS)) is HOLDS
    assert drawn.of(Ratio(A, B, ("a", "b"), LESS)) is FAILS
    assert drawn.of(Ratio(("b",), A, ("b",), LESS), ratio(LESS)) is HOLDS


def test_others_can_be_in_other_panels() -> None:
    drawn = Drawn().add("a", [1]).add("a", [2], panel="b").add("a", [5], panel="c")
    grows = Ratio(A, A, ("b", "c"), MORE, to_panels=("a", "b"))
    assert drawn.of(grows) is HOLDS
    assert drawn.of(Ratio(A, A, ("a", "c"), MORE, to_panels=("b", "b"))) is FAILS
    assert drawn.told(Ratio(A, A, ("b",), TWICE, to_panels=("a",))).startswith("(b) A1 2 : (a) A0")


def test_with_each_curves_of_one_name_are_compared_value_by_value() -> None:
    drawn = Drawn().add("a", [1]).add("a", [10]).add("b", [2]).add("b", [20])
    assert drawn.of(ratio(LESS)) is HOLDS
    assert drawn.add("a", [9]).add("b", [8]).of(ratio(LESS)) is FAILS


def test_a_median_has_no_standard_error() -> None:
    drawn = Drawn().add("a", [9], 5.0, median=[1]).add("b", [2], 5.0)
    assert drawn.of(ratio(LESS)) is UNDECIDED
    assert drawn.of(ratio(LESS, statistic="median")) is HOLDS
    tied = Drawn().add("a", [9], 5.0, median=[2]).add("b", [2], 5.0)
    assert tied.of(ratio(LESS, statistic="median")) is HOLDS
    assert "1 (median)" in drawn.told(ratio(LESS, statistic="median"))


# The other kinds ---------------------------------------------------------------------------------


def test_values_and_spreads_are_compared_as_they_are() -> None:
    drawn = Drawn().add("a", [1, 5, 3], 9.0, min=[1, 1, 1], max=[1, 9, 4])
    assert drawn.of(Value(A, PANEL, Limits(at_most=5.0))) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(at_most=4.9))) is FAILS
    assert drawn.of(Value(A, PANEL, Limits(at_most=4.9), At.END)) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(2.0, 4.9), At.END)) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(3.1, 4.9), At.END)) is FAILS
    assert drawn.of(Value(A, PANEL, Limits(at_most=3.0), At.END, statistic="spread")) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(at_most=7.9), statistic="spread")) is FAILS
    assert drawn.of(Value(A, PANEL, Limits(at_least=1000.0), At.END, statistic="x")) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(at_most=9.0), between=(2.0, 3.0))) is UNDECIDED


def test_how_far_the_line_is_from_the_mean_is_counted_in_standard_deviations() -> None:
    drawn = Drawn().add("a", [5, 5], 0.1, centre=[5, 4.5]).add("b", [5], centre=[5])
    assert drawn.of(Value(A, PANEL, Limits(at_most=0.51), statistic="off_mean")) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(at_most=0.49), statistic="off_mean")) is FAILS
    assert drawn.of(Value(B, PANEL, Limits(at_most=0.0), statistic="off_mean")) is HOLDS


def test_extremes_are_those_of_a_curve_or_of_the_ends_in_all_panels() -> None:
    drawn = Drawn().add("a", [1, 2, 1.5], 0.01).add("a", [1, 1, 4.6], 0.01, panel="b")
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=2.2))) is HOLDS
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=2.0))) is UNDECIDED
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=1.8))) is FAILS
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=1.5), (100.0, 999.0))) is HOLDS
    assert drawn.of(Extremes(A, ("a", "b"), TWICE)) is UNDECIDED
    assert drawn.of(Extremes(A, ("a", "b"), Limits(at_least=3.0), across_panels=True)) is HOLDS
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=9.0), (2.0, 3.0))) is UNDECIDED


def test_growth_is_that_from_a_point_to_another() -> None:
    drawn = Drawn().add("a", [100, 200, 206], 1.0)
    assert drawn.of(Growth(A, 10.0, PANEL, Limits(at_least=2.0))) is UNDECIDED  # by 2.7 of them
    assert drawn.of(Growth(A, 10.0, PANEL, Limits(at_least=1.9))) is HOLDS
    assert drawn.of(Growth(A, 10.0, PANEL, Limits(at_most=1.9), until=100.0)) is FAILS
    assert drawn.of(Growth(A, 100.0, PANEL, Limits(at_most=1.01))) is UNDECIDED


def test_regret_of_the_same_mean_has_not_grown_in_any_run() -> None:
    drawn = Drawn().add("a", [1, 5, 5], 2.0)
    assert drawn.of(Growth(A, 100.0, PANEL, Limits(at_most=1.01))) is HOLDS
    assert drawn.of(Growth(A, 100.0, PANEL, Limits(at_least=1.01))) is FAILS


def test_slopes_are_of_logarithms_with_the_error_of_the_fit() -> None:
    square = [1 / x**2 for x in (1, 10, 100)]
    exact = Drawn().add("a", square, x=(1, 10, 100), cells=[Bound("none", ())] * 3)
    near_two = Slope(A, PANEL, Limits(-2.1, -1.9))
    assert exact.of(near_two) is HOLDS
    assert exact.of(Slope(A, PANEL, Limits(-1.9, -1.0))) is FAILS
    assert exact.of(Slope(A, PANEL, Limits(-2.1, -1.9), (1.0, 1.0))) is UNDECIDED
    bent = Drawn().add("a", [*square, 1e-4], x=(1, 10, 100, 1000), cells=[Bound("none", ())] * 4)
    assert bent.of(near_two) is FAILS
    assert bent.of(Slope(A, PANEL, Limits(-2.1, -1.9), (1.0, 100.0))) is HOLDS
    # At the ends the logarithm is off by .01: the slope by .01 sqrt(2)/log(10).
    steep = Drawn().add("a", [1.0, 0.1], 0.01, x=(1, 10), cells=[Bound("none", ())] * 2)
    error = math.hypot(0.01, 0.1) / math.log(10)
    assert steep.of(Slope(A, PANEL, Limits(at_most=-1 + 3.01 * error))) is HOLDS
    assert steep.of(Slope(A, PANEL, Limits(at_most=-1 + 2.99 * error))) is UNDECIDED


def test_a_gap_must_not_grow_beyond_the_noise() -> None:
    gap = Gap(A, B, PANEL)
    assert two([5, 6, 7], [1, 2, 3], 1.0).of(gap) is HOLDS
    assert two([5, 6, 8], [1, 2, 3], 1.0).of(gap) is HOLDS
    assert two([5, 6, 12], [1, 2, 3], 1.0).of(gap) is FAILS
    assert two([5, 1, 4], [1, 2, 3], 0.1).of(gap) is FAILS  # since it was smallest
    assert two([1, 6, 7], [1, 2, 3], 0.1).of(Gap(A, B, PANEL, since=100.0)) is HOLDS
    assert two([1, 6, 7], [1, 2, 3], 0.1).of(gap) is FAILS


def test_a_contrast_is_how_much_more_one_curve_changes() -> None:
    drawn = two([10], [10], 0.01).add("a", [90], 0.01, panel="b").add("b", [20], 0.01, panel="b")
    for limit, verdict in ((4.0, HOLDS), (4.49, UNDECIDED), (5.0, FAILS)):
        assert drawn.of(Contrast(A, B, ("a", "b"), Limits(at_least=limit))) is verdict


def test_curves_are_alike_within_three_standard_errors() -> None:
    error = math.hypot(1.0, 1.0)
    for apart, verdict in ((2.99, HOLDS), (3.01, FAILS)):
        drawn = Drawn().add("a", [10], 1.0).add("a", [10 + apart * error], 1.0, panel="b")
        assert drawn.of(Alike(A, ("a", "b"))) is verdict
    assert Drawn().add("a", [10]).add("a", [10], panel="b").of(Alike(A, ("a", "b"))) is HOLDS


# Bounds and budgets ------------------------------------------------------------------------------


def adap(epsilon: float = 1.0) -> Cell:
    params = adap_ucb.Params(epsilon)
    return Cell("adap-ucb", params, "bernoulli", bernoulli.Params(MEANS), 1000, Grid.LOG, 1)


def upper(horizon: int, epsilon: float = 1.0) -> float:
    alpha = adap_ucb.Params(epsilon).alpha
    return azize2022.adap_ucb_upper_bound(MEANS, horizon, epsilon, alpha)


def bounded(**more: Any) -> Bounded:
    return Bounded(A, "azize2022.adap_ucb_upper_bound", (), PANEL, **more)


def test_a_bound_is_taken_at_every_time_with_the_parameters_of_the_cell() -> None:
    below = [upper(int(t)) - 0.1 for t in TIME]
    assert Drawn().add("a", below, cells=[adap()]).of(bounded()) is HOLDS
    for k in range(len(TIME)):
        above = [mean + 0.2 * (i == k) for i, mean in enumerate(below)]
        drawn = Drawn().add("a", above, cells=[adap()])
        assert drawn.of(bounded()) is FAILS
        assert drawn.of(bounded(at=At.END)) is (FAILS if k == 2 else HOLDS)
        assert drawn.of(bounded(at=TIME[k])) is FAILS


def test_a_bound_is_exceeded_by_more_than_the_noise_only() -> None:
    mean = upper(1000) + 1.0
    assert Drawn().add("a", [mean], 0.34, cells=[adap()]).of(bounded()) is HOLDS
    assert Drawn().add("a", [mean], 0.33, cells=[adap()]).of(bounded()) is FAILS


def test_a_bound_over_a_parameter_is_that_of_each_cell() -> None:
    budgets = (0.1, 1.0)
    means = [upper(1000, epsilon) - 0.1 for epsilon in budgets]
    cells = [adap(epsilon) for epsilon in budgets]
    assert Drawn().add("a", means, x=budgets, cells=cells).of(bounded()) is HOLDS
    assert Drawn().add("a", means[::-1], x=budgets, cells=cells).of(bounded()) is FAILS


def test_arguments_of_a_test_override_those_of_the_cell_and_a_bound_can_be_attained() -> None:
    drawn = Drawn().add("a", [1.5 * upper(1000)], cells=[adap()])
    looser = Bounded(A, "azize2022.adap_ucb_upper_bound", (("epsilon", 0.1),), PANEL)
    assert drawn.of(bounded()) is FAILS
    assert drawn.of(looser) is HOLDS
    assert drawn.of(bounded(limits=Limits(at_least=1.4))) is HOLDS
    assert drawn.of(bounded(limits=Limits(at_least=1.6))) is FAILS


def private(epsilon: float, counter: Counter) -> Cell:
    params = dp_ucb.Params(epsilon, counter)
    return Cell("dp-ucb", params, "bernoulli", bernoulli.Params(MEANS), 1000, Grid.LOG, 1)


def test_the_spent_budget_must_not_exceed_the_given_one() -> None:
    kept, doubled = private(0.5, Counter.HYBRID_SPLIT), private(0.5, Counter.HYBRID_FULL)
    assert Drawn().add("a", [1], cells=[kept]).of(Spent(A, PANEL)) is HOLDS
    drawn = Drawn().add("a", [1], cells=[doubled])
    assert drawn.of(Spent(A, PANEL)) is FAILS
    assert drawn.told(Spent(A, PANEL)) == "(a) A0: given 0.5, composes to 1"


def test_the_worst_budget_of_a_sweep_is_reported() -> None:
    cells = [private(0.25, Counter.HYBRID_SPLIT), private(0.5, Counter.HYBRID_FULL)]
    drawn = Drawn().add("a", [1, 1], x=(0.25, 0.5), cells=cells)
    assert drawn.of(Spent(A, PANEL)) is FAILS
    assert drawn.told(Spent(A, PANEL)) == "(a) A0 at x = 0.5: given 0.5, composes to 1"


def test_an_unbounded_composition_never_keeps_the_budget() -> None:
    ftpl = dp_ftpl_new.Params(1.0, 0.01, 1000)
    cell = Cell("dp-ftpl-new", ftpl, "bernoulli", bernoulli.Params(MEANS), 1000, Grid.LOG, 1)
    drawn = Drawn().add("a", [1], cells=[cell])
    assert drawn.of(Spent(A, PANEL)) is FAILS
    assert "the releases have no bound" in drawn.told(Spent(A, PANEL))


# Claims ------------------------------------------------------------------------------------------


def test_all_tests_of_a_claim_must_hold() -> None:
    drawn = two([1], [2], 0.01).add("c", [2.0], 0.01)
    holds, fails = ratio(LESS), ratio(MORE)
    undecided = Ratio(("c",), B, PANEL, LESS)
    assert drawn.of(holds, holds) is HOLDS
    assert drawn.of(holds, fails) is FAILS
    assert drawn.of(holds, undecided) is UNDECIDED
    assert drawn.of(undecided, fails) is FAILS


def test_readings_with_different_verdicts_make_the_claim_depend() -> None:
    drawn = two([1], [2], 0.01)
    holds, fails = [ratio(LESS)], [ratio(MORE)]
    assert drawn.judge({"one": holds, "other": holds}).verdict is HOLDS
    assert drawn.judge({"one": fails, "other": fails}).verdict is FAILS
    judged = drawn.judge({"one": holds, "other": fails})
    assert judged.verdict is DEPENDS
    assert [(f.reading, f.verdict) for f in judged.findings] == [("one", HOLDS), ("other", FAILS)]


def test_the_finding_is_the_point_that_decides() -> None:
    drawn = two([1, 1.9, 1], [2, 2, 2], 0.001)
    assert (
        drawn.told(ratio(LESS, at=At.EVERYWHERE))
        == "(a) A0 1.9 (0.001) : B1 2 (0.001) = 0.95 at t = 100"
    )
    drawn = two([1, 3, 2.5], [2, 2, 2], 0.001)
    assert drawn.told(ratio(LESS, at=At.EVERYWHERE)).endswith("= 1.5 at t = 100")
    assert drawn.told(ratio(LESS)) == "(a) A0 2.5 (0.001) : B1 2 (0.001) = 1.25"


def test_the_limit_is_printed_with_the_numbers() -> None:
    drawn = two([12345], [2])
    assert (
        drawn.told(ratio(Limits(at_least=5.0))) == "(a) A0 12,345 : B1 2 = 6,172; asked: at least 5"
    )
    assert drawn.told(Value(A, PANEL, Limits(at_most=664.5), At.END)).endswith(
        "; asked: at most 664.5"
    )


def test_verdicts_are_counted_and_exported_as_json() -> None:
    judged = [two([1], [2]).judge({"": [ratio(LESS)]}), two([1], [2]).judge({"": [ratio(MORE)]})]
    assert verdicts.count(judged) == {"holds": 1, "fails": 1}
    first, _ = verdicts.as_json(judged)
    assert first["claim"] == "it"
    assert first["verdict"] == "holds"
    assert first["findings"] == [
        {"reading": "", "verdict": "holds", "numbers": "(a) A0 1 : B1 2 = 0.5"}
    ]
