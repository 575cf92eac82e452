"""The language of comparisons: every function against its literal meaning, and nothing else."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from toy_paper import Toy, line, paper, said

from dpbandits.experiments.formula import Formula
from dpbandits.judge import language
from dpbandits.judge.language import Quantity, Scope, compared, end, evaluate, parsed
from dpbandits.judge.resampled import Line
from dpbandits.judge.variants import Figures
from dpbandits.kernel.errors import UserError

RNG = np.random.default_rng(3)
RUNS = {name: 1.0 + RNG.gamma(2.0, size=(30, 5)) for name in ("a", "b")}
X = np.arange(1.0, 6.0)
Values = np.ndarray  # (1 + resamples, points)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    made_up = Toy(monkeypatch)
    for name, runs in RUNS.items():
        made_up.add(name, runs)
    return made_up


@pytest.fixture
def scope(toy: Toy) -> Scope:
    """Curves a and b at the rounds 1 to 5, c = b + 1 at 2, 3 and 9, and the word `twice`."""
    toy.add("c", RUNS["b"][:, [1, 2, 4]] + 1.0, x=(2, 3, 9))
    curves = {curve.name: curve for curve in toy.curves["toy"]["a"].values()}
    lines = {name: Line.of(toy.resampler(), "mean", curve) for name, curve in curves.items()}
    return Scope({**lines, "twice": 2.0}, language.FUNCTIONS)


def slopes(y: Values, x: Values) -> list[float]:
    return [abs(np.polyfit(np.log(x), np.log(row), 1)[0]) for row in y]


def bends(y: Values) -> list[list[float]]:
    steps = [
        [math.log(row[i] / row[i - 1]) / math.log((i + 1) / i) for i in range(1, 5)] for row in y
    ]
    return [[abs(after - before) for before, after in itertools.pairwise(row)] for row in steps]


MEANING: dict[str, Callable[[Values, Values], Any]] = {
    "a": lambda a, b: a[:, 4],
    "end(a)": lambda a, b: a[:, 4],
    "at(a, 3.9)": lambda a, b: a[:, 2],  # the last point up to there
    "at(a, 0.5)": lambda a, b: a[:, 0],
    "between(a, 2, 4)": lambda a, b: a[:, 1:4],
    "after(a, 4)": lambda a, b: a[:, 3:],
    "everywhere(a)": lambda a, b: a,
    "largest(a)": lambda a, b: a.max(1),
    "smallest(between(a, 2, 4))": lambda a, b: a[:, 1:4].min(1),
    "slope(a)": lambda a, b: slopes(a, X),
    "slope(between(a, 2, 4))": lambda a, b: slopes(a[:, 1:4], X[1:4]),
    "bend(a)": lambda a, b: [max(row) for row in bends(a)],
    "total_bend(a)": lambda a, b: [sum(row) for row in bends(a)],
    "earlier(everywhere(a))": lambda a, b: [[min(row[: i + 1]) for i in range(5)] for row in a],
    "settled(a - b, 0)": lambda a, b: [
        min([X[i] for i in range(5) if (row[i:] <= 0).all()], default=math.inf) for row in a - b
    ],
    "position(at(a, 3))": lambda a, b: [3.0],
    "twice * a + 1": lambda a, b: 2.0 * a[:, 4] + 1.0,
    "a - b": lambda a, b: (a - b)[:, 4],
    "everywhere(a) / b": lambda a, b: a / b,
    "after(a - b, 3) / 2": lambda a, b: (a - b)[:, 2:] / 2.0,
    "largest(a) / everywhere(b)": lambda a, b: a.max(1, keepdims=True) / b,
    "median(a)": lambda a, b: np.median(RUNS["a"][:, 4]),
    "maximum(at(a, 2))": lambda a, b: RUNS["a"][:, 1].max(),
    "minimum(a)": lambda a, b: RUNS["a"][:, 4].min(),
    "spread(a)": lambda a, b: np.ptp(RUNS["a"][:, 4]),  # of very many runs, as the toy has
}


@pytest.mark.parametrize("text", MEANING)
def test_an_expression_has_its_literal_value_on_all_resamples(text: str, scope: Scope) -> None:
    a, b = (end(evaluate(parsed(f"everywhere({name})"), scope)).values for name in "ab")
    np.testing.assert_allclose(a[0], RUNS["a"].mean(0), 1e-12)
    expected, found = np.array(MEANING[text](a, b)), end(evaluate(parsed(text), scope)).values
    if not expected.shape:  # a statistic of the runs, known for the estimate alone
        expected, found = expected[None], found[:1]
    np.testing.assert_allclose(found, expected.reshape(len(expected), -1), 1e-9)


def test_pairs_of_lists_are_compared_at_their_common_points(scope: Scope) -> None:
    a, b = (RUNS[name].mean(0) for name in "ab")
    for text, expected, x in (
        ("a <= b", [a[4] / b[4]], [5]),
        ("a >= b", [b[4] / a[4]], [5]),
        ("[a, b] <= [2 * a, twice]", [1 / 2, a[4] / 2, b[4] / 2 / a[4], b[4] / 2], [5] * 4),
        ("a * [1, 2] <= [b, [b]]", [a[4] / b[4]] * 2 + [2 * a[4] / b[4]] * 2, [5] * 4),
        ("everywhere(a) <= b", a / b[4], X),
        ("everywhere(a) >= everywhere(b)", b / a, X),
        ("after(a, 4) <= everywhere(b)", (a / b)[3:], [4, 5]),
        ("everywhere(a) <= everywhere(c)", (a / (b + 1))[1:3], [2, 3]),
    ):
        found = [*compared(text, scope)]
        assert all(each.is_log for each in found)
        np.testing.assert_allclose(
            np.hstack([c.distances[0] for c in found]), np.log(expected), 1e-9
        )
        np.testing.assert_array_equal(np.hstack([c.x for c in found]), x)


def test_a_side_that_can_be_0_or_negative_is_compared_by_difference() -> None:
    for left, right, distance in (
        (0, 2, -1.0),
        (-1, 4, -1.25),
        (3, 0, 1.0),
        (0, 0, 0.0),
        (0.5, -0.25, 1.5),
    ):
        names = {
            "a": Quantity(np.array([[left]]), X[:1]),
            "b": Quantity(np.array([[right]]), X[:1]),
        }
        (least,), (most,) = (compared(text, Scope(names, {})) for text in ("a <= b", "a >= b"))
        assert not least.is_log
        assert [least.distances.item(), most.distances.item()] == [distance, -distance]
    noisy = Quantity(np.array([[1.0], [-1.0]]), X[:1])  # one resample is enough
    (found,) = compared("a <= 2", Scope({"a": noisy}, {}))
    assert found.distances.ravel().tolist() == [-0.5, -1.5]


def test_points_at_which_a_side_is_not_a_number_are_left_out() -> None:
    a, b = (Quantity(np.array([v]), X[:3]) for v in ([1.0, 2, 3], [math.nan, 4, math.nan]))
    (found,) = compared("a <= b", Scope({"a": a, "b": b}, {}))
    assert (found.x.tolist(), found.left.tolist()) == ([2.0], [2.0])


def test_an_infinite_side_is_far_from_a_number_and_two_tell_nothing() -> None:
    def sides(*columns: list[float]) -> Quantity:  # (the estimate, a resample) at every point
        return Quantity(np.array(columns).T, X[: len(columns)])

    inf = math.inf
    a = sides([inf, inf], [2.0, 2.0], [inf, inf], [1.0, inf])
    b = sides([1.0, 1.0], [inf, inf], [inf, inf], [1.0, inf])
    scope = Scope({"a": a, "b": b}, {})
    (found,) = compared("a <= b", scope)
    assert found.x.tolist() == [1.0, 2.0, 4.0]
    np.testing.assert_array_equal(found.distances[0], [language.FAR, -language.FAR, 0.0])
    np.testing.assert_array_equal(found.distances[1], [language.FAR, -language.FAR, 0.0])
    (found,) = compared("a >= b", scope)
    assert found.distances[0].tolist() == [-language.FAR, language.FAR, 0.0]
    # Where all resamples agree, an infinite one is no farther than the others.
    for others, most in (([4.0, inf], math.log(4)), ([0.5, inf], language.FAR)):
        (found,) = compared("a <= 1", Scope({"a": sides([2.0, *others])}, {}))
        assert found.distances[-1, 0] == pytest.approx(most)


def test_panels_others_and_curves_named_like_functions(toy: Toy) -> None:
    for name, panel, value in (("a", "b", 10.0), ("a", "c", 40.0), ("median", "c", 7.0)):
        toy.add(name, [value] * 3, panel=panel)
    toy.curves["toy"]["a"]["bound 1.0"] = line("bound", [Formula("f", ())], [9.0])
    a, b = (RUNS[name][:, 4].mean() for name in "ab")
    for text, expected in {
        "panels(a) <= later(a)": [("", a / 10), ("", 10 / 40)],
        "panels(a) >= later(a)": [("", 10 / a), ("", 40 / 10)],
        "largest(panels(a)) <= 2 * smallest(panels(a))": [("", 40 / 2 / a)],
        'panel(a, "c") >= panel(a, "b")': [("", 10 / 40)],
        "a <= 1": [("a", a), ("b", 10), ("c", 40)],  # every panel that has the curve
        "b <= 1": [("a", b)],
        "a <= others": [("a", a / b), ("c", 40 / 7)],  # but not a bound, which has no runs
        "[a, b] <= others": [],
        "median(median) <= 7": [("c", 1)],
    }.items():
        found = Figures(paper({"it": said(text)})).comparisons("it", {}, toy.resampler())
        known = [(place.panel, d) for place, c in found for d in np.exp(c.distances[0])]
        assert known == [(panel, pytest.approx(ratio)) for panel, ratio in expected], text


def test_a_curve_with_a_reading_is_among_no_others_but_can_be_named(toy: Toy) -> None:
    curve = toy.add("c", [0.5] * 3)
    toy.curves["toy"]["a"]["c 1.0"] = replace(curve, variant="base e")
    a, b = (RUNS[name][:, 4].mean() for name in "ab")
    for text, ratio in {"a <= others": a / b, "a <= c": a / 0.5}.items():
        found = Figures(paper({"it": said(text)})).comparisons("it", {}, toy.resampler())
        known = [d for _, c in found for d in np.exp(c.distances[0])]
        assert known == [pytest.approx(ratio)], text


REFUSED = [
    *("a", "a < b", "a == b", "a <= b <= 3", "a <=", "a <= 1; b", "import os", "", "not a <= 1"),
    *("eval(a) <= 1", "a.max() <= 1", "(lambda: 1)() <= 1", "open('x') <= 1", "largest() <= 1"),
    *("a ** 2 <= 1", "a % 2 <= 1", "a.curve <= 1", "a[0] <= 1", "-a <= 1", "(a, b) <= 1"),
    *("[x for x in a] <= 1", "{a} <= 1", "{1: a} <= 1", "(a if a else b) <= 1", "(a and b) <= 1"),
    *("f'{a}' <= 1", "(x := a) <= 1", "None <= a", "at(*a) <= 1", "'a' <= 1", "'a' * 9 <= 1"),
    *("(lambda: a) <= 1", "[a, *b] <= 1", "1j <= a"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_of_the_language_is_refused_and_never_run(text: str, scope: Scope) -> None:
    with pytest.raises(UserError):
        [*compared(text, scope)]
