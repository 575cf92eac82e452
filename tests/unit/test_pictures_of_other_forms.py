"""Numbers that a picture shows in another form than a curve equal those of its table.

Regions, boxes, bars of the audit, points of leaderboards and variants, and numbers as texts.
"""

import math
import re

import numpy as np
import pytest
from composed import load
from drawn_tables import artist_id, draw, drawn, lines_by_id, points, table
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from dpbandits.drawing.styles import in_mathtext
from dpbandits.factory import produce
from dpbandits.tables.series import STATISTICS, Series, identity, x_values

pytestmark = pytest.mark.usefixtures("in_checkout")


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize(
    "law", ["gauss", *(pytest.param(x, marks=pytest.mark.slow) for x in ("beta", "new"))]
)
def test_the_region_of_a_cdf_is_between_its_edges_and_its_delta_is_the_smallest(law: str) -> None:
    figure = f"ftpl-{law}-cdf"
    picture, drawing = drawn(figure)
    for ax, panel in zip(picture.axes, drawing.panels, strict=False):
        edges = (
            table(figure)[panel.letter, f"Feasible region, {e} edge"] for e in ("lower", "upper")
        )
        corners = {(x, y) for e in edges for x, y in zip(e["x"], e["centre"], strict=True)}
        (region,) = (c for c in ax.collections if isinstance(c, PolyCollection))
        (path,) = region.get_paths()
        assert {(x, y) for x, y in np.asarray(path.vertices).tolist()} == corners
        smallest = table(figure)[panel.letter, "Smallest delta"]["centre"][0]
        (text,) = texts(ax)
        match = re.search(r"\\geq ([0-9.]+)(?: \\cdot 10\^\{(-?\d+)\})?\$", text)
        assert match
        written = float(match[1]) * 10.0 ** int(match[2] or 0)
        assert written == pytest.approx(smallest, rel=0.051)  # two digits
        assert (written == 0) == (smallest == 0)


def test_every_step_is_in_a_box_of_the_arm_whose_pulls_increase() -> None:
    (ax,) = drawn("adap-episodes")[0].axes
    counts = np.array([columns["centre"] for columns in table("adap-episodes").values()])
    played = np.diff(counts, axis=1, prepend=0)
    assert np.array_equal(played.sum(axis=0), np.ones(counts.shape[1]))
    boxes = [box for box in ax.patches if isinstance(box, Rectangle)]
    for step in range(counts.shape[1]):
        middle, arm = step + 0.5, int(played[:, step].argmax())
        (box,) = (b for b in boxes if b.get_x() < middle < b.get_x() + b.get_width())
        assert arm < box.get_y() < box.get_y() + box.get_height() < arm + 1
        labels = [(text.get_text(), *text.get_position()) for text in ax.texts]
        assert (f"$r_{{{step + 1}}}$", middle, arm + 0.5) in labels


# Leaderboards and variants ------------------------------------------------------------------------


def test_the_points_of_the_leaderboard_are_its_rows_in_the_order_of_their_mean_ranks() -> None:
    picture, drawing = drawn("leaderboard")
    notions = list(dict.fromkeys(panel.row for panel in drawing.panels))
    instances = list(dict.fromkeys(panel.column for panel in drawing.panels))
    axes = [ax for ax in picture.axes if ax.lines]
    width = len(instances) + 1  # the last column holds the mean ranks
    ranking = ("mean", "median", "std", "runs")
    assert len(axes) == width * len(notions)
    for block, notion in enumerate(notions):
        labels = [text.get_text() for text in axes[width * block].get_yticklabels()]
        ranks: dict[str, list[list[int]]] = {label: [[], []] for label in labels}
        for column, instance in enumerate(instances):
            rows = {
                in_mathtext(series.legend): table("leaderboard")[panel.letter, series.label]
                for panel in drawing.panels
                for series in panel.series
                if (panel.row, panel.column) == (notion, instance)
            }
            assert sorted(rows) == sorted(labels)
            for label, budget in ((label, i) for label in labels for i in (0, 1)):
                game = {
                    key: np.array([row[key][budget] for row in rows.values()]) for key in ranking
                }
                error = game["std"] / np.sqrt(game["runs"])
                name = "median" if any(error > 0.05 * game["mean"]) else "mean"
                own = rows[label][name][budget]  # equal values share the middle of their ranks
                ranks[label][budget].append(
                    0.5 + sum(game[name] < own) + sum(game[name] == own) / 2
                )
            lines = axes[width * block + column].lines
            assert len(lines) == 4 * len(labels)
            for bar, mark in zip(lines[::2], lines[1::2], strict=True):
                ((number, y),) = points(mark)
                budget = 0 if y > round(y) else 1  # the largest is the upper one
                columns = rows[labels[round(y)]]
                low, high = columns["low"][budget], columns["high"][budget]
                assert number == columns["centre"][budget]
                assert points(bar).tolist() == [[low, y], [high, y]]
                assert (mark.get_markerfacecolor() == "white") == (budget == 1)
                assert bar.get_color() == mark.get_color()
        marks = axes[width * block + width - 1].lines[1::2]
        for mark in marks:
            ((mean, y),) = points(mark)
            budget = int(mark.get_markerfacecolor() == "white")
            assert mean == pytest.approx(np.mean(ranks[labels[round(y)]][budget]))
        overall = [float(np.mean(ranks[label])) for label in labels]
        assert len(marks) == 2 * len(labels)
        assert overall == sorted(overall)


def test_a_stopping_time_without_a_median_is_an_arrow_and_its_algorithm_has_no_mean() -> None:
    spec, _ = load("identification-leaderboard", ())
    rng, series, ratios = np.random.default_rng(71), [], np.ones((6, 4, 2))
    for number, panel in enumerate(spec.panels):
        for k, curve in enumerate(panel.curves):
            values = rng.uniform(10, 100, 2)
            if curve.shows.is_share:
                values = np.where(np.isfinite(ratios[number - 6, k]), 0.25 * (k == 1), 0.5)
            elif curve.is_exact:
                ratios[number] /= values
            else:
                values[0] = math.inf if (number, k) == (2, 0) else values[0]
                ratios[number, k] = values
            fields = identity(panel.letter, curve) | dict.fromkeys(STATISTICS, values)
            series.append(Series(**fields, runs=100, slope=None, x=x_values(curve)))
    names = [curve.legend for curve in spec.panels[0].curves]
    axes = [ax for ax in draw(spec, produce.drawing(spec, series)).axes if ax.lines]
    for number, ax in enumerate(axes):
        budget, column = divmod(number, 7)
        labels = [label.get_text() for label in axes[7 * budget].get_yticklabels()]
        means = ratios[:, :, budget].prod(axis=0) ** (1 / 6)
        values = means if column == 6 else ratios[column, :, budget]
        order = [names.index(label) for label in labels]
        assert (np.diff(means[order]) >= 0).all()
        marks = [line for line in ax.lines if line.get_marker() not in ("", "None")]
        for k, mark in zip(order, marks, strict=True):
            is_known = math.isfinite(values[k])
            place = values[k] if is_known else ax.get_xlim()[1]
            assert points(mark)[0, 0] == pytest.approx(place)
            assert (mark.get_marker() == ">") == (not is_known)
        every = [f"{25 * (k == 1)} %" if math.isfinite(values[k]) else "50 %" for k in order]
        if column == 6:
            every = [f"{v:.3g}" if math.isfinite(v) else "5 of 6" for v in values[order]]
        assert [text for text in texts(ax) if text] == [text for text in every if text != "0 %"]


def test_a_small_panel_of_every_curve_names_its_factor_to_the_lowest() -> None:
    picture, drawing = drawn("leaderboard-epsilon")
    titles = [ax.get_title() for ax in picture.axes if ax.axison]
    assert len(titles) == sum(len(panel.series) for panel in drawing.panels)
    columns = table("leaderboard-epsilon")
    letter = drawing.panels[0].letter
    ends = {s.legend: columns[letter, s.label]["centre"][-1] for s in drawing.panels[0].series}
    for legend, end in ends.items():
        (title,) = (t for t in titles[: len(ends)] if t.startswith(f"{legend}\n"))
        factor = float(title.rpartition(" ")[2].replace(",", ""))
        assert factor == pytest.approx(end / min(ends.values()), rel=0.05)


@pytest.mark.parametrize("paper", ["tossou2016", "sajed2019", "azize2022", "azize2025"])
def test_a_variant_has_a_filled_median_and_a_hollow_mean_over_the_mean_of_the_first(
    paper: str,
) -> None:
    picture, drawing = drawn(f"variants-{paper}")
    axes = [ax for ax in picture.axes if ax.axison]
    for ax, panel in zip(axes, drawing.panels, strict=True):
        rows = [table(f"variants-{paper}")[panel.letter, s.label] for s in panel.series]
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        for white, column in ((False, "median"), (True, "mean")):
            these = [dot for dot in dots if (dot.get_markerfacecolor() == "white") == white]
            expected = [row[column][-1] / rows[0]["mean"][-1] for row in rows]
            assert [points(dot)[0, 0] for dot in these] == expected


@pytest.mark.long
@pytest.mark.parametrize("name", ["c1", "c2", "c3", "c4", "epsilon"])
def test_every_played_curve_of_azize2025_is_a_median_with_hollow_dots_at_its_means(
    name: str,
) -> None:
    lines = lines_by_id(drawn(f"dpklucb-{name}")[0])
    for curve, columns in table(f"dpklucb-{name}").items():
        ((ax, line),) = lines[artist_id(curve)]
        assert np.array_equal(columns["centre"], columns["median"])
        part = slice(None) if name == "epsilon" else slice(-1, None)
        means = np.column_stack([columns["x"], columns["mean"]])[part]
        others = [o for o in ax.lines if not o.get_gid() and o.get_color() == line.get_color()]
        dots = [other for other in others if np.array_equal(points(other), means)]
        assert len(dots) == (1 if columns["runs"][0] else 0), curve


# Privacy audit ------------------------------------------------------------------------------------

MARKERS = {"claimed": "|", "composed": "D", "audited-choice": "o"}


def test_the_bars_and_marks_of_the_audit_are_the_centres_of_their_quantities() -> None:
    picture, drawing = drawn("privacy-audit")
    blocks: dict[str, dict[str, list[np.ndarray]]] = {}
    for panel in drawing.panels:
        values = [table("privacy-audit")[panel.letter, s.label]["centre"] for s in panel.series]
        blocks.setdefault(panel.row, {})[panel.series[0].shows.name] = values
    axes = [ax for ax in picture.axes if ax.lines]
    grid = axes[0].get_subplotspec()
    assert grid
    budgets = grid.get_gridspec().ncols
    assert len(axes) == budgets * len(blocks)
    for number, ax in enumerate(axes):
        block, i = list(blocks.values())[number // budgets], number % budgets
        most = ax.get_xlim()[1]
        bars = [bar for bar in ax.patches if isinstance(bar, Rectangle)]
        audited = [float(values[i]) for values in block["audited"]]
        places = [(bar.get_x(), bar.get_width()) for bar in bars]
        assert places == [(0.0, min(value, most)) for value in audited]
        rows = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        assert rows == pytest.approx(list(range(len(audited))))
        beyond = [(v, rf"{v:.3g}$\,\rightarrow$" if v else "0") for v in audited]
        written = [text for v, text in beyond if v > most or v == 0]
        expected = []
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
    (legend,) = picture.legends
    handles = {h.get_marker() for h in legend.legend_handles if isinstance(h, Line2D)}
    assert handles >= {*MARKERS.values()}


# Ratios, and numbers as texts ---------------------------------------------------------------------


def test_ratios_are_those_of_the_table() -> None:
    picture, drawing = drawn("counter-error")  # over the bound
    for ax, panel in zip(picture.axes, drawing.panels, strict=True):
        columns = [table("counter-error")[panel.letter, s.label]["centre"] for s in panel.series]
        for line, column in zip(ax.lines, columns, strict=True):
            assert np.array_equal(points(line)[:, 1], column / columns[0])
    picture, drawing = drawn("dpse-ksweep")  # over DP-SE
    mean = {s.style: table("dpse-ksweep")["a", s.label]["mean"] for s in drawing.panels[0].series}
    factors = mean["private-ucb"] / mean["dp-se"]
    assert any(np.array_equal(points(line)[:, 1], factors) for line in picture.axes[1].lines)
    picture, drawing = drawn("stopping-rules")  # over the order of Theorem 3.3
    for ax, panel in zip(picture.axes, drawing.panels, strict=True):
        centre = {
            s.label: table("stopping-rules")[panel.letter, s.label]["centre"] for s in panel.series
        }
        order = sum(centre[f"t_{i}"] for i in range(3)) if "t_0" in centre else 1.0
        played = [centre[series.label] / order for series in panel.series if series.runs]
        assert len(played) == 3
        shown = [points(line)[:, 1] for line in ax.lines]
        assert all(any(np.array_equal(y, own) for own in shown) for y in played)


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
            numbers = [float(each.replace(",", "")) for each in written[1:]]
            assert numbers == pytest.approx([best, worst, worst - best], abs=0.0501)


@pytest.mark.parametrize("figure", ["exp3-deterministic", "exp3-switching", "exp3-oblivious"])
def test_a_curve_that_leaves_the_frame_has_its_last_value_written(figure: str) -> None:
    (ax,) = drawn(figure)[0].axes
    columns = table(figure)["a", "Uniform"]
    beyond = columns["x"][columns["centre"] > ax.get_ylim()[1]]
    assert bool(beyond.size) == (figure != "exp3-oblivious") == bool(texts(ax))
    for text in ax.texts:
        assert f" {columns['centre'][-1]:,.0f} " in text.get_text()
        assert text.xy[0] == beyond[0]  # type: ignore[attr-defined]


def test_bounds_have_their_names_at_their_last_points_and_their_range_if_far_below() -> None:
    picture, drawing = drawn("lower-bounds")
    for ax, panel in zip(picture.axes, drawing.panels, strict=True):
        named = {text.get_text(): text.xy[1] for text in ax.texts}  # type: ignore[attr-defined]
        assert named == {
            in_mathtext(s.label): table("lower-bounds")[panel.letter, s.label]["centre"][-1]
            for s in panel.series
            if s.style != "transition" and "azize2025" not in s.label
        }
    picture, drawing = drawn("gdp-elim")
    for ax, panel in zip(picture.axes, drawing.panels, strict=True):
        (lower,) = (s for s in panel.series if s.curve == "lower")
        first, *_, last = table("gdp-elim")[panel.letter, lower.label]["centre"]
        assert texts(ax)[0].endswith(f": {first:.2g} to {last:.2g}")
        assert max(first, last) < ax.get_ylim()[0]


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
            assert len(fitted) >= 3
            n, (u, v) = len(fitted), map(math.fsum, zip(*fitted, strict=True))
            slope = math.fsum((a - u / n) * (b - v / n) for a, b in fitted)
            slope /= math.fsum((a - u / n) ** 2 for a, _ in fitted)
            misses = [b - v / n - slope * (a - u / n) for a, b in fitted]
            match = re.search(r"\^\{(.*)\}", power)
            assert (match is None) == (max(map(abs, misses)) > math.log(2))
            assert match is None or float(match[1]) == pytest.approx(slope, abs=0.00501)


# Results of our own ------------------------------------------------------------------------------

BOUND = "Lower bound (azize2025)"


def axes_of(figure: str) -> dict[str, Axes]:
    """Return the axes of the panels that a figure draws, by their letters."""
    return {ax.get_title()[1]: ax for ax in drawn(figure)[0].axes}


def single_points(ax: Axes) -> list[tuple[float, float, Line2D]]:
    """Return the marks of an axes, each a line of one point, with it."""
    lines = [line for line in ax.lines if len(points(line)) == 1]
    return [(float(points(line)[0, 0]), float(points(line)[0, 1]), line) for line in lines]


def test_the_constants_are_the_medians_over_the_bound() -> None:
    columns, lines = table("constant"), lines_by_id(drawn("constant")[0])
    for (panel, label), of in columns.items():
        if panel == "f" or label == BOUND:
            continue
        ((ax, line),) = lines[artist_id((panel, label))]
        assert ax.get_title().startswith(f"({panel})")
        unit = columns[panel, BOUND]["centre"]
        np.testing.assert_allclose(points(line), np.column_stack([of["x"], of["centre"] / unit]))
    steps = [of for (panel, _), of in columns.items() if panel == "f"]
    unit = columns["b", BOUND]["centre"][columns["b", BOUND]["x"] == 1e10].item()
    expected = [(c / unit, row) for row, of in enumerate(steps) for c in of["centre"]]
    found = single_points(axes_of("constant")["f"])
    np.testing.assert_allclose([(x, y) for x, y, _ in found], expected)
    assert [line.get_markerfacecolor() for *_, line in found] == ["white", "black"] * len(steps)


def test_a_free_budget_is_the_first_after_the_last_that_costs_more_than_a_tenth() -> None:
    lines, seen = lines_by_id(drawn("free")[0]), 0
    for (panel, label), of in table("free").items():
        if label.startswith("Bound"):
            continue
        x, ratio = of["x"][:-1], of["mean"][:-1] / of["mean"][-1]
        free = [budget for i, budget in enumerate(x) if (ratio[i:] <= 1.1).all()]
        ((ax, line),) = lines[artist_id((panel, label))]
        assert ax.get_title().startswith(f"({panel})")
        (place,) = points(line)[:, 0]
        assert place == min(free, default=x[-1] * 1.15)
        seen += 1
    assert seen == 50


def test_the_tail_has_shares_means_medians_and_worst_runs() -> None:
    columns, axes = table("tail"), axes_of("tail")
    lines = lines_by_id(drawn("tail")[0])
    for (panel, label), of in columns.items():
        if panel in "abcdefghl":
            ((ax, line),) = lines[artist_id((panel, label))]
            there = of["centre"] > 0
            assert ax is axes[panel]
            assert points(line).tolist() == np.column_stack([of["x"], of["centre"]])[there].tolist()
        if panel in "mnop":
            dotted = [
                ln for ln in axes["efgh"["mnop".index(panel)]].lines if ln.get_linestyle() == ":"
            ]
            expected = np.column_stack([of["x"], of["centre"]]).tolist()
            assert sum(points(line).tolist() == expected for line in dotted) == 1
    for panel in "ijk":
        rows = [of["centre"].item() for (letter, _), of in columns.items() if letter == panel]
        found = [x for x, _, line in single_points(axes[panel]) if line.get_marker() != "x"]
        np.testing.assert_allclose(found, np.maximum(rows, 3e-6))


def test_equal_privacy_joins_a_published_regret_to_the_one_at_the_same_loss() -> None:
    made, columns = drawn("equal-privacy")[0], table("equal-privacy")
    marks = {str(ln.get_gid()): (ax, ln) for ax in made.axes for ln in ax.lines if ln.get_gid()}
    for curve, of in columns.items():
        for i, centre in enumerate(of["centre"]) if curve[0] not in "ab" else ():
            _, line = marks[f"{artist_id(curve)}-{i}"]
            assert points(line)[0, 0] == centre
            has_pair = (curve[0], f"{curve[1]} (equal)") in columns
            assert (line.get_markerfacecolor() == "white") is has_pair
