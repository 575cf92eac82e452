"""Pictures of tossou2016 and tossou2017, drawn from their references."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from reference_pictures import inside, laid_out, picture, specified

from dpbandits.drawing.plotting import Drawing
from dpbandits.drawing.shapes import ROUND

pytestmark = pytest.mark.long

ADVERSARIES = ("deterministic", "stochastic", "fully-oblivious", "oblivious", "switching")
OVER_TIME = [f"exp3-{adversary}" for adversary in ADVERSARIES]


def bars(ax: Axes) -> list[LineCollection]:
    return [each for each in ax.collections if isinstance(each, LineCollection)]


def curves(ax: Axes) -> list[Line2D]:
    # Without the caps of bars.
    return [line for line in ax.lines if line.get_linestyle() != "None"]


def without_inputs(drawing: Drawing) -> Drawing:
    return replace(
        drawing,
        panels=tuple(
            replace(panel, series=tuple(replace(s, legend=s.label) for s in panel.series))
            for panel in drawing.panels
        ),
    )


@pytest.mark.parametrize("name", ["dpucb-2arms", "dpucb-10arms"])
def test_a_regret_of_zero_is_left_out_of_a_logarithmic_axis(name: str) -> None:
    drawing = specified(name)[1]
    for ax, panel in zip(picture(name).axes, drawing.panels, strict=False):
        assert ax.get_xlabel() == ROUND
        low = ax.get_ylim()[0]
        for line, series in zip(curves(ax), panel.series, strict=True):
            # As drawn: a masked point is nan, a clipped one lies far below the frame.
            drawn = line.get_transform().transform(np.asarray(line.get_xydata()))
            shown = np.isfinite(drawn).all(axis=1)
            assert shown.tolist() == (series.centre > 0).tolist()
            assert series.centre[shown].min() > low


def test_the_legend_says_what_it_has_in_parentheses_where_it_has_any() -> None:
    drawing = specified("dpucb-2arms")[1]
    for ax in picture("dpucb-2arms").axes[:2]:
        legend = ax.get_legend()
        assert legend is not None
        assert legend.get_title().get_text() == r"In parentheses: the input $\epsilon$"
        assert legend.get_texts()[0].get_text() == "UCB"
    small = picture("dpucb-2arms").axes[1].get_legend()
    assert small is not None
    assert small.get_texts()[-1].get_text() == r"DP-UCB-INT ($4.63 \cdot 10^{-5}$)"
    plain = laid_out("dpucb-2arms", without_inputs(drawing)).axes[0].get_legend()
    assert plain is not None
    assert plain.get_title().get_text() == ""


@pytest.mark.parametrize("name", OVER_TIME)
def test_no_marker_hides_an_error_bar(name: str) -> None:
    figure = picture(name)
    (ax,) = figure.axes
    dots = figure.dpi / 72
    half = ax.lines[0].get_markersize() / 2 * dots
    assert len(bars(ax)) == len(curves(ax)) == 4
    for line, collection in zip(curves(ax), bars(ax), strict=True):
        segments = collection.get_segments()
        assert len(segments) == 12
        if line.get_marker() in ("", "None"):
            continue
        marked = line.get_markevery()
        assert isinstance(marked, list)
        points = np.asarray(line.get_xydata())[np.array(marked)]
        markers = ax.transData.transform(points)[:, 0]
        beside = ax.transData.transform(np.array([s[0] for s in segments]))[:, 0]
        assert len(markers) >= 6
        assert np.abs(markers[:, None] - beside).min() > half


@pytest.mark.parametrize("name", OVER_TIME)
def test_all_that_learns_is_within_the_frame_and_the_regret_has_one_unit(name: str) -> None:
    figure, drawing = picture(name), specified(name)[1]
    (ax,) = figure.axes
    for series in drawing.panels[0].series:
        if series.style != "uniform":
            for end in (series.low, series.centre, series.high):
                assert inside(ax, np.column_stack([series.x, end])).all()
    assert ax.yaxis.get_offset_text().get_text() == ""
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    assert all(
        float(text.get_text().replace("\N{MINUS SIGN}", "-")) == tick for tick, text in ticks
    )
    assert ax.get_xlabel() == ROUND


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exp3-deterministic", "51,547"),
        ("exp3-switching", "98,369"),
        *((f"exp3-{near}", None) for near in ADVERSARIES[1:4]),
    ],
)
def test_uniform_play_is_within_the_frame_or_its_end_is_written_there(
    name: str, said: str | None
) -> None:
    figure, drawing = picture(name), specified(name)[1]
    (ax,) = figure.axes
    uniform = drawing.panels[0].series[-1]
    assert uniform.style == "uniform"
    within = inside(ax, np.column_stack([uniform.x, uniform.high])).all()
    texts = [text.get_text() for text in ax.texts]
    assert within == (said is None)
    assert texts == ([] if said is None else [f"\u2191 Uniform: {said} at the horizon"])
    for text in ax.texts:
        assert text.get_window_extent().x1 <= ax.get_window_extent().x1
        for collection in bars(ax)[:3]:
            ends = ax.transData.transform(np.concatenate(collection.get_segments()))
            extent = text.get_window_extent()
            assert not any(extent.contains(x, y) for x, y in ends)


def test_every_panel_of_exp3_privacy_has_its_labels_and_shows_its_bars() -> None:
    figure = picture("exp3-privacy")
    assert len(figure.axes) == 5
    for ax in figure.axes:
        assert ax.get_xlabel() == r"Privacy budget $\epsilon$"
        labels = [text for text in ax.get_xticklabels() if text.get_text()]
        assert len(labels) >= 2
        assert all(text.get_visible() for text in labels)
        for line, collection in zip(curves(ax), bars(ax), strict=True):
            assert collection.get_zorder() > line.get_zorder()
            assert len(collection.get_segments()) == 4
    (legend,) = figure.legends
    handles = [(h.get_color(), h.get_linestyle()) for h in legend.get_lines()]
    assert handles == [(li.get_color(), li.get_linestyle()) for li in curves(figure.axes[0])]
    for ax in figure.axes:
        around = ax.get_tightbbox()
        assert around is not None
        assert not legend.get_window_extent().overlaps(around)
