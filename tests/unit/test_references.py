"""Every reference curve belongs to an existing figure and records its origin."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import make_reference
import pytest
import yaml
from commands import FIGURES, ROOT, bandit_cells
from composed import load

from dpbandits.checks import matching_points
from dpbandits.config import conf_files
from dpbandits.tables import references

REFERENCES = sorted({path.name for path in (ROOT / "figures/reference").iterdir()} - {"claims"})
HEADER = ["panel", "label", "x", "runs", "mean", "std", "median", "min", "max"]


def test_a_reference_is_of_a_figure() -> None:
    assert REFERENCES
    assert set(REFERENCES) <= set(FIGURES)


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize("figure", REFERENCES)
def test_a_reference_has_the_curves_of_its_figure_and_says_where_they_come_from(
    figure: str,
) -> None:
    folder = ROOT / "figures" / "reference" / figure
    source = yaml.safe_load((folder / "source.yaml").read_text())
    content = (folder / "curves.csv").read_bytes()
    assert source["sha256"] == hashlib.sha256(content).hexdigest()
    assert source["command"] == f"dpbandits run {figure}"
    assert "dirty" not in source["revision"]
    rows = list(csv.DictReader(content.decode().splitlines()))
    assert list(rows[0])[: len(HEADER)] == HEADER
    spec, _ = load(figure, [])
    assert source["runs"] == spec.runs
    curves = {(row["panel"], row["label"]) for row in rows}
    assert curves == {(p.letter, c.label) for p in spec.panels for c in p.curves}
    drawn = {str(curve.runs) for panel in spec.panels for curve in panel.curves}
    assert {row["runs"] for row in rows} <= {"0", *drawn}
    horizons = {cell.horizon for cell in bandit_cells(spec)}
    assert set(source["horizons"]) >= horizons


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize(
    "figure", [name for name in REFERENCES if references.exists(name, references.CI)]
)
def test_a_reference_of_the_profile_ci_is_what_its_command_would_make(figure: str) -> None:
    source = conf_files.read_yaml(references.source_file(figure, references.CI))
    content = (references.folder(figure) / "ci.csv").read_bytes()
    assert source["sha256"] == hashlib.sha256(content).hexdigest()
    assert source["command"] == f"python scripts/make_reference.py --ci {figure}"
    assert "dirty" not in source["revision"]
    spec, _ = load(figure, ["profile=ci"])
    whole, times = matching_points.whole_reference(figure), make_reference.TIMES
    needed = matching_points.beyond(spec, whole, times)
    found = references.find(spec, references.CI)
    assert set(found) == {(p.letter, c.label) for p in needed.panels for c in p.curves}
    runs = {
        (p.letter, c.label): 0 if c.is_exact else c.runs for p in needed.panels for c in p.curves
    }
    assert {place: series.runs for place, series in found.items()} == runs
    assert source["runs"] == sorted({c.runs for p in needed.panels for c in p.curves})
    assert source["horizons"] == sorted({cell.horizon for cell in bandit_cells(needed)})


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Table and sidecar, as a command writes them."""
    table = b"panel,label\n"
    sidecar = {
        "figure": "f",
        "command": "dpbandits run f",
        "runs": 3,
        "seconds_of_computation": 1.5,
        "provenance": {"revision": "abc", "written": "today", "machine": "m", "versions": {}},
        "files": {"csv": hashlib.sha256(table).hexdigest()},
        "curves": [{"sources": [{"horizon": 10}, {"bound": "x"}]}],
    }
    (tmp_path / "f.csv").write_bytes(table)
    (tmp_path / "f.json").write_text(json.dumps(sidecar))
    return tmp_path / "f"


def test_a_sound_table_is_kept(made: Path, tmp_path: Path) -> None:
    make_reference.keep(made, tmp_path / "kept")
    assert (tmp_path / "kept" / "curves.csv").read_bytes() == b"panel,label\n"
    source = yaml.safe_load((tmp_path / "kept" / "source.yaml").read_text())
    assert (source["runs"], source["horizons"], source["revision"]) == (3, [10], "abc")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"command": "dpbandits run f runs=5"}, "which changes the figure's file"),
        ({"files": {"csv": "0"}}, "does not match its sidecar"),
        ({"provenance": {"revision": "abc-dirty"}}, "made at revision abc-dirty"),
        ({"provenance": {"revision": None}}, "made at revision None"),
    ],
)
def test_curves_that_cannot_be_repeated_are_not_a_reference(
    made: Path, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    sidecar = json.loads(made.with_suffix(".json").read_text()) | change
    made.with_suffix(".json").write_text(json.dumps(sidecar))
    with pytest.raises(make_reference.Unfit, match=words):
        make_reference.keep(made, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
