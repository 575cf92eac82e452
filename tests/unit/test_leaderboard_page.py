"""The tables of docs/leaderboard.md equal the committed reference of the figure."""

import csv
from math import hypot

import make_leaderboard
import pytest
from commands import ROOT

PAGE = (ROOT / "docs" / "leaderboard.md").read_text("utf-8")


def test_the_page_is_what_the_script_writes() -> None:
    assert make_leaderboard.with_tables(PAGE) == PAGE


def test_a_row_has_the_least_means_of_its_game() -> None:
    with (ROOT / "figures" / "reference" / "leaderboard" / "curves.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["panel"] == "b" and row["x"] == "1"]
    assert len(rows) == 11
    first, second = sorted(rows, key=lambda row: float(row["mean"]))[:2]
    (a, of_a), (b, of_b) = (
        (float(row["mean"]), float(row["std"]) / float(row["runs"]) ** 0.5)
        for row in (first, second)
    )
    (line,) = [line for line in PAGE.split("\n## ")[1].splitlines() if line.startswith("| C2 | 1 ")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:4] == [
        f"{first['label']}: {a:,.0f} ({of_a:,.0f})",
        f"{second['label']}: {b:,.0f} ({of_b:,.0f})",
    ]
    ratio, half = (float(number) for number in cells[4].split("±"))
    assert ratio == pytest.approx(b / a, abs=0.006)
    # The error of a quotient, to first order.
    assert half == pytest.approx(1.96 * b / a * hypot(of_a / a, of_b / b), abs=0.006)
