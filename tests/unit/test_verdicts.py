"""Claims are judged as intended, on made-up curves."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import adap_ucb, dp_ftpl_new, dp_ucb
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.checks import shape_tests, verdicts
from dpbandits.checks.comparisons import ERRORS, Silence, Verdict, quotient, runs_to_decide
from dpbandits.curves.evidence import NAMES, Evidence, OfFigure
from dpbandits.environments import bernoulli
from dpbandits.spec.claim_tests import (
    OTHERS,
    Alike,
    At,
    Bend,
    Bounded,
    Contrast,
    Difference,
    Extremes,
    Formula,
    Growth,
    Improvement,
    Limits,
    NotApplicable,
    Ratio,
    Slope,
    Test,
    Value,
    WithinBudget,
)
from dpbandits.spec.claims import Claim, FigureTest, Kind, Reading
from dpbandits.spec.figure import Bound, Curve, FigureSpec, Panel, Quantity
from dpbandits.theory import azize2022

HOLDS, FAILS, DEPENDS, UNDECIDED, NOT_TESTED = (
    Verdict.HOLDS,
    Verdict.FAILS,
    Verdict.DEPENDS,
    Verdict.UNDECIDED,
    Verdict.NOT_TESTED,
)
RUNS = 100  # a standard error is a tenth of a standard deviation
MEANS = (0.9, 0.5)
TIME = (10.0, 100.0, 1000.0)
LATE = (10_000.0, 100_000.0, 1_000_000.0)  # where the bounds are below the largest regret

LESS, MORE, TWICE = Limits(at_most=1.0), Limits(at_least=1.0), Limits(at_least=2.0)
A, B, PANEL = ("a",), ("b",), ("a",)


class Drawn:
    """Panels with curves that have these means at the times above."""

    def __init__(self) -> None:
        self.curves: dict[str, list[Curve]] = {}
        self.evidence: OfFigure = {}

    def add(
        self,
        name: str,
        means: Sequence[float],
        error: float = 0.0,
        panel: str = "a",
        x: Sequence[float] | None = None,
        runs: int = RUNS,
        cells: Sequence[Any] = (Bound("none", ()),),
        times: Sequence[float] = TIME,
        errors: dict[str, float] | None = None,
        **statistics: Sequence[float],
    ) -> "Drawn":
        """Add a curve with the standard error of its means; over `x` where it is not over time."""
        swept = None if x is None else tuple(x)
        label = f"{name.upper()}{len(self.evidence)}"
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
        columns = dict.fromkeys(NAMES, mean)
        columns |= {key: np.array(values, float) for key, values in statistics.items()}
        of_names = {"mean": error} | (errors or {})
        places = np.array(times[-len(mean) :] if x is None else x, float)
        self.evidence[panel, label] = Evidence(
            runs,
            places,
            columns,
            {key: np.full(len(mean), of_names.get(key, 0.0)) for key in columns},
        )
        return self

    def judge(self, readings: dict[str, Sequence[Test]]) -> verdicts.ClaimResult:
        """Judge a claim with these tests."""
        of_readings = tuple(
            Reading(name, tuple(FigureTest("f", test) for test in tests))
            for name, tests in readings.items()
        )
        claim = Claim("paper", "it", Kind.SENTENCE, "so", "here", "", of_readings)
        panels = tuple(Panel(letter, "", tuple(c)) for letter, c in self.curves.items())
        spec = FigureSpec("f", "p", "t", "d", RUNS, "mean", "none", False, panels)
        lines = verdicts.lines_of(spec, self.evidence)
        return verdicts.evaluate(claim, lambda figure: lines)

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
    assert drawn.of(nowhere) is NOT_TESTED


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


def test_a_median_has_a_standard_error_of_its_own() -> None:
    drawn = Drawn().add("a", [9], 5.0, median=[1]).add("b", [2], 5.0)
    assert drawn.of(ratio(LESS)) is UNDECIDED
    assert drawn.of(ratio(LESS, statistic="median")) is HOLDS
    assert "1 (median)" in drawn.told(ratio(LESS, statistic="median"))
    for error, verdict in ((0.33, HOLDS), (0.34, UNDECIDED)):
        drawn = Drawn().add("a", [9], median=[1], errors={"median": error}).add("b", [2])
        assert drawn.of(ratio(LESS, statistic="median")) is verdict
    assert f"1 ({error}) (median)" in drawn.told(ratio(LESS, statistic="median"))


# The other kinds ---------------------------------------------------------------------------------


def test_values_and_spreads_are_compared_with_their_standard_errors() -> None:
    drawn = Drawn().add("a", [1, 5, 3], spread=[0, 8, 3], errors={"spread": 0.1})
    assert drawn.of(Value(A, PANEL, Limits(at_most=5.1))) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(at_most=4.9))) is FAILS
    assert drawn.of(Value(A, PANEL, Limits(at_most=4.9), At.END)) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(2.0, 4.9), At.END)) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(3.1, 4.9), At.END)) is FAILS
    assert drawn.of(Value(A, PANEL, Limits(at_most=3.31), At.END, statistic="spread")) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(at_most=3.29), At.END, statistic="spread")) is UNDECIDED
    assert drawn.of(Value(A, PANEL, Limits(at_most=7.6), statistic="spread")) is FAILS
    assert drawn.of(Value(A, PANEL, Limits(at_least=999.0), At.END, statistic="x")) is HOLDS
    assert drawn.of(Value(A, PANEL, Limits(at_most=9.0), between=(2.0, 3.0))) is NOT_TESTED
    # A mean within 2.8 errors of its limit decides nothing.
    assert Drawn().add("a", [1.28], 0.1).of(Value(A, PANEL, Limits(at_least=1.0))) is UNDECIDED


def test_a_spread_of_a_single_group_of_runs_decides_nothing() -> None:
    drawn = Drawn().add("a", [5], spread=[3], errors={"spread": math.inf})
    assert drawn.of(Value(A, PANEL, Limits(at_most=100.0), statistic="spread")) is UNDECIDED


def test_extremes_are_those_of_a_curve_or_of_the_ends_in_all_panels() -> None:
    drawn = Drawn().add("a", [1, 2, 1.5], 0.01).add("a", [1, 1, 4.6], 0.01, panel="b")
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=2.2))) is HOLDS
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=2.0))) is UNDECIDED
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=1.8))) is FAILS
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=1.5), (100.0, 999.0))) is HOLDS
    assert drawn.of(Extremes(A, ("a", "b"), TWICE)) is UNDECIDED
    assert drawn.of(Extremes(A, ("a", "b"), Limits(at_least=3.0), across_panels=True)) is HOLDS
    assert drawn.of(Extremes(A, ("a",), Limits(at_most=9.0), (2.0, 3.0))) is NOT_TESTED


def test_growth_is_that_from_a_point_to_another() -> None:
    drawn = Drawn().add("a", [100, 200, 206], 1.0, errors={"rest": 1.0})
    # To the end, the error is that of the difference: here 1 + |limit - 1| times that of 100.
    assert drawn.of(Growth(A, 10.0, PANEL, Limits(at_least=2.0))) is UNDECIDED  # 6 of 2
    assert drawn.of(Growth(A, 10.0, PANEL, Limits(at_least=1.99))) is HOLDS
    assert drawn.of(Growth(A, 100.0, PANEL, Limits(at_most=1.01))) is FAILS  # -4 of 1.01
    assert drawn.of(Growth(A, 100.0, PANEL, Limits(at_least=1.0))) is HOLDS
    # Between inner points it is that of both means.
    assert drawn.of(Growth(A, 10.0, PANEL, Limits(at_most=1.9), until=100.0)) is FAILS
    assert drawn.of(Growth(A, 10.0, PANEL, Limits(at_most=1.97), until=100.0)) is UNDECIDED


def test_the_error_of_a_growth_is_bounded_by_the_better_of_two_sums() -> None:
    growth = shape_tests._of_growth
    # last - first has the error 3.1, last .5, first 3.
    assert growth(Limits(at_most=0.1), (0.5, 3.0), 3.1) == pytest.approx(0.5 + 0.1 * 3.0)
    assert growth(Limits(at_most=0.9), (2.0, 3.0), 1.5) == pytest.approx(1.5 + 0.1 * 3.0)
    assert growth(Limits(at_most=1.0), (0.5, 3.0), 3.1) == pytest.approx(3.1)
    assert growth(Limits(at_least=1.5), (0.5, 3.0), 3.1) == pytest.approx(3.1 + 0.5 * 3.0)


def test_regret_that_has_grown_in_no_run_has_not_grown() -> None:
    drawn = Drawn().add("a", [1, 5, 5], 0.1)
    assert drawn.of(Growth(A, 100.0, PANEL, Limits(at_most=1.01))) is HOLDS
    assert drawn.of(Growth(A, 100.0, PANEL, Limits(at_least=1.01))) is FAILS


def test_slopes_are_of_logarithms_with_the_error_of_the_fit() -> None:
    square = [1 / x**2 for x in (1, 10, 100)]
    exact = Drawn().add("a", square, x=(1, 10, 100), cells=[Bound("none", ())] * 3)
    near_two = Slope(A, PANEL, Limits(-2.1, -1.9))
    assert exact.of(near_two) is HOLDS
    assert exact.of(Slope(A, PANEL, Limits(-1.9, -1.0))) is FAILS
    assert exact.of(Slope(A, PANEL, Limits(-2.1, -1.9), (1.0, 1.0))) is NOT_TESTED
    bent = Drawn().add("a", [*square, 1e-4], x=(1, 10, 100, 1000), cells=[Bound("none", ())] * 4)
    assert bent.of(near_two) is FAILS
    assert bent.of(Slope(A, PANEL, Limits(-2.1, -1.9), (1.0, 100.0))) is HOLDS
    # At the ends the logarithm is off by .01: the slope by .01 sqrt(2)/log(10).
    steep = Drawn().add("a", [1.0, 0.1], 0.01, x=(1, 10), cells=[Bound("none", ())] * 2)
    error = math.hypot(0.01, 0.1) / math.log(10)
    assert steep.of(Slope(A, PANEL, Limits(at_most=-1 + 3.01 * error))) is HOLDS
    assert steep.of(Slope(A, PANEL, Limits(at_most=-1 + 2.99 * error))) is UNDECIDED


def test_a_difference_is_compared_with_its_smallest_before() -> None:
    difference = Difference(A, B, PANEL, Limits(at_most=1.1))
    assert two([5, 6, 7], [1, 2, 3], 0.05).of(difference) is HOLDS
    assert two([5, 6, 7], [1, 2, 3], 0.2).of(difference) is UNDECIDED  # 0.4 of 0.42
    assert two([5, 6, 12], [1, 2, 3], 0.5).of(difference) is FAILS
    assert two([5, 1, 4], [1, 2, 3], 0.1).of(difference) is FAILS  # since it was smallest
    late = Difference(A, B, PANEL, Limits(at_most=1.1), since=100.0)
    assert two([1, 6, 7], [1, 2, 3], 0.05).of(late) is HOLDS
    assert two([1, 6, 7], [1, 2, 3], 0.05).of(difference) is FAILS


def test_a_contrast_is_how_much_more_one_curve_changes() -> None:
    drawn = two([10], [10], 0.01).add("a", [90], 0.01, panel="b").add("b", [20], 0.01, panel="b")
    for limit, verdict in ((4.0, HOLDS), (4.49, UNDECIDED), (5.0, FAILS)):
        assert drawn.of(Contrast(A, B, ("a", "b"), Limits(at_least=limit))) is verdict


def test_an_improvement_is_compared_with_that_between_two_others() -> None:
    drawn = two([10], [30], 0.1).add("c", [20], 0.1).add("d", [90], 0.1)
    for limit, verdict in ((0.6, HOLDS), (0.667, UNDECIDED), (0.7, FAILS)):
        test = Improvement(A, "b", ("c",), "d", PANEL, Limits(at_least=limit))
        assert drawn.of(test) is verdict
    assert drawn.told(test).endswith("= 4.5: 0.667; asked: at least 0.7")


def test_a_bend_is_the_largest_change_of_a_slope_or_the_sum_of_all() -> None:
    # Slopes 0, 2, 1 against 1, 1.5, 0.5: changes of 2 and 1 against 0.5 and 1.
    x = [1.0, 10.0, 100.0, 1000.0]
    drawn = Drawn().add("a", [1, 1, 100, 1000], x=x, cells=[Bound("n", ())] * 4)
    drawn.add("b", [1, 10, 10**2.5, 1000], x=x, cells=[Bound("n", ())] * 4)
    for limit, summed, verdict in ((1.99, False, HOLDS), (2.01, False, FAILS)):
        limits = Limits(at_least=limit)
        assert drawn.of(Bend(A, B, PANEL, limits, summed=summed)) is verdict
    for limit, verdict in ((1.99, HOLDS), (2.01, FAILS)):
        assert drawn.of(Bend(A, B, PANEL, Limits(at_least=limit), summed=True)) is verdict
    assert "slope of B1 changes by 1.00 (0) at x = 100" in drawn.told(Bend(A, B, PANEL, LESS))


def test_the_error_of_a_bend_is_that_of_its_means() -> None:
    x = [1.0, math.e, math.e**2]
    drawn = Drawn().add("a", [1, 1, math.e], 0.0, x=x, cells=[Bound("n", ())] * 3)
    drawn.add("b", [1.0, 1.0, 1.0], 0.1, x=x, cells=[Bound("n", ())] * 3)
    # The change of b is ln y2 - 2 ln y1 + ln y0, with an error of 0.1 sqrt(6) = 0.245.
    assert "slope of B1 changes by 0.00 (0.2)" in drawn.told(Bend(A, B, PANEL, MORE))


def test_curves_are_alike_within_three_standard_errors() -> None:
    error = math.hypot(1.0, 1.0)
    for apart, verdict in ((2.99, HOLDS), (3.01, FAILS)):
        drawn = Drawn().add("a", [10], 1.0).add("a", [10 + apart * error], 1.0, panel="b")
        assert drawn.of(Alike(A, ("a", "b"))) is verdict
    assert Drawn().add("a", [10]).add("a", [10], panel="b").of(Alike(A, ("a", "b"))) is HOLDS


# Bounds and budgets ------------------------------------------------------------------------------


END = int(LATE[-1])


def adap(epsilon: float = 1.0) -> Cell:
    params = adap_ucb.Params(epsilon)
    return Cell(
        "adap-ucb", params, "bernoulli", bernoulli.Params(MEANS), int(LATE[-1]), Grid.LOG, 1
    )


def upper(horizon: int, epsilon: float = 1.0) -> float:
    alpha = adap_ucb.Params(epsilon).alpha
    return azize2022.adap_ucb_upper_bound(MEANS, horizon, epsilon, alpha)


def bounded(**more: Any) -> Bounded:
    return Bounded(A, "azize2022.adap_ucb_upper_bound", (), PANEL, **more)


def played(means: Sequence[float], error: float = 0.0) -> Drawn:
    return Drawn().add("a", means, error, cells=[adap()], times=LATE)


def test_a_bound_is_taken_at_every_time_with_the_parameters_of_the_cell() -> None:
    below = [upper(int(t)) - 0.1 for t in LATE]
    assert played(below).of(bounded()) is HOLDS
    for k in range(len(LATE)):
        above = [mean + 0.2 * (i == k) for i, mean in enumerate(below)]
        assert played(above).of(bounded()) is FAILS
        assert played(above).of(bounded(at=At.END)) is (FAILS if k == 2 else HOLDS)
        assert played(above).of(bounded(at=LATE[k])) is FAILS


def test_a_bound_is_exceeded_or_kept_by_more_than_the_noise_only() -> None:
    for sign, verdict in ((1.0, FAILS), (-1.0, HOLDS)):
        mean = upper(END) + sign
        assert played([mean], 0.34).of(bounded()) is UNDECIDED
        assert played([mean], 0.33).of(bounded()) is verdict


def test_a_bound_above_the_largest_regret_says_nothing() -> None:
    gap = MEANS[0] - MEANS[1]
    assert upper(1000) > 1000 * gap
    judged = Drawn().add("a", [1.0, 2.0, 3.0], cells=[adap()]).judge({"": [bounded()]})
    assert judged.verdict is NOT_TESTED
    assert judged.silences == (Silence.VACUOUS,)
    assert "no regret exceeds" in judged.findings[0].numbers
    # Later rounds say something: early ones are passed over.
    times = (1000.0, LATE[-1])
    late = Drawn().add("a", [1.0, upper(END) + 1], 0.1, cells=[adap()], times=times)
    assert late.of(bounded()) is FAILS


def test_a_bound_over_a_parameter_is_that_of_each_cell() -> None:
    budgets = (0.1, 1.0)
    means = [upper(END, epsilon) - 0.1 for epsilon in budgets]
    cells = [adap(epsilon) for epsilon in budgets]
    assert Drawn().add("a", means, x=budgets, cells=cells).of(bounded()) is HOLDS
    assert Drawn().add("a", means[::-1], x=budgets, cells=cells).of(bounded()) is FAILS


def test_arguments_of_a_test_override_those_of_the_cell_and_a_bound_can_be_attained() -> None:
    drawn = played([1.5 * upper(END)])
    looser = Bounded(A, "azize2022.adap_ucb_upper_bound", (("epsilon", 0.1),), PANEL)
    assert drawn.of(bounded()) is FAILS
    assert drawn.of(looser) is HOLDS
    assert drawn.of(bounded(limits=Limits(at_least=1.4))) is HOLDS
    assert drawn.of(bounded(limits=Limits(at_least=1.6))) is FAILS


def test_a_formula_is_compared_with_a_number_or_with_another_formula() -> None:
    drawn = Drawn().add("a", [1])
    low, high = ({"arms": 5, "horizon": 10**7, "epsilon": e} for e in (1e-6, 1.0))
    name = "azize2022.minimax_lower_bound"

    def formula(limits: Limits, **more: Any) -> Formula:
        return Formula(name, tuple(high.items()), limits, **more)

    assert drawn.of(formula(Limits(at_least=234.0, at_most=235.0))) is HOLDS
    assert drawn.of(formula(Limits(at_least=236.0))) is FAILS
    to = {"to": name, "to_arguments": tuple(low.items())}
    assert drawn.of(formula(Limits(at_most=0.5), **to)) is HOLDS
    assert drawn.of(formula(MORE, **to)) is FAILS
    assert drawn.told(formula(MORE)).startswith("minimax_lower_bound(arms = 5, horizon = 1e+07")


def test_a_condition_that_is_not_met_is_reported() -> None:
    judged = Drawn().add("a", [1]).judge({"": [NotApplicable("no such arm")]})
    assert judged.verdict is NOT_TESTED
    assert judged.silences == (Silence.NOT_APPLICABLE,)


def private(epsilon: float, counter: Counter) -> Cell:
    params = dp_ucb.Params(epsilon, counter)
    return Cell("dp-ucb", params, "bernoulli", bernoulli.Params(MEANS), 1000, Grid.LOG, 1)


def test_a_composition_above_the_budget_shows_a_gap_and_no_counterexample() -> None:
    kept, doubled = private(0.5, Counter.HYBRID_SPLIT), private(0.5, Counter.HYBRID_FULL)
    assert Drawn().add("a", [1], cells=[kept]).of(WithinBudget(A, PANEL)) is HOLDS
    drawn = Drawn().add("a", [1], cells=[doubled])
    assert drawn.of(WithinBudget(A, PANEL)) is NOT_TESTED
    assert drawn.judge({"": [WithinBudget(A, PANEL)]}).silences == (Silence.NOT_SHOWN,)
    assert drawn.told(WithinBudget(A, PANEL)) == "(a) A0: given 0.5, composes to 1"


def test_the_worst_budget_of_a_sweep_is_reported() -> None:
    cells = [private(0.25, Counter.HYBRID_SPLIT), private(0.5, Counter.HYBRID_FULL)]
    drawn = Drawn().add("a", [1, 1], x=(0.25, 0.5), cells=cells)
    assert drawn.of(WithinBudget(A, PANEL)) is NOT_TESTED
    assert drawn.judge({"": [WithinBudget(A, PANEL)]}).silences == (Silence.NOT_SHOWN,)
    assert drawn.told(WithinBudget(A, PANEL)) == "(a) A0 at x = 0.5: given 0.5, composes to 1"


def test_an_unbounded_composition_never_keeps_the_budget() -> None:
    ftpl = dp_ftpl_new.Params(1.0, 0.01, 1000)
    cell = Cell("dp-ftpl-new", ftpl, "bernoulli", bernoulli.Params(MEANS), 1000, Grid.LOG, 1)
    drawn = Drawn().add("a", [1], cells=[cell])
    assert drawn.of(WithinBudget(A, PANEL)) is NOT_TESTED
    assert drawn.judge({"": [WithinBudget(A, PANEL)]}).silences == (Silence.NOT_SHOWN,)
    assert "the releases have no bound" in drawn.told(WithinBudget(A, PANEL))


# Claims ------------------------------------------------------------------------------------------


def test_all_tests_of_a_claim_must_hold() -> None:
    drawn = two([1], [2], 0.01).add("c", [2.0], 0.01)
    holds, fails = ratio(LESS), ratio(MORE)
    undecided = Ratio(("c",), B, PANEL, LESS)
    assert drawn.of(holds, holds) is HOLDS
    assert drawn.of(holds, fails) is FAILS
    assert drawn.of(holds, undecided) is UNDECIDED
    assert drawn.of(undecided, fails) is FAILS


def test_readings_that_hold_and_fail_make_the_claim_depend() -> None:
    drawn = two([1], [2], 0.01)
    holds, fails = [ratio(LESS)], [ratio(MORE)]
    assert drawn.judge({"one": holds, "other": holds}).verdict is HOLDS
    assert drawn.judge({"one": fails, "other": fails}).verdict is FAILS
    judged = drawn.judge({"one": holds, "other": fails})
    assert judged.verdict is DEPENDS
    assert [(r.name, r.verdict) for r in judged.readings] == [("one", HOLDS), ("other", FAILS)]
    assert [f.reading for f in judged.findings] == ["one", "other"]


@pytest.mark.parametrize(
    ("readings", "verdict"),
    [
        ({HOLDS, FAILS, UNDECIDED}, DEPENDS),
        ({HOLDS, FAILS, NOT_TESTED}, DEPENDS),
        ({HOLDS, UNDECIDED}, UNDECIDED),
        ({FAILS, UNDECIDED}, UNDECIDED),
        ({UNDECIDED, NOT_TESTED}, UNDECIDED),
        ({HOLDS, NOT_TESTED}, NOT_TESTED),
        ({FAILS, NOT_TESTED}, NOT_TESTED),
        ({UNDECIDED}, UNDECIDED),
    ],
)
def test_only_readings_that_hold_and_fail_make_a_claim_depend(
    readings: set[Verdict], verdict: Verdict
) -> None:
    assert verdicts.of_readings(readings) is verdict


def test_without_evidence_nothing_is_tested() -> None:
    claim = two([1], [2]).judge({"": [ratio(LESS)]}).claim
    judged = verdicts.evaluate(claim, lambda figure: None)
    assert judged.verdict is NOT_TESTED
    assert judged.silences == (Silence.NO_EVIDENCE,)


def test_the_decisive_finding_says_where_the_verdict_would_turn() -> None:
    drawn = two([1], [2]).add("c", [1.8])
    both = Ratio(("a", "c"), B, PANEL, Limits(at_most=1.0, word="same"))
    (reading,) = drawn.judge({"": [both]}).readings
    assert reading.verdict is HOLDS
    assert reading.decisive
    assert reading.decisive.measure
    assert reading.decisive.measure.value == pytest.approx(0.9)  # it fails if the limit is lower
    (reading,) = drawn.judge({"": [Ratio(B, ("a", "c"), PANEL, LESS)]}).readings
    assert reading.verdict is FAILS
    assert reading.decisive
    assert reading.decisive.measure
    assert reading.decisive.measure.value == pytest.approx(2.0)  # it holds if the limit is higher


def test_a_number_has_its_interval_and_the_runs_that_would_decide() -> None:
    (finding,) = two([101], [100], 1.0).judge({"": [ratio(LESS)]}).findings
    assert finding.measure
    error = math.hypot(1.0, 1.01) / 100
    assert finding.measure.error == pytest.approx(error)
    low, high = finding.measure.interval
    assert (low, high) == pytest.approx((1.01 - 1.96 * error, 1.01 + 1.96 * error), rel=1e-4)
    # The verdict rests on the difference, 1 with an error of sqrt(2), and so do the runs.
    assert finding.measure.runs_factor == pytest.approx((3 * math.sqrt(2)) ** 2)


def test_the_runs_that_would_decide_follow_the_difference_and_exceed_those_played() -> None:
    # The ratio, 0.23, is 11 of its errors away from 1; the difference is 2.54 errors.
    compared = quotient(LESS, (698.0, 3019.0), (13.9, 914.0), "")
    assert compared.verdict(False) is UNDECIDED
    assert compared.measure
    assert compared.measure.runs_factor == pytest.approx((3 * math.hypot(13.9, 914) / 2321) ** 2)
    assert runs_to_decide([compared.measure.runs_factor], 50) == 70
    assert runs_to_decide([1.0], 50) == 51  # exactly three errors are not yet more than three
    assert runs_to_decide([1.5, math.inf], 50) == math.inf
    assert runs_to_decide([], 50) == math.inf


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


def test_distinct_sentences_are_counted_and_exported_as_json() -> None:
    holds = two([1], [2], 0.1).judge({"": [ratio(Limits(at_most=1.0, word="same"))]})
    fails = two([1], [2]).judge({"": [ratio(MORE)]})
    other = replace(fails, claim=replace(fails.claim, name="other"))
    theorem = replace(holds, claim=replace(holds.claim, name="third", kind=Kind.THEOREM))
    assert verdicts.count([holds, holds, other, theorem]) == {"holds": 1, "fails": 1}
    first, *_ = verdicts.as_json([holds])
    assert first["claim"] == "paper/it"
    assert first["verdict"] == "holds"
    (reading,) = first["readings"]
    (finding,) = reading["findings"]
    assert finding["value"] == 0.5
    assert finding["interval_95"] == pytest.approx([0.39, 0.61], abs=0.01)
    assert {key: finding[key] for key in ("figure", "verdict", "limit", "side", "word")} == {
        "figure": "f",
        "verdict": "holds",
        "limit": 1.0,
        "side": "at most",
        "word": "same",
    }
