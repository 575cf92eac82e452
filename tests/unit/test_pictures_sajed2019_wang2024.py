"""Pictures of sajed2019 and wang2024, drawn from their references as readers see them."""

from functools import cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
import pytest
from composed import load
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from test_shapes import assert_no_marker_is_cut, labels, look

from dpbandits.curves import references
from dpbandits.drawing import plotting
from dpbandits.drawing.plotting import Drawing
from dpbandits.factory import produce
from dpbandits.spec.figure import FigureSpec

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("in_checkout")]

OVER_TIME = ("dpse-epsilon", "ftpl-approx-dp", "ftpl-pure-dp")
OVER_PARAMETERS = ("ftpl-delta-sweep", "ftpl-epsilon-sweep", "gdp-elim")
CDFS = ("ftpl-gauss-cdf", "ftpl-beta-cdf", "ftpl-new-cdf")
ALL = ("stopping-rules", *OVER_TIME, *OVER_PARAMETERS, *CDFS)


class Picture(NamedTuple):
    """Drawn figure with the curves of its reference."""

    spec: FigureSpec
    drawing: Drawing
    figure: Figure


@cache
def picture(name: str) -> Picture:
    """Return the annotated picture of a figure as its file specifies it."""
    spec, _ = load(name, ["figure.annotated=true"])
    drawing = produce.drawing(spec, references.read(spec, references.PAPER))
    draw = plotting.drawing_function(spec.paper, spec.draw)
    with matplotlib.style.context(plotting.style_file(), after_reset=True):
        figure = draw(drawing)
        figure.draw_without_rendering()
    return Picture(spec, drawing, figure)


def handles(figure: Figure) -> list[Line2D]:
    """Return the lines in the legend of a figure."""
    found = figure.legends[0].legend_handles
    return [handle for handle in found if isinstance(handle, Line2D)]


@pytest.mark.parametrize("name", ALL)
def test_every_text_is_inside_of_the_page_and_titles_do_not_run_together(name: str) -> None:
    figure = picture(name).figure
    texts = [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        texts += [ax.title, ax.xaxis.label, ax.yaxis.label, ax.xaxis.get_offset_text(), *ax.texts]
    for text in texts:
        (left, low), (right, high) = text.get_window_extent().get_points()
        assert 0 <= left <= right <= figure.bbox.x1, text.get_text()
        assert 0 <= low <= high <= figure.bbox.y1, text.get_text()
    titles = [ax.title.get_window_extent() for ax in figure.axes if ax.get_title()]
    assert not any(one.overlaps(other) for one, other in combinations(titles, 2))


@pytest.mark.parametrize("name", ALL)
def test_both_axes_have_names_below_the_columns_and_beside_the_rows(name: str) -> None:
    axes = [ax for ax in picture(name).figure.axes if ax.axison]
    places = [ax.get_subplotspec() for ax in axes]
    for ax, place in zip(axes, places, strict=True):
        assert place is not None
        lowest = all(
            other is None
            or other.colspan.start != place.colspan.start
            or other.rowspan.start <= place.rowspan.start
            for other in places
        )
        assert bool(ax.get_xlabel()) or not lowest
        assert bool(ax.get_ylabel()) == place.is_first_col()
        if ax.get_xlabel():
            assert len(labels(ax.xaxis)) >= 2


@pytest.mark.parametrize("name", OVER_TIME)
def test_time_is_named_alike_everywhere(name: str) -> None:
    names = {ax.get_xlabel() for ax in picture(name).figure.axes if ax.axison} - {""}
    assert names == {"Round $t$"}


@pytest.mark.parametrize("name", OVER_PARAMETERS)
def test_no_marker_is_cut_at_the_frame(name: str) -> None:
    for ax in picture(name).figure.axes:
        assert_no_marker_is_cut(ax)


@pytest.mark.parametrize("name", [*OVER_TIME[1:], *OVER_PARAMETERS])
def test_a_legend_shows_its_lines_as_they_are_drawn_and_tells_them_apart(name: str) -> None:
    figure = picture(name).figure
    for handle in handles(figure):
        same = [line for ax in figure.axes for line in ax.lines if look(line) == look(handle)]
        # A pattern of dashes repeats within the handle.
        assert {line.get_label() for line in same} == {handle.get_label()}
        assert sum(handle._dash_pattern[1] or (0,)) < 22  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [*OVER_TIME, "gdp-elim"])
def test_no_decade_of_an_axis_is_empty_but_the_one_below(name: str) -> None:
    shown = picture(name)
    for ax, _ in zip(shown.figure.axes, shown.drawing.panels, strict=False):
        row = ax.get_shared_y_axes().get_siblings(ax)
        panels = [
            p
            for other, p in zip(shown.figure.axes, shown.drawing.panels, strict=False)
            if other in row
        ]
        played = [series for p in panels for series in p.series if series.runs]
        # The first rounds of a curve over time are a vertical line.
        starts = [0.02 * series.x[-1] if series.over == "t" else 0 for series in played]
        values = [s.centre[s.x >= x].min() for s, x in zip(played, starts, strict=True)]
        assert min(values) / 15 < ax.get_ylim()[0] < min(values)


def test_samples_are_over_the_order_of_theorem_3_3_and_failures_are_shares() -> None:
    shown = picture("stopping-rules")
    for ax, panel in zip(shown.figure.axes, shown.drawing.panels, strict=True):
        curves = {series.label: series.centre for series in panel.series}
        order = sum(curves[f"t_{i}"] for i in range(3)) if "t_0" in curves else 1.0
        drawn = [np.asarray(line.get_ydata()) for line in ax.lines]
        played = [s.centre / order for s in panel.series if s.runs]
        assert len(played) == 3
        assert all(any(np.array_equal(y, own) for own in drawn) for y in played)
    labels_drawn = [str(handle.get_label()) for handle in handles(shown.figure)]
    assert len(set(labels_drawn)) == 5
    assert "Failures that Theorem 3.1 allows" in labels_drawn


def test_the_number_of_arms_has_the_factor_to_dp_se_beside_it() -> None:
    shown = picture("dpse-ksweep")
    series = {one.style: one.mean for one in shown.drawing.panels[0].series}
    factors = series["private-ucb"] / series["dp-se"]
    assert any(
        np.array_equal(np.asarray(line.get_ydata()), factors) for line in shown.figure.axes[1].lines
    )


@pytest.mark.parametrize("name", ["ftpl-delta-sweep", "ftpl-epsilon-sweep"])
def test_a_slope_is_fitted_to_three_values_at_least_and_stays_clear_of_the_curves(
    name: str,
) -> None:
    shown = picture(name)
    for ax, panel in zip(shown.figure.axes, shown.drawing.panels, strict=True):
        played = [series for series in panel.series if series.runs]
        for series in played:
            assert series.fit is not None
            low, high = series.fit
            assert ((low <= series.x) & (series.x <= high)).sum() >= 3
            assert series.slope is not None
        assert len(ax.texts) == 1 + len(played)
        for text in ax.texts:
            box = text.get_window_extent()
            for line in ax.lines:
                points = ax.transData.transform(np.asarray(line.get_xydata()))
                steps = [np.linspace(one, two, 20) for one, two in pairwise(points)]
                for x, y in np.concatenate(steps or [points]):
                    assert not box.contains(x, y), text.get_text()


def test_a_bound_far_below_the_curves_is_written_with_its_values() -> None:
    shown = picture("gdp-elim")
    for ax, panel in zip(shown.figure.axes, shown.drawing.panels, strict=True):
        (lower,) = (series for series in panel.series if series.curve == "lower")
        (text,) = ax.texts
        first, last = lower.centre[[0, -1]]
        assert text.get_text().endswith(f"(Thm 4): {first:.2g} to {last:.2g}")
        assert lower.centre.max() < ax.get_ylim()[0]
    assert all("Lower" not in str(handle.get_label()) for handle in handles(shown.figure))


def test_titles_of_the_cdfs_state_the_pulls_that_are_drawn() -> None:
    def titles(*overrides: str) -> list[str]:
        return [panel.title for panel in load("ftpl-beta-cdf", list(overrides))[0].panels]

    assert titles()[:2] == ["with $k_i$, $N_i$ = 8", "with $k_i$, $N_i$ = 827"]
    assert titles()[-1] == "without $k_i$, $N_i$ = 10,000,000"
    changed: Any = ("pulls=2000", "with_k=false")
    overrides = [f"figure.panels.a.parameters.{each}" for each in changed]
    assert titles(*overrides)[0] == "without $k_i$, $N_i$ = 2,000"
