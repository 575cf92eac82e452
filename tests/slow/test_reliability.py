"""Kill -9 at any moment and at the worst ones, many processes at once, full disks, much memory."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from commands import DPBANDITS, PATIENCE, ROOT, below
from reliability import (
    ABREAST,
    LONG,
    SMALL,
    WORKERS,
    Calm,
    assert_as_if_calm,
    calm,
    disk,
    many,
    on_disk,
    phase,
    remount,
    send,
    used,
)

from dpbandits.config import compose
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.store.blocks import Store
from dpbandits.store.key import key

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

KILLS = 50
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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    return calm(LONG, tmp_path_factory.mktemp("calm"))


@dataclass(frozen=True)
class Killed:
    """State that a killed command left."""

    phase: str
    kept: int  # runs on the disk
    in_flight: int  # runs that began and are not on the disk
    partial: int


def noted(file: Path) -> dict[str, set[tuple[str, int]]]:
    """Return the runs that a command has begun and those that it has stored, from its own notes."""
    found: dict[str, set[tuple[str, int]]] = {"begun": set(), "kept": set()}
    for line in file.read_text().splitlines() if file.exists() else ():
        what, cell, start, stop = line.split()
        found[what] |= {(cell, run) for run in range(int(start), int(stop))}
    return found


def after_a_kill(folder: Path, notes: Path, undisturbed: Calm) -> Killed:
    """Check what is there, and continue from there."""
    there = on_disk(LONG, folder)
    runs = {(key(cell), run) for cell, held in there.runs.items() for run in held}
    said = noted(notes)
    assert said["kept"] - runs == set()  # nothing that was written is lost
    in_flight = said["begun"] - runs
    # A worker plays one block, and another of its blocks may be on the way to the disk.
    assert len(in_flight) <= 2 * WORKERS * longest(notes)
    drawn = any((folder / "out").rglob(f"{LONG.figure}.json"))
    again = LONG.start(folder).done()
    pictures = "pictures are up to date" if drawn else "drawn"
    assert again.counts == (LONG.runs - len(runs), len(runs), pictures)
    assert again.errors == ""
    assert_as_if_calm(folder, undisturbed)
    return Killed(phase(LONG, len(runs), drawn), len(runs), len(in_flight), there.partial)


def longest(notes: Path) -> int:
    """Return the number of runs of the longest block that was begun."""
    lines = notes.read_text().splitlines() if notes.exists() else ()
    begun = [line.split() for line in lines if line.startswith("begun")]
    return max((int(stop) - int(start) for _, _, start, stop in begun), default=0)


def test_kill_9_loses_the_blocks_in_flight_and_nothing_else(
    tmp_path: Path, undisturbed: Calm, row: Row
) -> None:
    seed = 20

    def act(moment: float) -> Killed | None:
        folder = tmp_path / f"{moment:.6f}"
        begin = time.monotonic()
        notes = tmp_path / f"notes-{folder.name}"
        process = LONG.start(folder, disturbance="noted", NOTES=str(notes))
        send(process, begin, moment, signal.SIGKILL)
        done = process.done()
        if done.status == 0:
            assert_as_if_calm(folder, undisturbed)
            return None
        assert (done.status, done.out, done.errors) == (-signal.SIGKILL, "", "")
        return after_a_kill(folder, notes, undisturbed)

    killed = many(KILLS, seed, undisturbed.seconds, act)
    phases = [one.phase for one in killed]
    assert phases.count("playing") > KILLS / 4  # otherwise the moments show little
    kept = sum(one.kept for one in killed)
    row(
        "`kill -9` of the command",
        f"{len(killed)} random moments",
        f"each time the bytes of an undisturbed run; 0 of {kept} written runs lost; at most"
        f" {max(one.in_flight for one in killed)} of {LONG.runs} in flight",
    )


WORST = (".npz 1", ".npz 9", "identity.json 2", ".pdf 1", ".csv 1", f"{LONG.figure}.json 1")


def test_kill_9_before_a_file_gets_its_name_leaves_no_half_file(
    tmp_path: Path, undisturbed: Calm, row: Row
) -> None:
    def act(which: str) -> Killed:
        folder = tmp_path / which.replace(" ", "-")
        done = LONG.start(folder, disturbance="killed", KILLED=which).done()
        assert done.status == -signal.SIGKILL
        assert not list(folder.rglob(f"*{which.split()[0]}")) or not which.endswith(" 1")
        return after_a_kill(folder, tmp_path / "no notes", undisturbed)

    with ThreadPoolExecutor(ABREAST) as pool:
        killed = list(pool.map(act, WORST))
    assert [one.partial for one in killed] == [1] * len(WORST)
    row(
        "`kill -9` between writing a file and renaming it",
        f"{len(WORST)} files: blocks, an identity, a PDF, a table, a sidecar",
        "each time the bytes of an undisturbed run; one partial file left",
    )


def test_two_and_eight_processes_on_one_figure_agree(
    tmp_path: Path, undisturbed: Calm, row: Row
) -> None:
    computed = {}
    for number in (2, 8):
        folder = tmp_path / str(number)
        # Without machine code, so that they also compile and store it at the same time.
        own = {"DPBANDITS_CACHE": str(tmp_path / f"{number}-kernels")}
        ended = [
            process.done(2 * PATIENCE)
            for process in [LONG.start(folder, **own) for _ in range(number)]
        ]
        assert [(done.status, done.errors) for done in ended] == [(0, "")] * number
        computed[number] = sum(done.counts[0] for done in ended)
        assert on_disk(LONG, folder).partial == 0
        assert_as_if_calm(folder, undisturbed)
        again = LONG.start(folder, **own).done()
        assert again.counts == (0, LONG.runs, "pictures are up to date")
    row(
        "Several processes on one figure",
        "2 and 8 at once, with an empty cache and no machine code",
        f"the bytes of an undisturbed run; {computed[2]} and {computed[8]} runs computed where"
        f" {LONG.runs} were needed, because none waits for another",
    )


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
            done.assert_told(2, f"cannot write {folder}/", "No space left on device", MAKE_ROOM)
            there = on_disk(SMALL, folder)
            assert there.partial == 0
            assert not [*(folder / "out").rglob(f"{SMALL.figure}.json")]
            name = {0: "nothing", SMALL.runs: "all blocks"}.get(there.number, "some blocks")
            filled[name] += 1
            kept += there.number
            remount(folder, "size=64m,nr_inodes=10000")
            again = SMALL.start(folder).done()
            assert again.counts == (SMALL.runs - there.number, there.number, "drawn")
            assert again.errors == ""
            assert_as_if_calm(folder, undisturbed)
    assert all(filled.values())
    row(
        "Disk full",
        f"{SIZES} sizes from {sizes[0] * 4} to {sizes[-1] * 4} kB of {needed // 1024} kB needed,"
        f" {INODES} with too few files",
        f"each time one line, status 2, no partial file; {kept} of {kept} written runs used again",
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
        "`adap-ksweep`, batched curves, K up to 1,000, 720 runs",
        f"peak memory {megabytes:.0f} MB; {time.monotonic() - start:.0f} s",
    )


def test_a_million_runs_are_summed_up_without_holding_all_of_them(tmp_path: Path, row: Row) -> None:
    others = map("~figure.curves.{}".format, ("dp-ucb", "dp-se", "adap-klucb"))
    typed = ["adap-headline", f"paths.cache={tmp_path}", f"runs={RUNS}", *others]
    (cell,) = compose.load(typed[0], typed[1:])[0].experiments()
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
        f"10^6 runs of one experiment, {stored:.0f} MB on the disk",
        f"peak memory {megabytes:.0f} MB; {time.monotonic() - start:.0f} s",
    )
