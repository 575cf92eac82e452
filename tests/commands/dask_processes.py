"""Scheduler and workers, started as in docs/cluster.md, each in a separate process."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from commands import PATIENCE


@dataclass(eq=False)
class Machine:
    """Address of a host, and the words before a command that runs it there."""

    address: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()


HERE = Machine()


class DaskProcesses:
    """Dask processes below a folder; close() ends those that still run."""

    def __init__(self, folder: Path, at: Machine = HERE) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        options = ("--scheduler-file", str(file), "--port", "0")
        self.scheduler = self._start("scheduler", at, *options)
        deadline = time.monotonic() + PATIENCE
        self.address = ""
        while not self.address:
            assert self.scheduler.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
            if file.exists() and (content := file.read_text()):
                self.address = json.loads(content)["address"]

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker of one thread, without a nanny that would restart it; it has joined."""
        process = self.worker_at(HERE, "--no-nanny", **environment)
        deadline = time.monotonic() + PATIENCE
        while "Registered to" not in self.log(process).read_text():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return process

    def worker_at(
        self, machine: Machine, *more: str, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start a worker of one thread on a machine, with further options of `dask worker`."""
        options = (self.address, "--nthreads", "1", "--local-directory", str(self.folder))
        return self._start("worker", machine, *options, *more, **environment)

    def log(self, process: subprocess.Popen[bytes]) -> Path:
        """Return the file with the output of a process."""
        what = "scheduler" if process is self.scheduler else "worker"
        return self.folder / f"{what}-{self.started.index(process)}.log"

    def _start(
        self, what: str, at: Machine, *options: str, **environment: str
    ) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{what}-{len(self.started)}.log").open("wb")
        command = (*at.prefix, sys.executable, "-m", "dask", what, *options)
        with log:
            process = subprocess.Popen(
                [*command, "--host", at.address, "--no-dashboard"],
                env=os.environ | environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        self.started.append(process)
        return process

    @property
    def engine(self) -> tuple[str, ...]:
        """Overrides for a command that uses this scheduler."""
        return "engine=dask", f"engine.scheduler={self.address}"

    def close(self) -> None:
        for process in self.started:
            process.kill()
            process.wait()
