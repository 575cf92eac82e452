"""Compilation of kernels in a process of its own, ahead of the threads that play.

Python compiles one kernel at a time, and while the first figures are composed or compiled, other
processors would be idle. The second process keeps the machine code on disk
(core/machine_code.py), from where this process loads it. It is optional: a kernel that fails to
compile there is compiled here, and the error is reported.
"""

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO

import joblib

from dpbandits.audit.cell import AuditCell
from dpbandits.audit.games import compile_games
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.core.machine_code import is_empty
from dpbandits.run.runner import attempt
from dpbandits.run.tasks import Task, kernel_of

COMMAND = (sys.executable, "-m", "dpbandits.run.compile_ahead")
ROUNDS = 64  # of the games that are played only to compile their kernels
SIZE = struct.Struct("<Q")  # precedes each cell in the stream
# Above this the process replaces itself: numba never frees compiled code.
MOST_MEMORY = 500e6  # bytes


class CompilingAhead:
    """Process that compiles the kernels of all cells added to it, until the context ends.

    It starts with the first cell, if there are several processors, for a single figure only if no
    machine code is on disk: to find one kernel there takes less time than to start a process.
    """

    def __init__(self, figures: int) -> None:
        self._seen = set[Hashable]()
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._helps = joblib.cpu_count() > 1 and (figures > 1 or is_empty())
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "CompilingAhead":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def add(self, cells: Iterable[AnyCell]) -> None:
        """Compile the kernels of these cells, except those that were added before."""
        new = {key: cell for cell in cells if (key := kernel_of(cell)) not in self._seen}
        if not new or not self._helps:
            return
        if self._process is None:
            self._start()
        self._seen |= new.keys()
        for cell in new.values():
            self._waiting.put(pickle.dumps(cell))

    def end(self) -> None:
        """Let the process end when it has compiled the kernels of all cells so far."""
        self._waiting.put(None)

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt is for this process alone
            )
        except OSError:
            self._helps = False
            return
        threading.Thread(target=self._feed, args=(self._process.stdin,), daemon=True).start()

    def _feed(self, pipe: IO[bytes]) -> None:
        # Runs in a thread, because the process reads only between two compilations.
        with suppress(OSError), pipe:  # the process may be dead
            while (cell := self._waiting.get()) is not None:
                pipe.write(SIZE.pack(len(cell)) + cell)
                pipe.flush()


def compile_cell(cell: AnyCell) -> None:
    """Compile the kernels of a cell by a short game, and keep their machine code."""
    if isinstance(cell, AuditCell):
        compile_games(cell.member, cell.params)
        return
    if isinstance(cell, Cell):
        horizon = min(ROUNDS, cell.horizon)
        params = cell.params
        if hasattr(params, "horizon"):
            params = params._replace(horizon=horizon)
        cell = replace(cell, params=params, horizon=horizon)
    attempt(Task(cell, range(cell.runs_in_step if isinstance(cell, Cell) else 1)))


def memory() -> int:
    """Return the bytes of memory that this process takes now; 0 on other systems than Linux."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def main(stream: int) -> None:
    """Compile the kernels of pickled cells until the stream, a file descriptor, ends."""
    while size := _read(stream, SIZE.size):
        content = _read(stream, *SIZE.unpack(size))
        with suppress(Exception):
            compile_cell(pickle.loads(content))
        if memory() > MOST_MEMORY:
            os.execv(sys.executable, COMMAND)


def _read(stream: int, size: int) -> bytes:
    # Reads no byte beyond: what follows may be for a new process. Returns less at the end.
    content = b""
    while len(content) < size and (part := os.read(stream, size - len(content))):
        content += part
    return content


if __name__ == "__main__":
    main(sys.stdin.fileno())
