"""Commands in forks of one process, which imports the libraries once, and dpbandits never.

`Fork` is used like `Process` and needs a fraction of its time: the fork imports the package as a
new process does. In two ways it is not one. Libraries have been imported, so a command with
variables that they read, or one that is interrupted while it imports them, needs a `Process`. And
matplotlib does not draw: a picture is a text with the points of all lines.
"""

import atexit
import gc
import importlib
import importlib.util
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from commands import PATIENCE, ROOT, Done

LIBRARIES = (
    "hydra",
    "joblib",
    "matplotlib.figure",
    "matplotlib.style",
    "multiprocessing.dummy",
    "numba",
    "rich.progress",
    "scipy.optimize",
    "scipy.stats",
    "yaml",
)
READ_EARLY = ("HYDRA_", "LC_", "MPL", "NUMBA_", "PYTHON")  # variables of libraries and of Python


class Fork:
    """Command that has been started in the checkout, in a fork."""

    def __init__(self, *command: str, **environment: str) -> None:
        assert command[0] == sys.executable
        assert not [name for name in environment if name.startswith(READ_EARLY)]
        request = {
            "command": command[1:],
            "folder": str(ROOT),
            "environment": {**os.environ, **environment},
        }
        self.files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115
        self.reports, theirs = socket.socketpair()
        streams = [*(file.fileno() for file in self.files), theirs.fileno()]
        socket.send_fds(server(), [json.dumps(request).encode()], streams)
        theirs.close()
        self.lines = self.reports.makefile()
        self.pid = int(self.lines.readline())

    def done(self, timeout: float = PATIENCE) -> Done:
        """Wait for the command to end, and kill it if that takes too long."""
        late = ""
        if not self._ends_within(timeout):
            self.kill()
            late = f"killed after {timeout} seconds"
        status = int(self.lines.readline())
        texts = []
        for file in self.files:
            file.seek(0)
            texts.append(file.read().decode())
            file.close()
        self.lines.close()
        self.reports.close()
        return Done(status, texts[0], texts[1] + late)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds while the command is still running."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline or self._ends_within(0.01):
                raise AssertionError(f"it did not come to pass: {self.done(0)}")

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the command."""
        os.kill(self.pid, number)

    def _ends_within(self, seconds: float) -> bool:
        readable, _, _ = select.select([self.reports], [], [], seconds)
        return bool(readable)


@cache
def server() -> socket.socket:
    """Return the socket that takes requests, of a process that ends with this one."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        (sys.executable, __file__, str(its.fileno())),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[its.fileno()],
    )
    its.close()

    def end() -> None:
        ours.close()
        process.wait(PATIENCE)

    atexit.register(end)
    return ours


# In the process that forks ------------------------------------------------------------------------


def serve(requests: socket.socket) -> None:
    """Fork for every request until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load_libraries()
    gc.freeze()
    watching = set()
    while True:
        request, streams, _, _ = socket.recv_fds(requests, 2**20, 3)
        if not request:
            break
        if not (watcher := os.fork()):
            requests.close()
            watch(json.loads(request), *streams)
        watching.add(watcher)
        for stream in streams:
            os.close(stream)
        watching -= {ended for each in watching if (ended := os.waitpid(each, os.WNOHANG)[0])}
    for watcher in watching:
        os.waitpid(watcher, 0)


def load_libraries() -> None:
    """Import the libraries, initialise those that do so late, and let pictures be stand-ins."""
    for library in LIBRARIES:
        if importlib.util.find_spec(library.partition(".")[0]):
            importlib.import_module(library)
    import numba
    from hydra.core.plugins import Plugins
    from matplotlib.figure import Figure

    Plugins.instance()
    numba.njit(lambda x: x + 1)(1.0)
    replaced: Any = Figure
    replaced.draw_without_rendering = lambda figure: None
    replaced.savefig = write_points
    sys.dont_write_bytecode = False


def write_points(figure: Any, file: Any, **_: Any) -> None:
    """Write the points of all lines of a figure in place of a picture."""
    lines = [line.get_xydata().tolist() for axes in figure.axes for line in axes.lines]
    file.write(json.dumps(lines).encode())


def watch(request: dict[str, Any], out: int, err: int, theirs: int) -> NoReturn:
    """Run the command in another fork; report its process id and its exit status."""
    if not (command := os.fork()):
        os.close(theirs)
        os.dup2(out, 1)
        os.dup2(err, 2)
        run(**request)
    os.close(out)
    os.close(err)
    os.write(theirs, f"{command}\n".encode())
    _, status = os.waitpid(command, 0)
    os.write(theirs, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def run(command: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Run `-m <module> <arguments>` or `<file> <arguments>` and end this process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    status: Any = 1
    try:
        if command[0] == "-m":
            sys.argv, sys.path[0] = command[1:], folder
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = command, str(Path(command[0]).parent)
            runpy.run_path(command[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code or 0  # no command ends with a text
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
