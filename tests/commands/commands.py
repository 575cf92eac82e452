"""Commands as typed, each in a separate process, and the files that they leave on the disk."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the disturbed commands import this before any of the package
    from dpbandits.experiments.regret import RegretExperiment
    from dpbandits.spec.figure import FigureSpec

ROOT = Path(__file__).resolve().parents[2]
DPBANDITS = (sys.executable, "-m", "dpbandits.cli.main")
RUN_PY = (sys.executable, str(ROOT / "experiments" / "run.py"))
FIGURES = sorted(path.stem for path in (ROOT / "conf" / "figure").glob("*.yaml"))
FIRST_FIGURES = ", ".join(FIGURES[:20])  # a message names as many as fit
PATIENCE = 600  # seconds for a command that takes 10 with compiled machine code on an idle machine

COUNTS = re.compile(r"(\d+) runs? computed, (\d+) from the cache; (drawn|pictures are up to date);")
PROGRESS = re.compile(r"^[^\n]*: [\d,]+/[\d,]+ runs after [^\n]*\n", re.MULTILINE)
KINDS = {"pdf", "svg", "png", "csv", "txt", "json"}


def bandit_cells(spec: "FigureSpec") -> list["RegretExperiment"]:
    """Return the cells of a figure that run an algorithm on a bandit."""
    from dpbandits.experiments.regret import RegretExperiment

    return [cell for cell in spec.experiments() if isinstance(cell, RegretExperiment)]


def documented_keys(schema: str) -> set[str]:
    """Keys that docs/files.md lists for a schema, in the first column of its table."""
    text = (ROOT / "docs" / "files.md").read_text("utf-8")
    section = text.partition(f"Schema `{schema}`")[2].partition("\n## ")[0]
    first = (line.split("|")[1] for line in section.splitlines() if line.startswith("|`"))
    return {"schema"} | {key for cell in first for key in re.findall(r"`(\w+)`", cell)}


@dataclass
class Done:
    """Result of a command."""

    status: int
    out: str
    err: str

    @property
    def counts(self) -> tuple[int, int, str]:
        """Numbers of runs computed and read from the cache, and the outcome of the pictures."""
        assert self.status == 0, self.err
        match = COUNTS.search(self.out)
        assert match, self.out
        return int(match[1]), int(match[2]), match[3]

    @property
    def errors(self) -> str:
        """stderr without the progress reported every ten seconds."""
        return re.sub(r"(?m)^[\w-]+: \d+/\d+ runs after .*\n", "", self.err)

    def assert_told(self, status: int, *fragments: str) -> None:
        """Assert one line on stderr that contains all fragments, and nothing on stdout."""
        assert (self.status, self.out) == (status, ""), self.err
        assert self.errors.startswith("dpbandits: ")
        assert len(self.errors.splitlines()) == 1, self.err
        for fragment in fragments:
            assert fragment in self.errors


class Process:
    """Command that has been started in the checkout, or in another folder."""

    def __init__(self, *command: str, folder: str = str(ROOT), **environment: str) -> None:
        self.popen = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def done(self, timeout: float = PATIENCE) -> Done:
        """Wait for the command to end, and kill it if that takes too long.

        Lines of progress are left out: a slow machine prints more of them.
        """
        late = ""
        try:
            out, err = self.popen.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            out, err = self.popen.communicate()
            late = f"killed after {timeout} seconds"
        return Done(self.popen.returncode, out, PROGRESS.sub("", err) + late)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds while the command is still running."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if self.popen.poll() is not None or time.monotonic() > deadline:
                self.popen.kill()
                raise AssertionError(f"it did not come to pass: {self.popen.communicate()}")
            time.sleep(0.01)


def below(folder: Path, out: str = "out") -> tuple[str, str]:
    return f"paths.cache={folder / 'cache'}", f"paths.out={folder / out}"


def blocks(folder: Path) -> list[Path]:
    return list((folder / "cache").glob("*/*/*.npz"))
