"""Kill -9 of the command, at any moment and at the worst ones; many processes at once."""

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import PATIENCE
from reliability import (
    ABREAST,
    LONG,
    WORKERS,
    Calm,
    assert_as_if_calm,
    calm,
    errors,
    many,
    on_disk,
    phase,
    send,
    told,
)

from dpbandits.store.key import key

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

KILLS = 50

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
    assert errors(again) == ""
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
    seed, late = 20, []

    def act(moment: float) -> Killed | None:
        folder = tmp_path / f"{moment:.6f}"
        begin = time.monotonic()
        notes = tmp_path / f"notes-{folder.name}"
        process = LONG.start(folder, disturbance="noted", NOTES=str(notes))
        send(process, begin, moment, signal.SIGKILL)
        done = process.done()
        if done.status == 0:
            late.append(moment)
            assert_as_if_calm(folder, undisturbed)
            return None
        assert (done.status, done.out, errors(done)) == (-signal.SIGKILL, "", "")
        return after_a_kill(folder, notes, undisturbed)

    killed = many(KILLS, seed, undisturbed.seconds, act)
    phases = [one.phase for one in killed]
    assert phases.count("playing") > KILLS / 4  # otherwise the moments show little
    kept = sum(one.kept for one in killed)
    row(
        "`kill -9` of the command",
        f"{len(killed)} moments, uniform over its {undisturbed.seconds:.1f} s (seed {seed}):"
        f" {told(phases)}; {len(late)} more came after its end; then the same command again",
        f"{len(killed)} of {len(killed)} times the bytes of an undisturbed run: numbers, table,"
        f" PDF, SVG, PNG; 0 of {kept} written runs lost or unsound; at most"
        f" {max(one.in_flight for one in killed)} of {LONG.runs} runs in flight;"
        f" {sum(one.partial for one in killed)} partial files left",
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
        f"{len(WORST)} moments: two blocks, an identity, a PDF, a table, a sidecar",
        f"{len(WORST)} of {len(WORST)} times the bytes of an undisturbed run; one partial file left"
        " each time, which nothing reads",
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
        assert [(done.status, errors(done)) for done in ended] == [(0, "")] * number
        computed[number] = sum(done.counts[0] for done in ended)
        assert on_disk(LONG, folder).partial == 0
        assert_as_if_calm(folder, undisturbed)
        again = LONG.start(folder, **own).done()
        assert again.counts == (0, LONG.runs, "pictures are up to date")
    row(
        "Several processes on one figure",
        "2 and 8 at once, with an empty cache and no machine code",
        f"all ended with status 0 and the bytes of an undisturbed run; they computed"
        f" {computed[2]} and {computed[8]} runs where {LONG.runs} were needed (none waits for"
        " another); 0 unsound blocks, 0 partial files left; a further command computed nothing",
    )
