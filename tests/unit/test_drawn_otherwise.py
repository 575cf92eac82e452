"""Numbers that a picture shows in another form than a curve equal those of its table.

Regions, boxes, bars of the audit, points of the leaderboard, and numbers written as texts.
"""

import math
import re

import numpy as np
import pytest
from drawn_tables import artist_id, drawn, lines_by_id, points, table
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from dpbandits.drawing.styles import in_mathtext
from dpbandits.spec.figure import Quantity


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


# Regions of the CDFs ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "figure",
    [
        "ftpl-gauss-cdf",
        pytest.param("ftpl-beta-cdf", marks=pytest.mark.slow),
        pytest.param("ftpl-new-cdf", marks=pytest.mark.slow),
    ],
)
def test_the_region_of_a_cdf_is_between_its_edges_and_its_delta_is_the_smallest(
    figure: str,
) -> None:
    picture, drawing = drawn(figure)
    for ax, panel in zip(picture.axes, drawing.panels, strict=False):
        edges = [
            table(figure)[panel.letter, f"Feasible region, {e} edge"] for e in ("lower", "upper")
        ]
        (region,) = (c for c in ax.collections if isinstance(c, PolyCollection))
        (path,) = region.get_paths()
        corners = {(x, y) for e in edges for x, y in zip(e["x"], e["centre"], strict=True)}
        assert {(x, y) for x, y in np.asarray(path.vertices).tolist()} == corners
        smallest = table(figure)[panel.letter, "Smallest delta"]["centre"][0]
        (text,) = texts(ax)
        digits, power = re.fullmatch(
            r"Lemma 8 needs\n\$\\delta \\geq ([0-9.]+)(?: \\cdot 10\^\{(-?\d+)\})?\$", text
        ).groups()  # type: ignore[union-attr]
        written = float(digits) * 10.0 ** int(power or 0)
        assert written == pytest.approx(smallest, rel=0.051)  # two digits
        assert (written == 0) == (smallest == 0)


# Boxes of the episodes ----------------------------------------------------------------------------


def test_every_step_is_in_a_box_of_the_arm_whose_pulls_increase() -> None:
    (ax,) = drawn("adap-episodes")[0].axes
    counts = np.array([columns["centre"] for columns in table("adap-episodes").values()])
    played = np.diff(counts, axis=1, prepend=0)
    assert np.array_equal(played.sum(axis=0), np.ones(counts.shape[1]))
    boxes = [box for box in ax.patches if isinstance(box, Rectangle)]
    for step in range(counts.shape[1]):
        middle = step + 0.5
        (box,) = (b for b in boxes if b.get_x() < middle < b.get_x() + b.get_width())
        arm = int(played[:, step].argmax())
        assert arm < box.get_y() < box.get_y() + box.get_height() < arm + 1
        assert (f"$r_{{{step + 1}}}$", middle, arm + 0.5) in [
            (text.get_text(), *text.get_position()) for text in ax.texts
        ]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Arm 1", "Arm 2"]


# Leaderboard --------------------------------------------------------------------------------------


def test_the_points_of_the_leaderboard_are_centre_low_and_high_of_their_rows() -> None:
    picture, drawing = drawn("leaderboard")
    notions = list(dict.fromkeys(panel.row for panel in drawing.panels))
    instances = list(dict.fromkeys(panel.column for panel in drawing.panels))
    axes = [ax for ax in picture.axes if ax.lines]
    width = len(instances) + 1  # the last column holds the mean ranks
    assert len(axes) == width * len(notions)
    for block, notion in enumerate(notions):
        labels = [text.get_text() for text in axes[width * block].get_yticklabels()]
        for column, instance in enumerate(instances):
            own = {
                in_mathtext(series.legend): table("leaderboard")[panel.letter, series.label]
                for panel in drawing.panels
                for series in panel.series
                if (panel.row, panel.column) == (notion, instance)
            }
            assert sorted(own) == sorted(labels)
            lines = axes[width * block + column].lines
            for bar, mark in zip(lines[::2], lines[1::2], strict=True):
                ((number, y),) = points(mark)
                label = labels[round(y)]
                budget = 0 if y > round(y) else 1  # the largest is the upper one
                columns = own[label]
                assert number == columns["centre"][budget]
                ends = [[columns["low"][budget], y], [columns["high"][budget], y]]
                assert points(bar).tolist() == ends
                assert (mark.get_markerfacecolor() == "white") == (budget == 1)
                assert bar.get_color() == mark.get_color()
            assert len(lines) == 4 * len(labels)


# Privacy audit ------------------------------------------------------------------------------------

MARKERS = {Quantity.CLAIMED: "|", Quantity.COMPOSED: "D", Quantity.ONE_CHOICE: "o"}
WORDS = {
    Quantity.CLAIMED: "claimed",
    Quantity.COMPOSED: "composed",
    Quantity.ONE_CHOICE: "audited, one choice: at least",
}


def test_the_bars_and_marks_of_the_audit_are_the_centres_of_their_quantities() -> None:
    picture, drawing = drawn("privacy-audit")
    (legend,) = picture.legends
    words = {text.get_text(): i for i, text in enumerate(legend.get_texts())}
    for quantity, marker in MARKERS.items():
        assert legend.legend_handles[words[WORDS[quantity]]].get_marker() == marker  # type: ignore[union-attr]
    blocks: dict[str, dict[Quantity, list[np.ndarray]]] = {}
    for panel in drawing.panels:
        quantity = panel.series[0].shows
        values = [table("privacy-audit")[panel.letter, s.label]["centre"] for s in panel.series]
        blocks.setdefault(panel.row, {})[quantity] = values
    axes = [ax for ax in picture.axes if ax.lines]
    budgets = axes[0].get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]
    assert len(axes) == budgets * len(blocks)
    for number, ax in enumerate(axes):
        block, i = list(blocks.values())[number // budgets], number % budgets
        most = ax.get_xlim()[1]
        bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
        audited = [float(values[i]) for values in block[Quantity.AUDITED]]
        places = [(bar.get_x(), bar.get_width()) for bar in bars]
        assert places == [(0.0, min(value, most)) for value in audited]
        rows = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        assert rows == pytest.approx(list(range(len(audited))))
        expected, written = [], []
        for value in audited:
            if value > most:
                written.append(rf"{value:.3g}$\,\rightarrow$")
            elif value == 0:
                written.append("0")
        for quantity, marker in MARKERS.items():
            for row, value in enumerate(float(values[i]) for values in block.get(quantity, [])):
                if value <= most:
                    expected.append((value, float(row), marker))
                else:
                    expected.append((most, float(row), ">"))
                    written.append(r"$\infty$" if math.isinf(value) else f"{value:.3g}")
        marks = [(*points(line)[0].tolist(), line.get_marker()) for line in ax.lines]
        assert sorted(marks) == sorted(expected)
        assert texts(ax) == written


# Numbers as texts ---------------------------------------------------------------------------------


def test_the_errors_of_counters_are_over_the_bound() -> None:
    picture, drawing = drawn("counter-error")
    for ax, panel in zip(picture.axes, drawing.panels, strict=True):
        columns = [table("counter-error")[panel.letter, s.label]["centre"] for s in panel.series]
        for line, column in zip(ax.lines, columns, strict=True):
            assert np.array_equal(points(line)[:, 1], column / columns[0])


def test_the_table_below_a_panel_has_the_best_and_the_worst_run() -> None:
    picture, drawing = drawn("dpucb-2arms")
    below = picture.axes[len(drawing.panels) :]
    for ax, panel in zip(below, drawing.panels, strict=True):
        (cells,) = ax.tables
        for row, series in enumerate(panel.series, start=1):
            columns = table("dpucb-2arms")[panel.letter, series.label]
            best, worst = columns["min"][-1], columns["max"][-1]
            written = [cells[row, column].get_text().get_text() for column in range(4)]
            assert written[0] == series.label
            assert [float(each.replace(",", "")) for each in written[1:]] == pytest.approx(
                [best, worst, worst - best], abs=0.0501
            )


def test_a_curve_that_leaves_the_frame_has_its_last_value_written() -> None:
    (ax,) = drawn("exp3-deterministic")[0].axes
    columns = table("exp3-deterministic")["a", "Uniform"]
    assert texts(ax) == [f"\N{UPWARDS ARROW} Uniform: {columns['centre'][-1]:,.0f} at the horizon"]
    beyond = columns["x"][columns["centre"] > ax.get_ylim()[1]]
    assert ax.texts[0].xy[0] == beyond[0]  # type: ignore[attr-defined]


def test_the_names_of_bounds_are_beside_their_last_points() -> None:
    picture, drawing = drawn("lower-bounds")
    for ax, panel in zip(picture.axes, drawing.panels, strict=True):
        named = {text.get_text(): text.xy[1] for text in ax.texts}  # type: ignore[attr-defined]
        assert named == {
            in_mathtext(series.label): table("lower-bounds")[panel.letter, series.label]["centre"][
                -1
            ]
            for series in panel.series
            if series.style != "transition" and "azize2025" not in series.label
        }


def test_the_written_powers_are_least_squares_slopes_of_the_drawn_points() -> None:
    picture, drawing = drawn("ftpl-epsilon-sweep")
    for ax, panel in zip(picture.axes, drawing.panels, strict=True):
        written = [text.split("  ") for text in texts(ax)[1:]]
        curves = {in_mathtext(series.legend): series for series in panel.series}
        assert len(written) >= 2
        for name, power in written:
            series = curves[name]
            ((_, line),) = lines_by_id(picture)[artist_id((panel.letter, series.label))]
            low, high = series.fit or (0.0, math.inf)
            fitted = [(math.log(x), math.log(y)) for x, y in points(line) if low <= x <= high]
            n, (u, v) = len(fitted), map(math.fsum, zip(*fitted, strict=True))
            slope = math.fsum((a - u / n) * (b - v / n) for a, b in fitted)
            slope /= math.fsum((a - u / n) ** 2 for a, _ in fitted)
            misses = [b - v / n - slope * (a - u / n) for a, b in fitted]
            if max(map(abs, misses)) > math.log(2):
                assert power == "no power law"
            else:
                exponent = float(re.search(r"\^\{(.*)\}", power).group(1))  # type: ignore[union-attr]
                assert exponent == pytest.approx(slope, abs=0.00501)
