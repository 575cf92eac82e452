"""Run the reliability tests and write the table of their measurements in docs/reliability.md.

`python scripts/make_reliability.py [options of pytest]`; needs root (it mounts file systems) and
Dask (requirements-cluster.lock). Writes nothing if a test fails or is skipped, or if the checkout
is not clean. Tests with a measurement at the same revision are not run again.
"""

import ast
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from marked_part import replaced

from dpbandits.files.provenance import git_revision, versions
from dpbandits.run.progress import duration

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "reliability.md"
ROWS = ROOT / "out" / "reliability"  # measurements written by the tests


def test_files() -> list[Path]:
    """Return the files of the reliability tests."""
    return sorted((ROOT / "tests" / "slow").glob("test_reliability*.py"))


def tests() -> dict[str, Path]:
    """Return every reliability test with its file; each must have written a measurement."""
    return {
        node.name: file
        for file in test_files()
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def rows(revision: str | None) -> dict[str, dict[str, Any]]:
    """Return the measurements at exactly this revision, by test; none for an unclean checkout."""
    if revision is None or revision.endswith("-dirty"):
        return {}
    files = {name: ROWS / f"{name}.json" for name in tests()}
    measured = {name: json.loads(f.read_text("utf-8")) for name, f in files.items() if f.exists()}
    return {name: row for name, row in measured.items() if row["revision"] == revision}


def table(measured: Mapping[str, Mapping[str, Any]], head: str) -> str:
    """Return the text between the two comments."""
    rows = [
        f"| {row['fault']} | {row['done']} | {row['came']} | `{name}` |"
        for name, row in measured.items()
    ]
    titles = ["| fault | action | result | test |", "|---|---|---|---|"]
    return "\n".join([head, "", *titles, *rows]) + "\n"


def main(more: Sequence[str]) -> int:
    revision = git_revision()
    missing = [f"{file}::{name}" for name, file in tests().items() if name not in rows(revision)]
    if missing:
        command = [sys.executable, "-m", "pytest", "-m", "slow", *more, *missing]
        if status := subprocess.run(command, cwd=ROOT).returncode:
            print(f"{DOCUMENT.name} is unchanged: a test failed", file=sys.stderr)
            return status
    measured = rows(revision)
    if silent := [name for name in tests() if name not in measured]:
        print(
            f"{DOCUMENT.name} is unchanged; these tests have no measurement at"
            f" revision {revision}: {', '.join(silent)} (skipped, or the checkout is not clean)",
            file=sys.stderr,
        )
        return 1
    now = datetime.datetime.now(datetime.UTC)
    seconds = sum(row["seconds"] for row in measured.values())
    head = (
        f"Measured {now:%Y-%m-%d} at revision {revision}, on {platform.system()}"
        f" {platform.machine()} with {os.cpu_count()} cores (load {os.getloadavg()[0]:.0f}) and"
        f" Python {versions()['python']}; the tests took {duration(seconds)}."
    )
    text = replaced(DOCUMENT.read_text("utf-8"), "measured", table(measured, head))
    DOCUMENT.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
