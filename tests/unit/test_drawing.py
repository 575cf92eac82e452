"""Drawing: how curves of one algorithm differ, how labels are drawn, limits and ticks of axes."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from commands import FIGURES, below
from complaints import readable
from composed import load
from matplotlib.figure import Figure

from dpbandits.config.settings import Settings
from dpbandits.drawing import formulas, plotting
from dpbandits.drawing.plotting import Drawing, PanelDrawing, drawing_function
from dpbandits.drawing.shapes import (
    draw_all_over_parameter,
    draw_all_over_time,
    draw_regret_over_time,
    panel_grid,
)
from dpbandits.drawing.styles import in_mathtext
from dpbandits.factory.produce import produce, produce_all, redraw, refuse_undrawable
from dpbandits.kernel.errors import UserError
from dpbandits.kinds.regret import REGRET
from dpbandits.spec.figure import Appearance, FigureSpec
from dpbandits.tables.series import STATISTICS, Series

pytestmark = pytest.mark.usefixtures("in_checkout")

NUMBERS: dict[str, Any] = dict.fromkeys(STATISTICS, np.arange(1.0, 9.0))
ONE = Series(
    panel="a",
    label="AdaP-UCB (alpha=3.1)",
    legend="AdaP-UCB (alpha=3.1)",
    style="adap-ucb",
    runs=2,
    slope=None,
    x=np.arange(8.0),
    shows=REGRET,
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


def test_settings_of_matplotlib_do_not_reach_a_picture() -> None:
    def draw(drawing: Drawing) -> Figure:
        figure = Figure()
        draw_all_over_time(figure.subplots(), drawing.panels[0])
        return figure

    drawing = Drawing("", (PanelDrawing("a", "", (ONE,)),))
    usual = plotting.render(draw, drawing, "")
    with matplotlib.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "red"}):
        assert plotting.render(draw, drawing, "") == usual


@pytest.mark.usefixtures("in_checkout")
def test_a_style_is_over_that_of_the_house_and_below_the_keys_of_a_figure(tmp_path: Path) -> None:
    file = tmp_path / "journal.mplstyle"
    file.write_text("lines.linewidth: 9\nfont.size: 5\ntext.usetex: True\n")
    seen = list[tuple[float, float, bool]]()

    def draw(drawing: Drawing) -> Figure:
        used = matplotlib.rcParams
        seen.append((used["lines.linewidth"], used["font.size"], used["text.usetex"]))
        return Figure()

    for look in (Appearance(style=str(file)), Appearance(style=str(file), font_size=11)):
        plotting.render(draw, Drawing("", (), appearance=look), "")
    with matplotlib.rc_context({"lines.linewidth": 4, "figure.dpi": 30}):
        given = plotting.user_settings()
    with plotting.house_style(None, given):
        draw(Drawing("", ()))
        assert matplotlib.rcParams["figure.dpi"] == 200
    assert seen == [(9, 5, False), (9, 11, False), (4, 8, False)]
    before = plotting.style_digest("across", str(file))
    file.write_text("lines.linewidth: 8\n")
    assert plotting.style_digest("across", str(file)) != before
    for style, problem in (
        ("gplot", "'gplot': .* mean 'ggplot'"),
        ("a.mplstyle", "no such file"),
    ):
        spec, _ = load("adap-c2", [f"figure.style={style}"])
        with pytest.raises(UserError, match=f"adap-c2: .*{problem}"):
            refuse_undrawable(spec)


def test_a_band_that_reaches_0_ends_at_the_frame_of_a_logarithmic_axis() -> None:
    pytest.importorskip("matplot2tikz", reason="no matplot2tikz: requirements-tikz.lock")
    x = np.array([1.0, 10.0, 100.0])
    curve = replace(ONE, x=x, centre=x, low=0 * x, high=2 * x)

    def draw(drawing: Drawing) -> Figure:
        figure, (ax,) = panel_grid(drawing, columns=1, height=2.0)
        draw_regret_over_time(ax, drawing.panels[0])
        return figure

    tex = plotting.to_tikz(draw, Drawing("", (PanelDrawing("a", "", (curve,)),)), [])
    (least,) = re.findall(r"ymin=(\S+?),", tex)
    corners = re.findall(r"axis cs:[^,]+,([^)]+)\)", tex)
    assert min(map(float, corners)) == pytest.approx(float(least))


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        (r"Regret, $\epsilon = 0.25$", "Regret, ε = 0.25"),
        (r"$T^{-1}$ and $x_i$ cost \$5", "T⁻¹ and xᵢ cost $5"),
        (r"$\lceil \log T\rceil$ - $a-b$", "⌈log T⌉ - a−b"),
        (r"$\mathrm{KL}\!(p, q)$", "KL(p, q)"),
        (r"one $ alone", "one $ alone"),
        (r"$\sqrt{2 \log(t)/n}\,x$", "√(2 log(t)/n) x"),
        (r"about $\frac{1}{\epsilon^2}$", "about 1/ε²"),
        (r"$x^/$, $x_{/|}$", "x^/, x_(/|)"),
        (r"$T^{a+b}$, $T^{ab}$, $T^*$", "T^(a+b), T^ab, T*"),
    ],
)
def test_mathematics_is_converted_to_unicode(text: str, converted: str) -> None:
    assert formulas.without_tex(text) == converted


@pytest.mark.parametrize(
    ("label", "drawn"),
    [
        ("DP-UCB (gamma=0.1, epsilon=1)", r"DP-UCB ($\gamma=0.1$, $\epsilon=1$)"),
        ("DP-SE (arms=3)", "DP-SE (arms=3)"),
        ("2000 (t_0 + t_1)", "2000 ($t_0$ + $t_1$)"),
        ("EXP3_tau", r"EXP3$_\tau$"),
        ("DP-SE (epsilon/2)", r"DP-SE ($\epsilon/2$)"),
    ],
)
def test_a_parameter_in_a_label_is_drawn_as_its_letter(label: str, drawn: str) -> None:
    assert in_mathtext(label) == drawn


def test_episodes_are_drawn_of_any_run_that_has_room_and_refused_where_steps_are_missing() -> None:
    draw = drawing_function("azize2022", "episodes")

    def drawing(arms: list[int], steps: list[float]) -> Drawing:
        pulls = np.cumsum([[float(arm == a) for arm in arms] for a in (1, 2)], axis=1)
        series = tuple(replace(ONE, x=np.array(steps), centre=own) for own in pulls)
        return Drawing("Episodes", (PanelDrawing("a", "", series),))

    original = [1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 2, 2]
    for steps in (3, 4, 7, 12):
        ax = draw(drawing(original[:steps], [*range(1, steps + 1)])).axes[0]
        starts = sorted({float(np.asarray(line.get_xdata())[0]) for line in ax.lines})
        assert starts == [start for start in (2, 3, 5, 6, 10) if start < steps]
        shades = [patch.get_alpha() for patch in ax.patches]
        assert shades.count(0.6) == 2  # each arm's last episode before the marked one
    label = draw(drawing(original, [*range(1, 13)])).axes[0].get_xlabel()
    assert "t_{4}" in label
    assert "(r_{4}+r_{5})/2" in label
    assert "r_{6} +" in label
    for arms, numbers in (([1, 2], [1, 2]), ([1, 2, 1], [1, 2, 20])):
        with pytest.raises(UserError, match="Episodes: the picture has room for 3 to 14 steps"):
            draw(drawing(arms, [float(step) for step in numbers]))


# Axes --------------------------------------------------------------------------------------------


# Texts that no picture or file can hold -----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"plain, then $x\foobar$", r"unknown symbol: \foobar at character 2 of a formula"),
        ("$x^$", "unexpected text at character 3 of a formula"),
        (r"$\frac{1}$", r"expected \frac{num}{den} at character 6 of a formula"),
        ("5$", r"its dollars are not paired; write \$ for a dollar sign"),
        (f"${'{' * 1000}x{'}' * 1000}$", "its braces are nested too deeply"),
        (r"$\epsilon = 1$, \$5, 50% & a_b", ""),
        ("ε ≤ 1, 图, émigré\t\U0001f600", ""),
    ],
)
def test_a_text_is_drawable_or_the_reason_is_one_line(text: str, reason: str) -> None:
    spec = replace(load("adap-c2", [])[0], title=text)
    with pytest.raises(UserError) if reason else nullcontext() as caught:
        refuse_undrawable(spec)
    if caught:
        readable(str(caught.value))
        assert f" cannot be drawn: {reason} (" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "action"),
    [
        ("title", produce),
        ("panels.b.row", redraw),
        ("panels.b.column", produce),
        ("curves.adap-ucb.legend", produce),
        ("curves.adap-ucb.variant", redraw),
    ],
)
def test_a_text_that_cannot_be_drawn_is_refused_before_the_first_run(
    action: Callable[[FigureSpec, Settings], object], key: str, tmp_path: Path
) -> None:
    overrides = ["profile=smoke", *below(tmp_path), rf"++figure.{key}='$\foobar$'"]
    spec, settings = load("adap-c2", overrides)
    with pytest.raises(UserError, match=rf"^adap-c2: figure\.{re.escape(key)} .* cannot be drawn"):
        action(spec, settings)
    assert list(tmp_path.iterdir()) == []


def test_a_label_that_a_spreadsheet_would_evaluate_is_refused() -> None:
    spec, _ = load("adap-c2", ["++figure.curves.adap-ucb.label='=1+1'"])
    with pytest.raises(UserError, match=r"adap-ucb\.label '=1\+1' cannot be drawn: .* spreadsheet"):
        refuse_undrawable(spec)


def test_all_figures_are_tried_before_the_first_is_computed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in set(FIGURES) - {"lower-bounds", "ftpl-new-cdf"}:
        (checkout / "conf" / "figure" / f"{name}.yaml").unlink()
    file = checkout / "conf" / "figure" / "lower-bounds.yaml"
    file.write_text(file.read_text("utf-8").replace("\ntitle: ", "\ntitle: $x^$ "), "utf-8")
    status_of = "dpbandits.factory.produce.status_of"
    monkeypatch.setattr(status_of, lambda *_: print("computed", flush=True) or 0)
    assert produce_all(None, ["profile=smoke"]) == 2
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert first.startswith("dpbandits: lower-bounds: figure.title '$x^$")
    assert first.endswith("(conf/figure/lower-bounds.yaml)")
    assert second.startswith("dpbandits: lower-bounds failed")
    assert out.startswith("computed\n1 of 2 figures")
