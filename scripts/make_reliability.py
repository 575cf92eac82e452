"""Run tests of faults and write the table of their measurements in docs/.

`python scripts/make_reliability.py [page] [options of pytest]`, where the page is `reliability.md`
(the default) or `cluster.md`. Needs root (for file systems and network namespaces) and Dask
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

from dpbandits.files.provenance import git_revision, versions
from dpbandits.run.progress import duration

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "out" / "reliability"  # measurements written by the tests
RELIABILITY, CLUSTER = "reliability.md", "cluster.md"
TESTS = {RELIABILITY: "test_reliability*.py", CLUSTER: "test_hosts.py"}  # by page


def test_files(page: str) -> list[Path]:
    """Return the files of the tests whose measurements a page shows."""
    return sorted((ROOT / "tests" / "slow").glob(TESTS[page]))


def tests(page: str) -> dict[str, Path]:
    """Return every test of a page with its file; each must have written a measurement."""
    return {
        node.name: file
        for file in test_files(page)
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def rows(page: str, revision: str | None) -> dict[str, dict[str, Any]]:
    """Return the measurements at exactly this revision, by test; none for an unclean checkout."""
    if revision is None or revision.endswith("-dirty"):
        return {}
    files = {name: ROWS / f"{name}.json" for name in tests(page)}
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
    page, *more = more if more and more[0] in TESTS else (RELIABILITY, *more)
    document = ROOT / "docs" / page
    revision = git_revision()
    there = rows(page, revision)
    missing = [f"{file}::{name}" for name, file in tests(page).items() if name not in there]
    if missing:
        command = [sys.executable, "-m", "pytest", "-m", "slow", *more, *missing]
        if status := subprocess.run(command, cwd=ROOT).returncode:
            print(f"{page} is unchanged: a test failed", file=sys.stderr)
            return status
    measured = rows(page, revision)
    if silent := [name for name in tests(page) if name not in measured]:
        print(
            f"{page} is unchanged; these tests have no measurement at"
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
    text = replaced(document.read_text("utf-8"), "measured", table(measured, head))
    document.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
