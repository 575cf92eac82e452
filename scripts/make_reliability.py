"""Run tests of faults and write a table of their measurements in docs/reliability.md.

`python scripts/make_reliability.py [table] [options of pytest]`, where the table is `measured` (the
default) or `hosts`. Needs root (for file systems and network namespaces) and Dask
(requirements-cluster.lock). Writes nothing if a test fails or is skipped, or if the checkout is not
clean. Tests with a measurement at the same revision are not run again.
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

from dpbandits.files.provenance import git_revision, is_clean, versions
from dpbandits.run.progress import duration

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "out" / "reliability"  # measurements written by the tests
PAGE = ROOT / "docs" / "reliability.md"
TESTS = {"measured": "test_reliability*.py", "hosts": "test_hosts.py"}  # by table of the page


def tests(part: str) -> dict[str, Path]:
    """Return every test of a table with its file; each must have written a measurement."""
    return {
        node.name: file
        for file in sorted((ROOT / "tests" / "slow").glob(TESTS[part]))
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def rows(part: str, revision: str | None) -> dict[str, dict[str, Any]]:
    """Return the measurements at exactly this revision, by test; none for an unclean checkout."""
    if not is_clean(revision):
        return {}
    files = {name: ROWS / f"{name}.json" for name in tests(part)}
    measured = {name: json.loads(f.read_text("utf-8")) for name, f in files.items() if f.exists()}
    return {name: row for name, row in measured.items() if row["revision"] == revision}


def table(measured: Mapping[str, Mapping[str, Any]], head: str) -> str:
    """Return the text between the two comments."""
    rows = [
        f"|{row['fault']} |{row['done']} |{row['came']} |`{name}`|"
        for name, row in measured.items()
    ]
    titles = ["|fault |action |result |test|", "|---|---|---|---|"]
    return "\n".join([head, "", *titles, *rows]) + "\n"


def main(more: Sequence[str]) -> int:
    part, *more = more if more and more[0] in TESTS else ("measured", *more)
    revision = git_revision()
    there = rows(part, revision)
    missing = [f"{file}::{name}" for name, file in tests(part).items() if name not in there]
    if missing:
        command = [sys.executable, "-m", "pytest", "-m", "slow", *more, *missing]
        if status := subprocess.run(command, cwd=ROOT).returncode:
            print(f"{PAGE.name} is unchanged: a test failed", file=sys.stderr)
            return status
    measured = rows(part, revision)
    if silent := [name for name in tests(part) if name not in measured]:
        print(
            f"{PAGE.name} is unchanged; these tests have no measurement at"
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
    PAGE.write_text(replaced(PAGE.read_text("utf-8"), part, table(measured, head)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
