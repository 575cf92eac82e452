"""Ctrl-C, a dying worker, many processes at once."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from commands import PATIENCE, blocks
from dask_processes import DaskProcesses
from reliability import (
    INTERRUPTED,
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

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

INTERRUPTS, WORKERS_KILLED = 20, 5
SOON = 5.0  # seconds in which an interrupted command must return, also on a busy machine

Row = Callable[[str, str, str], None]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    return calm(LONG, tmp_path_factory.mktemp("calm"))


# Ctrl-C ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interrupted:
    """State that an interrupted command left, and how soon it returned."""

    phase: str
    seconds: float
    own: bool  # the command answered, not Python before its first line


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_is_one_line_at_any_moment(tmp_path: Path, undisturbed: Calm, row: Row) -> None:
    seed, late = 21, []

    def act(moment: float) -> Interrupted | None:
        folder = tmp_path / f"{moment:.6f}"
        begin = time.monotonic()
        process = LONG.start(folder)
        send(process, begin, moment, signal.SIGINT)
        pressed = time.monotonic()
        process.popen.wait(PATIENCE)
        seconds = time.monotonic() - pressed
        done = process.done()
        there = on_disk(LONG, folder)
        assert there.partial == 0
        if done.status == 0:
            late.append(moment)
            assert_as_if_calm(folder, undisturbed)
            return None
        own = errors(done) == INTERRUPTED
        if not own:
            # Until `guarded` runs, Python itself answers.
            assert "in guarded" not in done.err
            assert not folder.exists()
            assert moment < undisturbed.seconds / 10
        assert (done.status, done.out) == (130 if own else -signal.SIGINT, ""), done.err
        drawn = any((folder / "out").rglob(f"{LONG.figure}.json"))
        again = LONG.start(folder).done()
        assert again.counts[:2] == (LONG.runs - there.number, there.number)
        assert errors(again) == ""
        assert_as_if_calm(folder, undisturbed)
        return Interrupted(phase(LONG, there.number, drawn), seconds, own)

    interrupted = many(INTERRUPTS, seed, undisturbed.seconds, act)
    slowest = max(one.seconds for one in interrupted)
    assert slowest < SOON
    own, number = sum(one.own for one in interrupted), len(interrupted)
    assert own >= number - 2
    row(
        "Ctrl-C",
        f"{number} moments, uniform over its {undisturbed.seconds:.1f} s (seed {seed}):"
        f" {told([one.phase for one in interrupted])}; {len(late)} more came after its end; then"
        " the same command again",
        f"{own} of {number} times one line and status 130 ({number - own} before its first line,"
        f" with Python's own message); the command ended after {slowest:.2f} s at most; 0"
        " partial files left;"
        f" {number} of {number} times the bytes of an undisturbed run",
    )


# Several processes -------------------------------------------------------------------------------


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskProcesses]:
    pytest.importorskip("distributed", reason="Dask is not installed (requirements-cluster.lock)")
    (tmp_path / "dask").mkdir()
    processes = DaskProcesses(tmp_path / "dask")
    yield processes
    processes.close()


def test_kill_9_of_a_dask_worker_loses_nothing(
    tmp_path: Path, undisturbed: Calm, dask: DaskProcesses, row: Row
) -> None:
    seed, there = 22, []
    draw = random.Random(seed)
    threads = f"engine.workers={WORKERS}"
    elsewhere = replace(LONG, typed=(*(t for t in LONG.typed if t != threads), *dask.engine))
    workers = [dask.worker(), dask.worker()]
    for number in range(WORKERS_KILLED):
        folder, wanted = tmp_path / str(number), draw.randrange(1, LONG.runs - 2)
        process = elsewhere.start(folder)
        process.wait_for(partial(has_runs, folder, wanted))
        there.append(kept(folder))
        workers.pop(draw.randrange(2)).kill()
        assert process.done().counts == (LONG.runs, 0, "drawn")
        assert_as_if_calm(folder, undisturbed)
        workers.append(dask.worker())
    row(
        "`kill -9` of a Dask worker",
        f"one of two workers, {WORKERS_KILLED} times, when {', '.join(map(str, sorted(there)))} of"
        f" {LONG.runs} runs were written (seed {seed})",
        f"{WORKERS_KILLED} of {WORKERS_KILLED} commands ended with status 0 and the bytes of an"
        " undisturbed run on threads; 0 runs lost, 0 failed",
    )


def kept(folder: Path) -> int:
    """Return the number of runs in the blocks on the disk."""
    ends = [map(int, path.stem.split("-")) for path in blocks(folder)]
    return sum(last - first + 1 for first, last in ends)


def has_runs(folder: Path, number: int) -> bool:
    return kept(folder) >= number


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
