"""Shared code of the reliability tests: two commands, and what they must leave on the disk."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TypeVar

import disturbed
import pytest
from commands import DPBANDITS, KINDS, Process, below

from dpbandits.config.compose import load
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.store.blocks import Store

ABREAST = 4  # commands side by side
AT_ONCE = 12  # of the random moments, so that a failure shows early
WORKERS = 2
T = TypeVar("T")

BLOCK = re.compile(r"\d+-\d+\.npz|identity\.json")
PARTIAL = re.compile(r"\..+\.[0-9a-f]{16}\.partial")


@dataclass(frozen=True)
class Command:
    """A figure and the overrides typed with it."""

    figure: str
    typed: tuple[str, ...]
    prefix: tuple[str, ...] = ()  # words before the command, which run it on another host

    def start(
        self, folder: Path, *more: str, disturbance: str | None = None, **environment: str
    ) -> Process:
        """Start the command with its cache and out below a folder, optionally disturbed."""
        how = DPBANDITS
        if disturbance is not None:
            how = (sys.executable, disturbed.__file__, disturbance)
        overrides = (*self.typed, *below(folder), *more)
        return Process(*self.prefix, *how, "run", self.figure, *overrides, **environment)

    @cached_property
    def cells(self) -> dict[Experiment, int]:
        """Cells of the figure, each with its number of runs."""
        return load(self.figure, self.typed)[0].runs_of_experiments()

    @property
    def runs(self) -> int:
        return sum(self.cells.values())

    def arrays(self, folder: Path) -> dict[str, bytes]:
        """Return the numbers of all runs, by cell."""
        store = Store(folder / "cache")
        return {
            kinds.words(cell).name: store.load(cell, runs).tobytes()
            for cell, runs in self.cells.items()
        }

    def pictures(self, folder: Path) -> dict[str, bytes]:
        """Return the content of the files in the figure's folder, by name."""
        found = sorted(p for p in (folder / "out" / self.figure).rglob("*") if p.is_file())
        return {path.name: path.read_bytes() for path in found}


# The command lasts a few seconds and plays for a good part of them. A block is one run, or several
# where they take less than half a second together.
LONG = Command(
    "exp3-deterministic",
    (
        *("profile=smoke", "runs=24", "figure.horizon=2_000_000"),
        *("engine.block=1", f"engine.workers={WORKERS}"),
    ),
)
SMALL = Command("adap-c2", ("profile=smoke", "runs=4", "~figure.curves.dp-ucb"))


@dataclass(frozen=True)
class Calm:
    """An undisturbed command: its numbers, its pictures and its duration."""

    command: Command
    arrays: dict[str, bytes]
    pictures: dict[str, bytes]
    seconds: float


def calm(command: Command, folder: Path) -> Calm:
    """Play a command undisturbed, which also leaves the compiled machine code behind.

    The duration is the shortest of several commands that ran side by side, as the disturbed ones
    do.
    """
    first = folder / "first"
    done = command.start(first).done()
    assert done.counts == (command.runs, 0, "drawn")
    assert done.errors == ""
    begin = time.monotonic()
    abreast = [command.start(folder / str(number)) for number in range(ABREAST)]
    while all(process.popen.poll() is None for process in abreast):
        time.sleep(0.01)
    seconds = time.monotonic() - begin
    for process in abreast:
        assert process.done().counts == (command.runs, 0, "drawn")
    return Calm(command, command.arrays(first), command.pictures(first), seconds)


@dataclass(frozen=True)
class OnDisk:
    """Contents of a cache: the runs of sound blocks, and the number of partial files."""

    runs: dict[Experiment, set[int]]
    partial: int

    @property
    def number(self) -> int:
        return sum(map(len, self.runs.values()))


def on_disk(command: Command, folder: Path) -> OnDisk:
    """Return what is below a folder; fail on an unsound block or a file with another name."""
    store = Store(folder / "cache")
    runs = {cell: store.covered(cell) for cell in command.cells}
    # Unsound blocks have been renamed by now.
    files = [path for path in folder.rglob("*") if path.is_file()]
    partial = [path for path in files if PARTIAL.fullmatch(path.name)]
    in_cache = {path for path in files if path.is_relative_to(folder / "cache")} - {*partial}
    assert [path for path in in_cache if not BLOCK.fullmatch(path.name)] == []
    return OnDisk(runs, len(partial))


def assert_as_if_calm(folder: Path, calm: Calm) -> None:
    """Assert that all files are there, with the bytes of the undisturbed command."""
    command = calm.command
    assert on_disk(command, folder).number == command.runs
    assert command.arrays(folder) == calm.arrays
    made = {
        name: content
        for name, content in command.pictures(folder).items()
        if not PARTIAL.fullmatch(name)
    }
    assert set(made) == set(calm.pictures)
    assert {f"{command.figure}.{kind}" for kind in KINDS} <= set(made)
    sidecar = json.loads(made[f"{command.figure}.json"])
    for kind, digest in sidecar["files"].items():
        assert sha256(made[f"{command.figure}.{kind}"]).hexdigest() == digest
    for name, content in made.items():  # the sidecar contains the time
        if name != f"{command.figure}.json":
            assert content == calm.pictures[name], name


def moments(seed: int, seconds: float) -> Iterator[float]:
    """Yield moments of a command's life, uniformly distributed."""
    draw = random.Random(seed)
    while True:
        yield draw.uniform(0, seconds)


def send(process: Process, begin: float, moment: float, number: signal.Signals) -> None:
    """Send a signal this many seconds after the beginning, unless the command has ended by then."""
    try:
        process.popen.wait(max(0.0, begin + moment - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.popen.send_signal(number)


def many(number: int, seed: int, seconds: float, act: Callable[[float], T | None]) -> list[T]:
    """Act at random moments, some side by side, until `number` precede the command's end."""
    found: list[T] = []
    drawn = moments(seed, seconds)
    with ThreadPoolExecutor(ABREAST) as pool:
        while len(found) < number:
            acted = pool.map(act, list(islice(drawn, min(AT_ONCE, number - len(found)))))
            found += [one for one in acted if one is not None]
    return found


def phase(command: Command, kept: int, drawn: bool) -> str:
    """Return the phase that a command was in when it had stored this many runs."""
    if not kept:
        return "start-up"
    return "drawing" if kept == command.runs or drawn else "playing"


@contextmanager
def disk(folder: Path, **options: int | str) -> Iterator[Path]:
    """Yield a file system in memory, `size=...` bytes, `nr_inodes=...` files; needs root."""
    folder.mkdir(parents=True)
    settings = ",".join(f"{name}={value}" for name, value in options.items())
    command = ("mount", "-t", "tmpfs", "-o", settings, "tmpfs", str(folder))
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no `mount`")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(("umount", str(folder)), check=True)


def remount(folder: Path, options: str) -> None:
    """Give a disk more room, or make it read-only."""
    command = ("mount", "-o", f"remount,{options}", str(folder))
    subprocess.run(command, check=True, capture_output=True)


def used(folder: Path) -> tuple[int, int]:
    """Return the numbers of bytes and files that a disk holds."""
    status = os.statvfs(folder)
    return (
        (status.f_blocks - status.f_bfree) * status.f_frsize,
        status.f_files - status.f_ffree,
    )
