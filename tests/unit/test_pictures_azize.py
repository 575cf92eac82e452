"""Pictures of azize2022, drawn from its references."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.ticker import NullFormatter
from reference_pictures import insets, laid_out, overlap, picture, specified

from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import ROUND

pytestmark = pytest.mark.long

EMPTY = ("adap-headline", "adap-c1", "adap-c2", "adap-c3", "adap-c4")


def shortened(drawing: Drawing, factor: float) -> Drawing:
    # Divide all regrets by a factor, as in a much shorter game.
    parts = ("centre", "low", "high")
    return replace(
        drawing,
        panels=tuple(
            replace(
                panel,
                series=tuple(
                    replace(s, **{part: getattr(s, part) / factor for part in parts})
                    for s in panel.series
                ),
            )
            for panel in drawing.panels
        ),
    )


@pytest.mark.parametrize("name", EMPTY)
def test_an_inset_has_the_lowest_curves_of_its_panel_and_hides_none(name: str) -> None:
    figure, drawing = picture(name), specified(name)[1]
    assert len(insets(figure)) == len(drawing.panels)
    for ax, inset, panel in zip(figure.axes, insets(figure), drawing.panels, strict=True):
        lowest = [s for s in panel.series if s.label != "DP-UCB"]
        assert len(lowest) == 3
        for line, series in zip(inset.lines, lowest, strict=True):
            assert np.array_equal(line.get_xydata(), np.column_stack([series.x, series.centre]))
            (outer,) = (li for li in ax.lines if li.get_label() == line.get_label())
            assert (outer.get_color(), outer.get_marker()) == (line.get_color(), line.get_marker())
        low, high = inset.get_ylim()
        assert low == 0
        assert max(s.high[-1] for s in lowest) < high
        (frame,) = ax.patches
        hidden = frame.get_window_extent()
        for series in panel.series:
            seen = series.centre > 0
            points = np.column_stack([series.x, series.centre])[seen]
            assert not any(hidden.contains(x, y) for x, y in ax.transData.transform(points))
        around = inset.get_tightbbox()
        assert around is not None
        assert hidden.x0 <= around.x0
        assert around.x1 <= ax.get_window_extent().x1 + 1
        assert hidden.y0 <= around.y0
        assert around.y1 <= hidden.y1
        assert hidden.y0 > ax.get_window_extent().y0
    (legend,) = figure.legends
    assert legend.get_title().get_text().startswith("Inset: ")


def test_without_room_below_the_curves_there_is_no_inset() -> None:
    figure = laid_out("adap-c1", shortened(specified("adap-c1")[1], 1000))
    assert insets(figure) == []
    (legend,) = figure.legends
    assert legend.get_title().get_text() == ""


def test_one_low_curve_needs_no_inset() -> None:
    drawing = specified("adap-headline")[1]
    (panel,) = drawing.panels
    series = tuple(s for s in panel.series if s.label in ("DP-UCB", "AdaP-UCB"))
    other = replace(drawing, panels=(replace(panel, series=series),))
    assert insets(laid_out("adap-headline", other)) == []


@pytest.mark.parametrize("name", [*EMPTY, "adap-alpha"])
def test_the_rounds_have_one_name(name: str) -> None:
    labels = [ax.get_xlabel() for ax in picture(name).axes]
    assert labels[-1] == ROUND
    assert set(labels) <= {ROUND, ""}


def test_an_illustration_names_its_axis_and_says_what_is_dark() -> None:
    axis, explained = picture("adap-episodes").axes[0].get_xlabel().split("\n")
    assert axis == ROUND
    assert explained.startswith("Dark: the rewards that the indexes use at $t_{4}$")


def test_the_regimes_are_a_shade_and_every_decade_has_a_label() -> None:
    figure = picture("adap-regimes")
    (ax,) = figure.axes
    dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert len(dotted) == 1
    (shade,) = ax.patches
    assert ax.transData.inverted().transform(shade.get_window_extent())[1, 0] == pytest.approx(
        0.2728, abs=1e-4
    )
    low, high = ax.get_ylim()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    labelled = [tick for tick, text in ticks if low <= tick <= high and text.get_text()]
    assert labelled == [100, 1000, 10_000]
    (legend,) = figure.legends
    looks = [(handle.get_linestyle(), handle.get_color()) for handle in legend.get_lines()]
    assert len(set(looks)) == 3


def test_a_saturated_curve_has_no_exponent_and_a_power_law_has_its_own() -> None:
    for ax, panel in zip(
        picture("adap-ksweep").axes, specified("adap-ksweep")[1].panels, strict=True
    ):
        slopes = [series.slope for series in panel.series if series.slope is not None]
        assert all(0.8 < slope < 1.6 for slope in slopes)
        written = sorted(text.get_text() for text in ax.texts)
        assert written == sorted(rf"$\propto K^{{{slope:.1f}}}$" for slope in slopes)
        for one, other in combinations(ax.texts, 2):
            assert not overlap(one, other)


def test_bounds_are_told_apart_by_colour_and_their_dots_and_labels_have_it() -> None:
    figure, drawing = picture("lower-bounds"), specified("lower-bounds")[1]
    for ax, panel in zip(figure.axes, drawing.panels, strict=True):
        lines = dict(zip((s.curve for s in panel.series), ax.lines, strict=True))
        # A bound of azize2025 has the colour of its instance and a line of its own.
        later = {name: line for name, line in lines.items() if name.endswith("-2025")}
        solid = {n: line for n, line in lines.items() if not n.endswith(("-regimes", "-2025"))}
        for name, line in later.items():
            partner = solid[name.removesuffix("-2025")]
            assert line.get_color() == partner.get_color()
            assert line.get_linestyle() != partner.get_linestyle()
        colours = [line.get_color() for line in solid.values()]
        assert len(set(colours)) == len(colours)
        assert all(max(to_rgb(c)) - min(to_rgb(c)) > 0.2 or c == "#000000" for c in colours)
        for name, line in solid.items():
            assert lines[f"{name}-regimes"].get_color() == line.get_color()
        assert [text.get_color() for text in ax.texts] == colours
        assert not any(overlap(one, other) for one, other in combinations(ax.texts, 2))


def test_labels_of_the_regret_are_powers_of_ten_alone() -> None:
    # Every second decade, as in Figs. 4, 5 and 7; no `1000` or `10` between them.
    for ax in picture("adap-c2").axes[:4]:
        assert isinstance(ax.yaxis.get_minor_formatter(), NullFormatter)
