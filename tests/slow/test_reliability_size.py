"""Many arms, many runs, many cells: memory below a gigabyte, and plans in seconds."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measured_size
import pytest
from commands import DPBANDITS, PATIENCE, ROOT, below

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

GIGABYTE = 1024  # MB
BATCHED = ("run", "adap-ksweep", "~figure.curves.dp-ucb")

Row = Callable[[str, str, str], None]


def large(what: str, folder: Path) -> dict[str, Any]:
    """Return the report of a separate process about a task."""
    command = (sys.executable, measured_size.__file__, what, str(folder))
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def played(folder: Path, *typed: str) -> tuple[float, float, str]:
    """Return the seconds and the peak memory in MB of a command, and its output."""
    start = time.monotonic()
    command = [*DPBANDITS, *BATCHED, *typed, *below(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # already waited for
    assert process.returncode == 0
    return time.monotonic() - start, used.ru_maxrss / 1024, out


def test_a_thousand_arms_fit_into_a_gigabyte(tmp_path: Path, row: Row) -> None:
    override = "figure.sweep.values=[2,8,32,128,512,1000]"
    seconds, megabytes, out = played(tmp_path, override)
    assert "720 runs computed" in out  # 3 algorithms, 6 numbers of arms, 2 budgets, 20 runs
    assert megabytes < GIGABYTE
    row(
        "Many arms",
        "the batched curves of `adap-ksweep`, K up to 1,000, T = 10^7, 20 runs",
        f"720 runs and the picture; peak memory {megabytes:.0f} MB; {seconds:.0f} s",
    )


def test_ten_thousand_runs_fit_into_a_gigabyte(tmp_path: Path, row: Row) -> None:
    seconds, megabytes, out = played(tmp_path, "figure.sweep.values=[8]", "runs=10_000")
    assert "60000 runs computed" in out
    assert megabytes < GIGABYTE
    row(
        "Many runs",
        "the batched curves of `adap-ksweep`, K = 8, T = 10^7, 10,000 runs",
        f"60,000 runs and the picture; peak memory {megabytes:.0f} MB; {seconds:.0f} s",
    )


def test_a_hundred_thousand_cells_are_planned_in_seconds(tmp_path: Path, row: Row) -> None:
    told = large("plan", tmp_path)
    assert told["cells"] == 4 * measured_size.VALUES
    assert told["tasks"] == 20 * told["cells"]  # 100 runs each, five per task
    assert told["seconds"] < PATIENCE  # it took an hour when a file was read for every cell
    assert told["megabytes"] < 2 * GIGABYTE
    row(
        "Many cells",
        f"`ftpl-epsilon-sweep` with {measured_size.VALUES:,} values of epsilon in either panel:"
        f" {told['cells']:,} cells, {told['tasks']:,} tasks",
        f"read in {told['read']:.0f} s, planned in {told['seconds'] - told['read']:.0f} s; peak"
        f" memory {told['megabytes']:.0f} MB",
    )


def test_a_million_runs_are_summed_up_without_holding_all_of_them(tmp_path: Path, row: Row) -> None:
    columns = large("write", tmp_path)["columns"]
    stored = sum(path.stat().st_size for path in tmp_path.rglob("*.npz")) / 2**20
    told = large("load", tmp_path)
    assert stored > 1.5 * GIGABYTE
    assert told["runs"] == measured_size.RUNS
    assert told["megabytes"] < GIGABYTE < stored
    # Sums of uniform numbers.
    assert abs(told["mean"] - columns / 2) < 5 * (columns / 12 / told["runs"]) ** 0.5
    assert abs(told["std"] / (columns / 12) ** 0.5 - 1) < 0.01
    row(
        "A large cache",
        f"10^6 runs of one cell, {columns} checkpoints: {stored:.0f} MB on the disk",
        f"statistics of all of them with a peak memory of {told['megabytes']:.0f} MB;"
        f" {told['seconds']:.0f} s",
    )
