"""Full disks, read-only disks and wrong clocks."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import Process
from reliability import (
    SMALL,
    Calm,
    Command,
    assert_as_if_calm,
    assert_told,
    calm,
    disk,
    errors,
    on_disk,
    remount,
    used,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

SIZES, INODES = 16, 4
PAGE = 4096
DAY, YEARS = 86_400, 10 * 365 * 86_400
MAKE_ROOM = "make room or choose another folder (paths.cache=..., paths.out=...), then repeat"

Row = Callable[[str, str, str], None]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    return calm(SMALL, tmp_path_factory.mktemp("calm"))


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return all files below a folder, with their content and modification time."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# Full --------------------------------------------------------------------------------------------


def test_a_full_disk_is_one_line_and_keeps_whole_files(
    tmp_path: Path, undisturbed: Calm, row: Row
) -> None:
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


# Read-only ---------------------------------------------------------------------------------------


def test_a_read_only_cache_is_read_and_never_written(
    tmp_path: Path, undisturbed: Calm, row: Row
) -> None:
    def start(out: str, *more: str) -> tuple[Process, Path]:
        paths = (f"paths.out={tmp_path / out / 'out'}", *more)
        notes = tmp_path / f"{out}.notes"
        return SMALL.start(folder, *paths, disturbance="noted", NOTES=str(notes)), notes

    with disk(tmp_path / "disk", size="64m") as folder:
        assert SMALL.start(folder).done().counts == (SMALL.runs, 0, "drawn")
        remount(folder, "ro")
        before = files(folder)
        whole, _ = start("whole")
        assert whole.done().counts == (0, SMALL.runs, "drawn")
        for name, content in SMALL.pictures(tmp_path / "whole").items():
            if name != f"{SMALL.figure}.json":
                assert content == undisturbed.pictures[name], name
        # One more run of every cell, then a damaged block.
        wanting, played = start("wanting", "runs=5")
        done = wanting.done()
        assert_told(done, 2, f"cannot write {folder}/cache", "Read-only file system", MAKE_ROOM)
        assert played.read_text() == ""
        assert files(folder) == before
        remount(folder, "rw")
        block = min((folder / "cache").glob("*/*/*.npz"))
        block.write_bytes(block.read_bytes()[:-1])
        remount(folder, "ro")
        before = files(folder)
        damaged, played = start("damaged")
        done = damaged.done()
        *warnings, line = errors(done).splitlines()
        assert (done.status, done.out) == (2, "")
        assert line.startswith(f"dpbandits: cannot write {folder}/cache: Read-only file system")
        assert warnings
        assert all(w.startswith(f"dpbandits: {block} is not used: it cannot") for w in warnings)
        assert played.read_text() == ""
        assert files(folder) == before
        for out in ("wanting", "damaged"):
            assert not [path for path in (tmp_path / out).rglob("*") if path.is_file()]
    row(
        "Read-only cache",
        f"a file system that is mounted read-only: with all {SMALL.runs} runs; with"
        f" {len(SMALL.cells)} too few; with a damaged block",
        "complete: drawn, the bytes of an undisturbed run; incomplete or damaged: one line besides"
        f" the warnings, status 2, 0 runs begun; 0 of {len(before)} files changed",
    )


# Clocks ------------------------------------------------------------------------------------------


def start_with_clock(off: int, command: Command, folder: Path, *more: str, **own: str) -> Process:
    return command.start(folder, *more, disturbance="clock is off", CLOCK=str(off), **own)


def set_times(folder: Path, to: int) -> int:
    """Date all files below a folder; return their number."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        os.utime(path, (to, to))
    return len(files)


def test_a_clock_that_is_set_back_changes_nothing(
    tmp_path: Path, undisturbed: Calm, row: Row
) -> None:
    # One half is played ten years from now, the other a day ago.
    folder, kernels = tmp_path / "both", {"DPBANDITS_CACHE": str(tmp_path / "kernels")}
    half = start_with_clock(YEARS, SMALL, folder, "runs=2", **kernels).done()
    assert half.counts == (SMALL.runs // 2, 0, "drawn")
    rest = start_with_clock(-DAY, SMALL, folder, **kernels).done()
    assert rest.counts == (SMALL.runs // 2, SMALL.runs // 2, "drawn")
    assert (errors(half), errors(rest)) == ("", "")
    assert_as_if_calm(folder, undisturbed)
    # Files dated in the future and in 1970.
    code = set(files(tmp_path / "kernels"))
    dated = 0
    for to in (2**31 - 1, 0):
        dated += set_times(folder, to) + set_times(tmp_path / "kernels", to)
        before = files(folder)
        again = start_with_clock(-DAY, SMALL, folder, **kernels).done()
        assert again.counts == (0, SMALL.runs, "pictures are up to date")
        assert errors(again) == ""
        assert files(folder) == before
        # Played again with machine code of that date.
        other = tmp_path / f"other-{to}"
        played = start_with_clock(-DAY, SMALL, other, **kernels).done()
        assert played.counts == (SMALL.runs, 0, "drawn")
        assert_as_if_calm(other, undisturbed)
    assert set(files(tmp_path / "kernels")) == code
    row(
        "Clock set back",
        f"{SMALL.runs // 2} runs written ten years ahead, {SMALL.runs // 2} a day behind; then all"
        f" {dated // 2} files of cache, results and machine code dated 2038, then 1970, and the"
        " same command twice, a day behind",
        "0 runs recomputed, 0 pictures redrawn, 0 kernels recompiled; the bytes of an"
        " undisturbed run 3 of 3 times",
    )


def test_a_source_edited_under_a_clock_that_is_set_back_is_never_served_old_machine_code(
    tmp_path: Path, row: Row
) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path("src"), tmp_path / "src", ignore=ignored)
    file = tmp_path / "src" / "dpbandits" / "algorithms" / "adap_ucb.py"
    text, written = file.read_text(), file.stat().st_mtime
    right, wrong = "math.sqrt(0.5 * exploration)", "math.sqrt(0.9 * exploration)"
    assert text.count(right) == 1
    others = ("~figure.curves.dp-se", "~figure.curves.adap-klucb")
    edited = Command(SMALL.figure, (*SMALL.typed, *others))

    def play(name: str, kernels: str) -> bytes:
        own = {"PYTHONPATH": str(tmp_path / "src"), "DPBANDITS_CACHE": str(tmp_path / kernels)}
        done = start_with_clock(-DAY, edited, tmp_path / "played", **own)
        assert done.done().counts[0] == 16, name  # none is cached
        return edited.pictures(tmp_path / "played")[f"{SMALL.figure}.csv"]

    before = play("before", "kernels")
    # Same length as before, but older than the machine code and the bytecode of the previous
    # version.
    file.write_text(text.replace(right, wrong))
    os.utime(file, (written - DAY, written - DAY))
    after = play("after", "kernels")
    shutil.rmtree(tmp_path / "played")
    for stale in tmp_path.rglob("__pycache__"):
        shutil.rmtree(stale)
    fresh = play("fresh", "other-kernels")
    assert after == fresh != before
    row(
        "A source edited under a clock that is set back",
        "a constant of a kernel changed, the file as long as before and dated a day back, beside"
        " blocks and machine code of the old source",
        "16 of 16 runs recomputed; the bytes of a cold start, not those of the old source",
    )
