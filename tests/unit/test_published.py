"""Points of the papers' own curves: their table, their curves, and their place among the runs."""

import csv
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from commands import ROOT
from composed import load
from drawn_tables import drawn, points
from scipy import stats

from dpbandits.config import compose
from dpbandits.files import project
from dpbandits.judge.resampled import Resampler
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import Curve
from dpbandits.tables import published
from dpbandits.tables.series import x_values

FIGURES = {"lazyts-c2": {"a": 1, "c": 3, "e": 5}, "lazyts-vs-ts": {"b": 7}, "lazyts-gap": {"a": 11}}


def curves(figure: str, *changes: str) -> dict[tuple[str, str], Curve]:
    """Return the curves of a figure by panel and name."""
    spec, _ = compose.load(figure, list(changes))
    return {(panel.letter, curve.name): curve for panel in spec.panels for curve in panel.curves}


@pytest.mark.parametrize("figure", FIGURES)
def test_every_published_point_is_drawn_at_its_curve(figure: str) -> None:
    found = curves(figure)
    for panel, number in FIGURES[figure].items():
        rows = published.rows("hu2022", number)
        of_panel = {name: c for (letter, name), c in found.items() if letter == panel}
        for name in {row["curve"] for row in rows}:
            own = [(float(r["round"]), float(r["regret"])) for r in rows if r["curve"] == name]
            same = [c for c in of_panel.values() if c.style == name]
            assert same
            assert all(list(c.published) == own for c in same)
    others = {place for place, c in found.items() if c.published}
    assert {letter for letter, _ in others} == set(FIGURES[figure])


def test_what_fits_published_points_against_the_text_is_dashed_and_named_in_the_caption() -> None:
    found = set[str]()
    for name in project.names("figure"):
        spec, _ = load(name, [])
        read = [c for panel in spec.panels for c in panel.curves if c.variant]
        if spec.original and read:
            found.add(name)
            assert {curve.look.line for curve in read} == {"--"}, name
            assert "dashed" in spec.note, name
    assert found == {"adap-headline", "identify-thesis", "identify-poster", *FIGURES}


def test_no_curve_with_a_reading_has_a_rank() -> None:
    for name in ("leaderboard", "leaderboard-epsilon", "leaderboard-horizon"):
        spec, _ = load(name, [])
        assert not [c.label for panel in spec.panels for c in panel.curves if c.variant], name


@pytest.mark.parametrize("figure", FIGURES)
def test_the_picture_has_an_open_marker_at_every_row_of_the_table(figure: str) -> None:
    picture, drawing = drawn(figure)
    with (ROOT / "figures" / "published" / "hu2022.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    styles = {each.style for panel in drawing.panels for each in panel.series}
    for panel, ax in zip(drawing.panels, picture.axes, strict=True):
        marked = [each for each in ax.lines if str(each.get_gid()).startswith("published ")]
        assert {each.get_linestyle() for each in marked} <= {"None"}  # points are not joined
        number = FIGURES[figure].get(panel.letter)
        assert sorted(tuple(point) for line in marked for point in points(line)) == sorted(
            (float(row["round"]), float(row["regret"]))
            for row in rows
            if row["figure"] == str(number) and row["curve"] in styles
        )


@pytest.mark.parametrize(
    "change", ["figure.horizon=50_000", "figure.panels.a.epsilon=400", "figure.environment=c3"]
)
def test_a_changed_game_has_no_published_points(change: str) -> None:
    changed = curves("lazyts-c2", change)
    assert not any(curve.published for (panel, _), curve in changed.items() if panel == "a")


def test_a_point_of_a_game_that_ends_by_itself_has_no_horizon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, before = published.rows, curves("lazyts-c2")
    monkeypatch.setattr(
        published, "rows", lambda *of: [{**row, "horizon": "inf"} for row in rows(*of)]
    )
    after = curves("lazyts-c2", "figure.horizon=50_000")  # in panel (a), too
    assert [c.published for c in after.values()] == [c.published for c in before.values()]


def test_a_table_of_gains_has_no_published_points(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, game = published.rows, "exp3-oblivious"
    monkeypatch.setattr(
        published, "rows", lambda *of: [{**row, "instance": game} for row in rows(*of)]
    )
    problem = r"panels\.a\.published: the gains of .* are a table"
    with pytest.raises(UserError, match=problem):
        curves("lazyts-c2", f"figure.environment={game}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("figure,budget\n1,2\n", "has no column horizon, instance, curve, round, regret"),
        (
            f"{','.join(published.COLUMNS)}\n1,500,9,c2,ts,1,x\n",
            "cannot be read",
        ),
    ],
)
def test_a_broken_table_is_an_error(
    content: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hu2022.csv"
    file.write_text(content)
    monkeypatch.setattr(project, "find", lambda _: file)
    with pytest.raises(UserError, match=message):
        published.rows("hu2022", 1)


# The p-value -------------------------------------------------------------------------------------


def share(runs: np.ndarray, other: np.ndarray) -> float:
    """Return the share of all curves, `other` included, that are as far away as it."""
    return (1 + published.as_far_as(runs, other).sum()) / (1 + len(runs))


def test_the_place_of_one_more_run_is_uniform_whatever_its_law_is() -> None:
    rng = np.random.default_rng(1)
    for draw in (rng.standard_normal, rng.standard_exponential, rng.standard_cauchy):
        walks = np.cumsum(draw((3000, 40, 5)), axis=2)
        places = [share(walk[1:], walk[0]) for walk in walks]
        # 40 curves: each of the places 1/40, 2/40, ... is as likely as any other.
        counts = np.bincount(np.round(40 * np.array(places)).astype(int), minlength=41)[1:]
        assert stats.chisquare(counts).pvalue > 1e-4 / 3


@pytest.mark.parametrize("shift", [-1.0, 1.0])
def test_a_curve_beyond_all_runs_at_one_point_has_the_smallest_place(shift: float) -> None:
    runs = np.random.default_rng(2).exponential(size=(100, 5)) + 10.0
    other = np.median(runs, axis=0)
    assert share(runs, other) == 1.0
    other[3] += 8.0 * shift
    assert share(runs, other) == pytest.approx(1 / 101)


def test_runs_that_agree_allow_the_resolution_and_no_more() -> None:
    runs = np.full((50, 3), 1000.0)
    assert share(runs, np.array([1000.0, 1000.9, 999.1])) == 1.0
    assert share(runs, np.array([1000.0, 1000.0, 1002.0])) == pytest.approx(1 / 51)


class Runs(NamedTuple):
    """Store of the same runs for every cell."""

    values: np.ndarray

    def load(self, cell: Any, runs: int, part: slice = slice(None)) -> np.ndarray:
        return self.values[:runs, part]


def test_an_offset_of_one_pull_of_each_arm_is_allowed() -> None:
    curve = curves("lazyts-gap")["a", "anytime-lazy-ucb"]
    x = x_values(curve)
    rounds, regret = np.array(curve.published).T
    of_curve = np.interp(x, rounds, regret)
    for offset, expected in ((0.0, 1.0), (3.0, 1.0), (5.0, 1 / 21), (-2.0, 1 / 21)):
        runs = np.tile(of_curve + offset, (20, 1))
        resampler = Resampler(cast(Any, Runs(runs)), {curve.sources[0]: 20})
        p_values = resampler.statistic(curve, "p_value", np.arange(x.size))
        assert p_values[0] == pytest.approx(expected)
        assert p_values[1:] == pytest.approx(expected)  # whichever runs are drawn
    with pytest.raises(UserError, match="no checkpoint"):
        published.as_far(curve, rounds[:-1] + 1.0, runs[:, : len(rounds) - 1])
