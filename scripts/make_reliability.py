"""Run the tests of reliability and write docs/reliability.md's table of what they measured.

`python scripts/make_reliability.py [options of pytest]`; as root (file systems are mounted) and
with Dask (requirements-cluster.lock). Nothing is written where a test fails or is skipped, or where
the checkout is not that of a revision. What was measured at the same revision is not played again.
"""

import ast
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpbandits.files.provenance import git_revision, versions
from dpbandits.run.progress import duration

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "reliability.md"
ROWS = ROOT / "out" / "reliability"  # where the tests leave what they measured
BETWEEN = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- end of measured -->)", re.DOTALL)


def test_files() -> list[Path]:
    """The files of the tests of reliability."""
    return sorted((ROOT / "tests" / "slow").glob("test_reliability*.py"))


def tests() -> dict[str, Path]:
    """The tests in them, each of which must have measured something, and the file of each."""
    return {
        node.name: file
        for file in test_files()
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def rows(revision: str | None) -> dict[str, dict[str, Any]]:
    """What tests have measured at this very revision, by their names."""
    if revision is None or revision.endswith("-dirty"):
        return {}
    files = {name: ROWS / f"{name}.json" for name in tests()}
    told = {name: json.loads(f.read_text("utf-8")) for name, f in files.items() if f.exists()}
    return {name: row for name, row in told.items() if row["revision"] == revision}


def table(measured: Mapping[str, Mapping[str, Any]], head: str) -> str:
    """The text between the two comments."""
    rows = [
        f"| {told['fault']} | {told['done']} | {told['came']} | `{name}` |"
        for name, told in measured.items()
    ]
    titles = ["| fault | what was done | what came of it | test |", "|---|---|---|---|"]
    return "\n".join([head, "", *titles, *rows]) + "\n"


def with_table(text: str, between: str) -> str:
    """The text of the document with another table."""
    if not BETWEEN.search(text):
        raise SystemExit(
            f"{DOCUMENT.name} has no `<!-- measured -->` ... `<!-- end of measured -->`"
        )
    return BETWEEN.sub(lambda _: between, text)


def main(more: Sequence[str]) -> int:
    revision = git_revision()
    missing = [f"{file}::{name}" for name, file in tests().items() if name not in rows(revision)]
    if missing:
        command = [sys.executable, "-m", "pytest", "-m", "slow", *more, *missing]
        if status := subprocess.run(command, cwd=ROOT).returncode:
            print(f"{DOCUMENT.name} is left as it was: a test failed", file=sys.stderr)
            return status
    measured = rows(revision)
    if silent := [name for name in tests() if name not in measured]:
        print(
            f"{DOCUMENT.name} is left as it was; no row of revision {revision} has been told by"
            f" {', '.join(silent)}: skipped, or the checkout is not clean",
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
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8"), table(measured, head)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
