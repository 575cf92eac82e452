"""`python disturbed.py <disturbance> <arguments>`: run the command while something goes wrong.

test_faults.py and the slow tests of reliability run this in separate processes or forks. A
disturbance does its own imports: some must act before the package is imported.
"""

import ctypes
import io
import os
import resource
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import commands

WRITING = ("os.mkdir", "open", "os.rename", "os.remove")


def when(event: str, ending: str, act: Callable[[], None], number: int = 1) -> None:
    """Act at an audit event (see Python's table of them) whose last path has this ending."""
    seen = count(1)

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name == event:
            path = arguments[1 if name == "os.rename" else 0]
            if str(path).endswith(ending) and next(seen) == number:
                act()

    sys.addaudithook(hook)


def replace(name: str, new: Any) -> None:
    """Replace a name permanently."""
    from unittest import mock  # late: it imports a module that one of the interrupts waits for

    mock.patch(name, new).start()


def replace_simulate(change: Callable[[Any, Any], None]) -> None:
    """Call a function before every call of a worker."""

    from dpbandits.experiments.regret import RegretExperiment

    real = RegretExperiment.play

    def play(cell: Any, runs: Any) -> Any:
        change(cell, runs)
        return real(cell, runs)

    replace("dpbandits.experiments.regret.RegretExperiment.play", play)


# Several processes -------------------------------------------------------------------------------


def in_step() -> None:
    """Synchronise every step that changes a file with the other processes: the worst case.

    PLACES is a folder with a file per process, which counts its steps; OWN is the file of this
    process.
    """
    places = list(Path(os.environ["PLACES"]).iterdir())
    own = os.open(os.environ["OWN"], os.O_WRONLY | os.O_APPEND)
    folder = str(Path(os.environ["PLACES"]).parent)

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name not in WRITING or not str(arguments[0]).startswith(folder):
            return
        if name == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            return
        os.write(own, b".")
        steps = os.fstat(own).st_size
        # The first step follows the start of Python. Later steps do not wait for a process that has
        # less to do.
        deadline = time.monotonic() + (60 if steps == 1 else 0.1)
        while any(place.stat().st_size < steps for place in places):
            if time.monotonic() > deadline:
                break
            time.sleep(0.0005)

    sys.addaudithook(hook)
    os.getpid = lambda: 7  # as in separate containers


# Disk --------------------------------------------------------------------------------------------


def full_disk() -> None:
    """Limit every file to 8 kB: a longer write fails partway, as on a full disk."""
    import dpbandits.kernel.compilation  # which found room for machine code, when there was some  # noqa: F401

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))


def no_privileges() -> None:
    """Make permission bits apply to root as well; no cell may be played."""
    if os.geteuid() == 0:
        # capset(2): version 3, this process; all of its capabilities empty.
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        assert ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)()) == 0
    replace_simulate(lambda cell, runs: print("a worker plays", file=sys.stderr))


# Abrupt ends -------------------------------------------------------------------------------------


def noted() -> None:
    """Record in the file NOTES, at once, when a run begins and when its block is stored."""
    from dpbandits.store.blocks import Store
    from dpbandits.store.key import key

    notes = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    real = Store.write

    def note(what: str, cell: Any, runs: Collection[int]) -> None:
        os.write(notes, f"{what} {key(cell)} {min(runs)} {max(runs) + 1}\n".encode())

    def write(store: Any, cell: Any, first: int, curves: Any, seconds: float) -> None:
        real(store, cell, first, curves, seconds)
        note("kept", cell, range(first, first + len(curves)))

    replace("dpbandits.store.blocks.Store.write", write)
    replace_simulate(partial(note, "begun"))


def killed() -> None:
    """Kill -9 when a file is complete but not renamed: KILLED holds its ending and number."""
    ending, number = os.environ["KILLED"].split()
    when("os.rename", ending, lambda: os.kill(os.getpid(), signal.SIGKILL), int(number))


# Interrupts --------------------------------------------------------------------------------------


def interrupt() -> None:
    """Send Ctrl-C."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


def interrupt_from_worker() -> None:
    """Send Ctrl-C repeatedly: Python misses one sent just before the main thread waits."""
    while True:
        interrupt()
        time.sleep(0.05)


def while_importing(module: str) -> None:
    when("import", module, interrupt)


def while_composing(error: str) -> None:
    """Interrupt Hydra, and let the clean-up after it fail, as that of OmegaConf does at times."""
    import omegaconf

    def compose(*arguments: Any, **more: Any) -> None:
        try:
            interrupt()
            time.sleep(10)
        finally:
            raise getattr(omegaconf.errors, error, AttributeError)("a flag is gone")

    replace("hydra.compose", compose)


def while_compiling() -> None:
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            interrupt_from_worker()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def while_playing() -> None:
    """Interrupt at the third task, when the blocks of two are written; it never ends."""
    from dpbandits.store.blocks import Store

    written = threading.Semaphore(0)
    calls = count(1)
    real = Store.write

    def write(*arguments: Any) -> None:
        real(*arguments)
        written.release()

    def play(cell: Any, runs: Any) -> None:
        if next(calls) == 3:
            written.acquire()
            written.acquire()
            interrupt_from_worker()

    replace("dpbandits.store.blocks.Store.write", write)
    replace_simulate(play)


def while_drawing() -> None:
    from matplotlib.figure import Figure

    real, calls = Figure.savefig, count(1)

    def savefig(*arguments: Any, **more: Any) -> None:
        if next(calls) == 2:
            interrupt()
        real(*arguments, **more)

    replace("matplotlib.figure.Figure.savefig", savefig)


def while_writing_a_block() -> None:
    """Interrupt when the third block is on the disk but not yet renamed."""
    when("os.rename", ".npz", interrupt, 3)


def while_saying_so() -> None:
    """Interrupt again while the message about the first interrupt is printed, slowly."""
    while_writing_a_block()

    class Slow(io.TextIOWrapper):
        def write(self, text: str) -> int:
            if "interrupted" in text:
                time.sleep(1.1)
                interrupt()
            return super().write(text)

    sys.stderr = Slow(sys.stderr.buffer, line_buffering=True)


def after_one_that_was_lost() -> None:
    """Interrupt first in a destructor, where Python drops exceptions, and again later."""

    class Doomed:
        def __del__(self) -> None:
            interrupt()
            time.sleep(0.01)

    def lose_one() -> None:
        Doomed()
        time.sleep(1.1)
        interrupt()

    sys.unraisablehook = lambda lost: None
    when("import", "dpbandits.config.compose", lose_one)


def in_the_background() -> None:
    """Ignore SIGINT, as after `&` in a shell script; then interrupt an import and a block."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    when("import", "dpbandits.config.compose", interrupt)
    when("os.rename", ".npz", interrupt)


# Workers -----------------------------------------------------------------------------------------


def one_cell_fails() -> None:
    def fail(cell: Any, runs: Any) -> None:
        if cell.member == "dp-se" and cell.params.epsilon == 0.25:
            raise ValueError("the gap is 0\nand more of it")

    replace_simulate(fail)


def two_cells_need_too_much_memory() -> None:
    """Allocate more than any address space, which no machine and no setting of it allows."""
    import numpy as np

    def fail(cell: Any, runs: Any) -> None:
        if cell.member == "dp-se" and cell.params.epsilon == 0.25:
            bytearray(1 << 56)  # its MemoryError has no text
        if cell.member == "adap-ucb" and cell.params.epsilon == 0.5:
            np.empty(1 << 56, np.uint8)

    replace_simulate(fail)


def the_table_needs_too_much_memory() -> None:
    def fail(spec: Any, store: Any) -> None:
        bytearray(1 << 56)

    replace("dpbandits.factory.produce.summarise", fail)


DISTURBANCES: dict[str, Callable[[], None]] = {
    "in step": in_step,
    "full disk": full_disk,
    "no privileges": no_privileges,
    "noted": noted,
    "killed": killed,
    "importing numpy": partial(while_importing, "numpy"),
    "importing hydra": partial(while_importing, "hydra"),
    "composing": partial(while_composing, "ConfigAttributeError"),
    "composing, with an error of Python": partial(while_composing, "AttributeError"),
    "compiling": while_compiling,
    "playing": while_playing,
    "writing a block": while_writing_a_block,
    "drawing": while_drawing,
    "writing a picture": partial(when, "os.rename", ".svg", interrupt),
    "saying so": while_saying_so,
    "one was lost": after_one_that_was_lost,
    "in the background": in_the_background,
    "one cell fails": one_cell_fails,
    "two cells need too much memory": two_cells_need_too_much_memory,
    "the table needs too much memory": the_table_needs_too_much_memory,
}


if __name__ == "__main__":
    # Also when the tests themselves run in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    DISTURBANCES[sys.argv.pop(1)]()
    if sys.argv[1].startswith("figure="):
        runpy.run_path(commands.RUN_PY[1], run_name="__main__")
    else:
        from dpbandits.cli.main import main

        main()
