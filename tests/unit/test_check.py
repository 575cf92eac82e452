"""`dpbandits check`: the curves it compares, that it can fail, and its report of a failure."""

import json
import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import DPBANDITS, FIGURES, Process
from complaints import readable

from dpbandits.checks import against_reference, matching_points
from dpbandits.checks.against_reference import Checked
from dpbandits.checks.tolerance_bands import BandResult
from dpbandits.core.errors import UserError
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.run.exit_status import ExitStatus
from dpbandits.tables import committed
from dpbandits.tables.series import written

EXACT = "ftpl-gauss-cdf"  # nothing is played


@pytest.fixture
def with_references(checkout: Path, root: Path) -> Path:
    """Copy of the checkout with references, which a test may modify."""
    shutil.copytree(root / "figures" / "reference", checkout / "figures" / "reference")
    return checkout


def compared(figure: str) -> list[matching_points.Point]:
    spec, _ = against_reference.prepare(figure, [])
    return matching_points.points(spec)


def spoil(folder: Path, figure: str, change: Any) -> None:
    """Change the rows of a reference, each a dictionary, and record the table as its own."""
    file = folder / "figures" / "reference" / f"{figure}.csv"
    found = committed.read(file, "")
    assert found is not None
    rows, record = found
    for row in rows:
        change(row)
    committed.write(file, written(rows[0], (row.values() for row in rows)), record)


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize("figure", FIGURES)
def test_every_curve_of_every_figure_is_compared(figure: str) -> None:
    spec, _ = against_reference.prepare(figure, [])
    there = {(p.panel, p.curve.label) for p in matching_points.points(spec)}
    assert there == {(p.letter, c.label) for p in spec.panels for c in p.curves}


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_a_policy_that_uses_the_horizon_is_compared_only_over_the_same_horizon() -> None:
    # The panels of 101 arms are shorter in the profile ci.
    points = [p for p in compared("ftpl-approx-dp") if p.panel == "c"]
    scales = {
        label: {p.profile for p in points if p.curve.label == label}
        for label in ("DP-FTPL-New", "DP-FTPL-Gauss")
    }
    assert scales == {"DP-FTPL-New": {"ci"}, "DP-FTPL-Gauss": {"paper", "ci"}}


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_an_anytime_policy_is_compared_at_the_rounds_that_both_horizons_have() -> None:
    spec, _ = against_reference.prepare("ftpl-approx-dp", [])
    (curve,) = [c for c in spec.panels[2].curves if c.label == "DP-FTPL-Gauss"]
    other, series = matching_points.whole_reference("ftpl-approx-dp")["c", "DP-FTPL-Gauss"]
    source = curve.sources[0]
    assert isinstance(source, RegretExperiment)
    assert series.x[-1] > source.horizon
    common = matching_points.common(curve, other, series)
    ours, theirs = source.checkpoints(), series.x
    assert [ours[i] for i, _ in common] == [theirs[j] for _, j in common]
    assert {ours[i] for i, _ in common} == {*ours.tolist()} & {*theirs.tolist()}


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_a_game_on_a_table_of_gains_is_compared_over_the_same_horizon_alone() -> None:
    spec, _ = against_reference.prepare("exp3-switching", [])
    cells = [cell for cell in spec.cells() if isinstance(cell, RegretExperiment)]
    assert any("horizon" not in cell.params._fields for cell in cells)
    assert all(matching_points.depends_on_horizon(cell) for cell in cells)


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_other_seeds_are_played_than_those_of_the_references() -> None:
    spec, _ = against_reference.prepare("adap-alpha", [])
    for profile in ("paper", "ci"):
        reference, _ = matching_points.referenced("adap-alpha", profile)
        assert reference.cells()
        assert {c.seed for c in spec.cells()}.isdisjoint({c.seed for c in reference.cells()})


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize("override", ["figure.epsilon=2", "profile=smoke", "~figure.curves.dp-se"])
def test_a_figure_that_is_not_as_its_file_has_it_is_not_compared(override: str) -> None:
    with pytest.raises(UserError, match="compares figures as their files describe them"):
        against_reference.prepare("adap-c2", [override])


def said(*words: str) -> tuple[int, str, str]:
    done = Process(*DPBANDITS, "check", *words).done()
    return done.status, done.out, done.err


def test_the_summary_of_a_figure_has_the_largest_share_and_the_median_width() -> None:
    def outcome(label: str, alarm: str, share: float, resolution: float) -> Any:
        curve = SimpleNamespace(label=label)
        return SimpleNamespace(panel="a", curve=curve), BandResult(alarm, share, resolution)

    exact = outcome("bound", "", 0.9, 0.0)  # a bound has no band
    drawn = [outcome("A", "", 0.25, 0.1), outcome("B", "", 0.5, 0.03), outcome("A", "", 0.1, 0.02)]
    nameless = outcome("A", "", 0.6, math.nan)  # its reference has the mean 0
    assert Checked("name", (exact,)).line() == "name: 1 comparison; all inside"
    assert Checked("name", (exact, *drawn, nameless)).line() == (
        "name: 5 comparisons; the largest difference of means is 0.60 of its band; the median half"
        " width of a band is 3.0 % of the mean; all inside"
    )
    twice = (outcome("A", "far", 1.5, 0.03), outcome("A", "far", 1.25, 0.03), *drawn)
    assert Checked("name", twice).line().endswith("; 1 curve is OUTSIDE")


def test_an_unchanged_figure_passes() -> None:
    status, out, err = said(EXACT)
    assert status == 0, err
    assert re.search(r"1 figure, [1-9]\d* comparisons: all inside", out)


def run_in(folder: Path, words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the status and the output of a check in this process, in a folder."""
    status = against_reference.check(words, [f"paths.cache={folder / 'cache'}"])
    return status, capsys.readouterr().out


def test_a_changed_number_fails_and_is_named(
    with_references: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def shift(row: dict[str, str]) -> None:
        if (row["panel"], row["label"]) == ("b", "F'"):
            row["mean"] = repr(float(row["mean"]) * (1 + 1e-6))

    spoil(with_references, EXACT, shift)
    status, out = run_in(with_references, [EXACT], capsys)
    assert status == ExitStatus.ALARM
    assert "1 curve is OUTSIDE" in out
    assert re.search(
        r"^  \(b\) F' at .*figures/reference/ftpl-gauss-cdf\.csv, profile paper", out, re.M
    )


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("others", "summary"),
    [
        ([EXACT], r"1 figure, 360 comparisons: all inside; if every law were the same, .*"),
        ([], "0 figures, 0 comparisons"),
    ],
)
def test_comparisons_of_figures_whose_runs_failed_are_not_counted(
    others: list[str],
    summary: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    compare_all = against_reference.compare_all

    def some_fail(spec: Any, *more: Any) -> Checked | None:
        return None if spec.name == "adap-alpha" else compare_all(spec, *more)

    monkeypatch.setattr(against_reference, "compare_all", some_fail)
    status, out = run_in(tmp_path, [*others, "adap-alpha"], capsys)
    assert status == ExitStatus.FAILED
    assert re.fullmatch(summary, out.splitlines()[-1])


def test_curves_of_runs_that_lie_elsewhere_fail_and_are_named(
    with_references: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def shift(row: dict[str, str]) -> None:
        if (row["profile"], row["label"], row["x"]) == ("ci", "Arm 2", "12"):
            moved = {n: v for n, v in row.items() if n in ("mean", "median", "min", "max") and v}
            row.update({name: repr(float(number) + 3) for name, number in moved.items()})

    assert run_in(with_references, ["adap-episodes"], capsys)[0] == 0
    spoil(with_references, "adap-episodes", shift)
    status, out = run_in(with_references, ["adap-episodes"], capsys)
    assert status == ExitStatus.ALARM
    assert "(a) Arm 2 at 12: " in out
    assert "Arm 1 at" not in out


def test_a_reference_without_a_curve_is_an_error_that_names_the_nearest(
    with_references: Path,
) -> None:
    file = with_references / "conf" / "figure" / f"{EXACT}.yaml"
    file.write_text(file.read_text("utf-8").replace("Smallest delta", "Smallest deltas"), "utf-8")
    with pytest.raises(UserError, match=r"no curve 'Smallest deltas' in panel a; .*delta'"):
        against_reference.check([EXACT], [])


def test_a_figure_without_a_reference_is_an_error_with_the_way_to_one(
    with_references: Path,
) -> None:
    (with_references / "figures" / "reference" / f"{EXACT}.csv").unlink()
    with pytest.raises(UserError, match=rf"{EXACT} has no reference.*make_reference.py {EXACT}"):
        against_reference.check([EXACT], [])


def test_a_figure_whose_shorter_horizon_has_no_reference_is_an_error(with_references: Path) -> None:
    record = with_references / "figures" / "reference" / "adap-c2.json"
    content = json.loads(record.read_text("utf-8"))
    del content["profiles"]["ci"]
    record.write_text(json.dumps(content), "utf-8")
    with pytest.raises(UserError, match=r"adap-c2: no reference has the law of \(a\) .*--ci"):
        against_reference.check(["adap-c2"], [])


def test_a_check_that_compares_nothing_fails() -> None:
    with pytest.raises(UserError, match="nothing to compare"):
        against_reference.check([], [])


def test_an_unknown_figure_is_an_error_that_names_the_nearest() -> None:
    done = Process(*DPBANDITS, "check", "adap-c9").done()
    assert done.status == 2
    readable(done.err)
    assert "unknown figure 'adap-c9'" in done.err
    assert "'adap-c4'" in done.err
