"""Full disks; many arms and many runs: memory below a gigabyte."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from commands import DPBANDITS, PATIENCE, ROOT, below
from reliability import (
    SMALL,
    assert_as_if_calm,
    assert_told,
    calm,
    disk,
    errors,
    on_disk,
    remount,
    used,
)

from dpbandits.config import compose
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.store.blocks import Store

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

SIZES, INODES = 16, 4
PAGE = 4096
MAKE_ROOM = "make room or choose another folder (paths.cache=..., paths.out=...), then repeat"
GIGABYTE = 1024  # MB
RUNS = 10**6
# Summarises a figure in a process of its own, whose memory nothing else has grown.
LOAD = """
import json, resource, sys
from dpbandits.config import compose
from dpbandits.tables.series import summarise
from dpbandits.store.blocks import Store
spec, settings = compose.load(sys.argv[1], sys.argv[2:])
(series,) = summarise(spec, Store(settings.cache))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([series.runs, float(series.mean[-1]), float(series.std[-1]), peak]))
"""

Row = Callable[[str, str, str], None]


def test_a_full_disk_is_one_line_and_keeps_whole_files(tmp_path: Path, row: Row) -> None:
    undisturbed = calm(SMALL, tmp_path / "calm")
    with disk(tmp_path / "enough", size="64m") as folder:
        assert SMALL.start(folder).done().counts == (SMALL.runs, 0, "drawn")
        needed, inodes = used(folder)
    seed, filled = 23, {"nothing": 0, "some blocks": 0, "all blocks": 0}
    draw = random.Random(seed)
    kept = 0
    sizes = [1, *sorted(draw.sample(range(2, needed // PAGE), SIZES - 1))]  # in pages
    limits: list[dict[str, int | str]] = [{"size": PAGE * pages} for pages in sizes]
    limits += [{"size": "64m", "nr_inodes": n} for n in draw.sample(range(2, inodes), INODES)]
    for number, limit in enumerate(limits):
        with disk(tmp_path / str(number), **limit) as folder:
            done = SMALL.start(folder).done()
            assert_told(done, 2, f"cannot write {folder}/", "No space left on device", MAKE_ROOM)
            there = on_disk(SMALL, folder)
            assert there.partial == 0
            assert not [*(folder / "out").rglob(f"{SMALL.figure}.json")]
            name = {0: "nothing", SMALL.runs: "all blocks"}.get(there.number, "some blocks")
            filled[name] += 1
            kept += there.number
            remount(folder, "size=64m,nr_inodes=10000")
            again = SMALL.start(folder).done()
            assert again.counts == (SMALL.runs - there.number, there.number, "drawn")
            assert errors(again) == ""
            assert_as_if_calm(folder, undisturbed)
    assert all(filled.values())
    row(
        "Disk full",
        f"{SIZES} file systems of {sizes[0] * 4} to {sizes[-1] * 4} kB, where the command"
        f" needs {needed // 1024} kB, and {INODES} with too few files (seed {seed}): full before"
        f" the first block {filled['nothing']}, among them {filled['some blocks']}, after"
        f" the last {filled['all blocks']}; then more room, and the same command again",
        f"{len(limits)} of {len(limits)} times one line and status 2, 0 partial files left;"
        f" {kept} of {kept} written runs used again; {len(limits)} of {len(limits)} times"
        " the bytes of an undisturbed run",
    )


def test_a_thousand_arms_fit_into_a_gigabyte(tmp_path: Path, row: Row) -> None:
    start = time.monotonic()
    override = "figure.sweep.values=[2,8,32,128,512,1000]"
    command = [*DPBANDITS, "run", "adap-ksweep", "~figure.curves.dp-ucb", override]
    with subprocess.Popen(
        [*command, *below(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # already waited for
    assert process.returncode == 0
    megabytes = used.ru_maxrss / 1024
    assert "720 runs computed" in out  # 3 algorithms, 6 numbers of arms, 2 budgets, 20 runs
    assert megabytes < GIGABYTE
    row(
        "Many arms",
        "the batched curves of `adap-ksweep`, K up to 1,000, T = 10^7, 20 runs",
        f"720 runs and the picture; peak memory {megabytes:.0f} MB;"
        f" {time.monotonic() - start:.0f} s",
    )


def test_a_million_runs_are_summed_up_without_holding_all_of_them(tmp_path: Path, row: Row) -> None:
    others = map("~figure.curves.{}".format, ("dp-ucb", "dp-se", "adap-klucb"))
    typed = ["adap-headline", f"paths.cache={tmp_path}", f"runs={RUNS}", *others]
    (cell,) = compose.load(typed[0], typed[1:])[0].cells()
    assert isinstance(cell, RegretExperiment)
    size = RUNS // 64
    for first in range(0, RUNS, size):
        rng = np.random.default_rng(first)
        curves = rng.random((size, cell.columns)).cumsum(axis=1)
        Store(tmp_path).write(cell, first, curves, 1.0)
    stored = sum(path.stat().st_size for path in tmp_path.rglob("*.npz")) / 2**20
    start = time.monotonic()
    command = (sys.executable, "-c", LOAD, *typed)
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    runs, mean, std, megabytes = json.loads(done.stdout)
    assert runs == RUNS
    assert megabytes < GIGABYTE < 1.5 * GIGABYTE < stored
    # Sums of uniform numbers.
    assert abs(mean - cell.columns / 2) < 5 * (cell.columns / 12 / RUNS) ** 0.5
    assert abs(std / (cell.columns / 12) ** 0.5 - 1) < 0.01
    row(
        "A large cache",
        f"10^6 runs of one cell, {cell.columns} checkpoints: {stored:.0f} MB on the disk",
        f"statistics of all of them with a peak memory of {megabytes:.0f} MB;"
        f" {time.monotonic() - start:.0f} s",
    )
