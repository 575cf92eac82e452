"""The tables of docs/speed.md, written from files of `make bench`."""

import json
from pathlib import Path
from typing import Any

import make_speed
import pytest

DOCUMENT = """Before.
<!-- schemes -->
old
<!-- end of schemes -->
<!-- targets -->
old
<!-- end of targets -->
<!-- lanes -->
old
<!-- end of lanes -->
"""


def file_of(folder: Path, scheme: float, target: str | None, **more: Any) -> str:
    """Write a file of `make bench` with the times of one scheme; return its path."""
    quantities = {"single rounds": 8.0, "scheme": scheme, "ratio": 8.0 / scheme}
    measured = [
        {
            "group": "exact schemes, T = 10",
            "name": "ucb, K = 5",
            "quantity": quantity,
            "value": value,
            "unit": "" if quantity == "ratio" else "ns",
        }
        for quantity, value in quantities.items()
    ]
    content = {
        "written": "2026-01-02T00:00:00",
        "revision": "abc",
        "processor": "x",
        "measured": measured,
    }
    if target:
        content["target"] = target
    file = folder / f"{target}.json"
    file.write_text(json.dumps(content | more))
    return str(file)


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Page that the script writes, with three tables."""
    file = tmp_path / "speed.md"
    file.write_text(DOCUMENT)
    monkeypatch.setattr(make_speed, "DOCUMENT", file)
    return file


def test_times_for_another_processor_stand_beside_those_of_this_one(
    document: Path, tmp_path: Path
) -> None:
    assert make_speed.main([file_of(tmp_path, 2.0, None), file_of(tmp_path, 3.0, "haswell")]) == 0
    text = document.read_text()
    head = "Measured 2026-01-02 at revision abc, on x."
    assert (
        f"""<!-- schemes -->
{head}

| | single rounds, ns | scheme, ns | ratio |
|---|---:|---:|---:|
| ucb, K = 5 | 8.00 | 2.00 | 4.00 |
<!-- end of schemes -->
<!-- targets -->
{head}

| | this processor, ns | haswell, ns | ratio |
|---|---:|---:|---:|
| ucb, K = 5 | 2.00 | 3.00 | 1.50 |
<!-- end of targets -->
<!-- lanes -->
old
"""
        in text
    )


def test_a_file_for_another_processor_alone_changes_no_table(
    document: Path, tmp_path: Path
) -> None:
    make_speed.main([file_of(tmp_path, 3.0, "haswell")])
    assert document.read_text() == DOCUMENT
    others: list[dict[str, Any]] = [{"measured": []}, {"revision": "def"}]
    for other in others:
        make_speed.main([file_of(tmp_path, 2.0, None), file_of(tmp_path, 3.0, "znver1", **other)])
        assert "znver1" not in document.read_text()
        assert document.read_text().count("old") == 2
