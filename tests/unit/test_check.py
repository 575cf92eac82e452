"""`dpbandits check`: the curves it compares, that it can fail, and its report of a failure."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import FIGURES

from dpbandits.checks import against_reference
from dpbandits.experiments import kinds
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus
from dpbandits.tables import references
from dpbandits.tables.series import written

EXACT = "ftpl-gauss-cdf"  # nothing is played


@pytest.fixture
def with_references(checkout: Path, root: Path) -> Path:
    """Copy of the checkout with references, which a test may modify."""
    shutil.copytree(root / "figures" / "reference", checkout / "figures" / "reference")
    return checkout


def compared(figure: str) -> list[against_reference.Point]:
    spec, _ = against_reference.prepare(figure, [])
    return against_reference.points(spec)


def spoil(folder: Path, figure: str, change: Any) -> None:
    """Change the rows of a reference, each a dictionary, and record the table as its own."""
    file = folder / "figures" / "reference" / f"{figure}.csv"
    found = references.committed(file, "")
    assert found is not None
    rows, record = found
    for row in rows:
        change(row)
    references.commit(file, written(rows[0], (row.values() for row in rows)), record)


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize("figure", FIGURES)
def test_every_curve_of_every_figure_is_compared(figure: str) -> None:
    spec, _ = against_reference.prepare(figure, [])
    there = {(p.panel, p.curve.label) for p in against_reference.points(spec)}
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
    whole, _ = against_reference.referenced("ftpl-approx-dp", "paper")
    other, series = against_reference.paired(whole, "paper")["c", "DP-FTPL-Gauss"]
    source = curve.sources[0]
    assert isinstance(source, RegretExperiment)
    assert series.x[-1] > source.horizon
    common = against_reference.common(curve, other, series)
    ours, theirs = source.checkpoints(), series.x
    assert [ours[i] for i, _ in common] == [theirs[j] for _, j in common]
    assert {ours[i] for i, _ in common} == {*ours.tolist()} & {*theirs.tolist()}


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_a_game_on_a_table_of_gains_is_compared_over_the_same_horizon_alone() -> None:
    spec, _ = against_reference.prepare("exp3-switching", [])
    cells = [cell for cell in spec.experiments() if isinstance(cell, RegretExperiment)]
    assert any("horizon" not in cell.params._fields for cell in cells)
    assert all("horizon" in kinds.of(cell).same_distribution(cell, True) for cell in cells)


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_other_seeds_are_played_than_those_of_the_references() -> None:
    spec, _ = against_reference.prepare("adap-alpha", [])
    for profile in ("paper", "ci"):
        reference, _ = against_reference.referenced("adap-alpha", profile)
        assert reference.experiments()
        seeds, others = ({e.seed for e in s.experiments()} for s in (spec, reference))
        assert seeds.isdisjoint(others)


@pytest.mark.usefixtures("in_checkout")
def test_a_figure_that_is_not_as_its_file_has_it_is_not_compared_nor_none() -> None:
    for override in ("figure.epsilon=2", "profile=smoke", "~figure.curves.dp-se"):
        with pytest.raises(UserError, match="compares figures as their files describe them"):
            against_reference.prepare("adap-c2", [override])
    with pytest.raises(UserError, match="nothing to compare"):
        against_reference.check([], [])


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
    assert re.search(rf"^{EXACT}: [0-9,]+ comparisons.*; 1 curve OUTSIDE$", out, re.M)
    assert re.search(
        r"^  \(b\) F' at .*figures/reference/ftpl-gauss-cdf\.csv, profile paper", out, re.M
    )


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


def test_a_missing_reference_is_an_error_with_the_way_to_one(with_references: Path) -> None:
    file = with_references / "conf" / "figure" / f"{EXACT}.yaml"
    file.write_text(file.read_text("utf-8").replace("Smallest delta", "Smallest deltas"), "utf-8")
    with pytest.raises(UserError, match=r"no curve 'Smallest deltas' in panel a; .*delta'"):
        against_reference.check([EXACT], [])
    (with_references / "figures" / "reference" / f"{EXACT}.csv").unlink()
    with pytest.raises(UserError, match=rf"{EXACT} has no reference.*dpbandits reference {EXACT}"):
        against_reference.check([EXACT], [])
    record = with_references / "figures" / "reference" / "adap-c2.json"
    content = json.loads(record.read_text("utf-8"))
    del content["profiles"]["ci"]  # its shorter horizon
    record.write_text(json.dumps(content), "utf-8")
    with pytest.raises(
        UserError, match=r"adap-c2: no reference has the distribution of \(a\) .*--ci"
    ):
        against_reference.check(["adap-c2"], [])
