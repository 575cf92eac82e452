"""How curves of one algorithm in a panel are told apart, and how labels are drawn."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from dpbandits.curves import STATISTICS, Series
from dpbandits.plotting import (
    PanelDrawing,
    Style,
    draw_all_over_parameter,
    draw_all_over_time,
    draw_over_time,
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


def test_a_curve_and_its_band_take_the_style_that_a_drawing_asks_for() -> None:
    ax = Figure().subplots()
    wide = replace(ONE, high=ONE.high + 1)
    line = draw_over_time(ax, wide, 0, style=Style("#D55E00", ">", ":"))
    assert (line.get_color(), line.get_marker(), line.get_linestyle()) == ("#D55E00", ">", ":")
    (band,) = ax.collections
    assert np.asarray(band.get_facecolor())[0, :3].tolist() == list(to_rgb("#D55E00"))


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
