"""Scheduler and workers, started as in docs/cluster.md, each in a separate process."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from commands import PATIENCE


class DaskProcesses:
    """Dask processes below a folder; close() ends those that still run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--scheduler-file", str(file), "--port", "0")
        deadline = time.monotonic() + PATIENCE
        self.address = ""
        while not self.address:
            assert self.scheduler.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
            if file.exists() and (content := file.read_text()):
                self.address = json.loads(content)["address"]

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker of one thread, without a nanny that would restart it."""
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder))
        return self._start("worker", self.address, *options, **environment)

    def _start(self, what: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{what}-{len(self.started)}.log").open("wb")
        command = (sys.executable, "-m", "dask", what, *options)
        with log:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--no-dashboard"],
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
