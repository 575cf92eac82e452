"""How curves of one algorithm in a panel are told apart, and how labels are drawn."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from dpbandits.curves import STATISTICS, Series
from dpbandits.plotting import (
    PanelDrawing,
    draw_all_over_parameter,
    draw_all_over_time,
    in_mathtext,
)

NUMBERS = dict.fromkeys(STATISTICS, np.arange(1.0, 9.0))
ONE = Series(
    panel="a",
    label="AdaP-UCB (alpha=3.1)",
    legend="AdaP-UCB (alpha=3.1)",
    style="adap-ucb",
    runs=2,
    slope=None,
    x=np.arange(8.0),
    **NUMBERS,
)


@pytest.mark.parametrize("draw", [draw_all_over_time, draw_all_over_parameter])
def test_a_second_curve_of_an_algorithm_has_another_line_and_filled_markers(draw: Any) -> None:
    styles = ("adap-ucb", "adap-klucb", "adap-ucb", "bound", "transition", "bound", "transition")
    panel = PanelDrawing("a", "", tuple(replace(ONE, style=style) for style in styles))
    lines = draw(Figure().subplots(), panel)
    first, other, second, bound, dot, second_bound, second_dot = lines
    assert first.get_color() == second.get_color() != other.get_color()
    assert first.get_marker() == second.get_marker()
    looks = [(line.get_linestyle(), line.get_markerfacecolor()) for line in lines]
    assert looks[0] == looks[1] == ("-", "white")
    assert looks[2] == ("--", second.get_color())
    assert (bound.get_linestyle(), second_bound.get_linestyle()) == ("--", ":")
    assert dot.get_linestyle() == second_dot.get_linestyle() == "None"
    assert dot.get_markerfacecolor() == second_dot.get_markerfacecolor() == "white"


@pytest.mark.parametrize(
    ("label", "drawn"),
    [
        ("AdaP-UCB (alpha=3.1)", r"AdaP-UCB ($\alpha=3.1$)"),
        ("DP-UCB (gamma=0.1, epsilon=1)", r"DP-UCB ($\gamma=0.1$, $\epsilon=1$)"),
        ("DP-SE (arms=3)", "DP-SE (arms=3)"),
        ("Lower bound (Thm 3)", "Lower bound (Thm 3)"),
    ],
)
def test_a_parameter_in_a_label_is_drawn_as_its_letter(label: str, drawn: str) -> None:
    assert in_mathtext(label) == drawn
