"""Make the environment: `python3 scripts/set_up.py .venv`, as every target of the Makefile does.

Uses only the standard library, because nothing else is installed yet. Pip would print 150 lines;
this script prints one line per step, and a live line on a terminal, and writes the full output to
set-up.log.
"""

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
LINE_EVERY = 20.0  # seconds between lines of one step, if there is no terminal
LAST_LINES = 12  # lines of pip's output that a failure without a message of its own prints

# Pip's messages for an index that does not answer, and for the error that then ends pip.
BROKEN = re.compile(r"connection broken by '(\w+)\((.*)")
UNREACHED = re.compile(
    r"No matching distribution|Max retries exceeded|Read ?timed? ?out|ReadTimeout|ConnectionError"
)
SYSTEM_ERROR = re.compile(r"\[Errno -?\d+\] ([^'\")\]]+)")

# The bytecode in an environment is written even where Python is to write none beside sources.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
# Imports what most commands and the tests need, of numba also what the first compilation imports.
BYTECODE = """
import fontTools.subset, hydra, hypothesis, joblib, pytest, rich.progress, scipy.optimize
import matplotlib.backends.backend_pdf, matplotlib.backends.backend_svg, matplotlib.pyplot
import numba, numpy, scipy.stats
numba.njit(lambda x: x.sum())(numpy.ones(2))
"""


class Failed(Exception):
    """Failure of a step, with the message to print."""


class Progress:
    """Progress of a step: a live line on a terminal, otherwise a line every LINE_EVERY seconds."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.started = self.last_line = time.monotonic()

    def show(self, text: str) -> None:
        """Report the state of the step."""
        now = time.monotonic()
        line = f"  {text}, {now - self.started:.0f} s"
        if self.live:
            print(f"\r\033[K{line[:78]}", end="", file=sys.stderr, flush=True)
        elif now - self.last_line >= LINE_EVERY:
            self.last_line = now
            print(line, file=sys.stderr, flush=True)

    def end(self, text: str = "") -> None:
        """End the step: erase its live line and print a text, if any, with the seconds taken."""
        if self.live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        if text:
            spent = time.monotonic() - self.started
            print(f"  {text}, {spent:.0f} s", file=sys.stderr, flush=True)


class Step(NamedTuple):
    """Command, with the line to print after it and the number of packages that it installs."""

    command: Sequence[str]
    done: str
    packages: int


def run(step: Step, log: list[str]) -> None:
    """Run a step and append all of its output to `log`. Raises Failed if the command fails."""
    progress, begin = Progress(), len(log)
    try:
        with subprocess.Popen(
            step.command,
            cwd=ROOT,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line, text in doing(process.stdout, step):
                log.append(line)
                progress.show(text)
    finally:
        progress.end()
    if process.returncode:
        raise Failed(reason(log[begin:]))
    progress.end(step.done)


def doing(output: Iterable[str], step: Step) -> Iterator[tuple[str, str]]:
    """Yield each line of pip's output with a short description of pip's current action."""
    text, packages = step.done, 0
    for line in output:
        words = line.split()
        if words[:1] == ["Collecting"] or words[:3] == ["Requirement", "already", "satisfied:"]:
            packages = min(packages + 1, step.packages)
            text = f"package {packages} of {step.packages}"
            if words[0] == "Collecting":
                text += f": {words[1]}"
        elif words[:1] == ["Downloading"]:  # pip adds the size in parentheses
            text = f"package {packages} of {step.packages}: {' '.join(words)}"
        elif words[:2] == ["Installing", "collected"]:
            text = f"unpacking {step.packages} packages"
        elif BROKEN.search(line):
            text = "the package index does not answer, pip tries again"
        yield line.rstrip("\n"), text


def reason(output: Sequence[str]) -> str:
    """Return the reason of a failure: one line if no index was reached, else pip's last lines."""
    broken = [match for line in output if (match := BROKEN.search(line))]
    if broken and any(UNREACHED.search(line) for line in output if not BROKEN.search(line)):
        system = SYSTEM_ERROR.search(broken[-1][2])
        why = system[1].strip() if system else broken[-1][1]
        return (
            f"pip cannot reach a package index ({why}): connect to the network or name an index"
            " or proxy (PIP_INDEX_URL, PIP_PROXY), then repeat the command"
        )
    last = [line for line in output if line.strip()][-LAST_LINES:]
    return "\n".join(["the environment cannot be made; its installer's last lines:", *last])


def steps(folder: Path) -> list[Step]:
    """Return the steps that set up a folder, in order; an existing environment is kept."""
    python, packages = folder / "bin" / "python", LOCK.read_text("utf-8").count("==")
    # Compiling every module of every package would double the time.
    pip = (str(python), "-m", "pip", "install", "--no-compile", "--disable-pip-version-check")
    own = ("--no-build-isolation", "--no-deps", "--editable", ".")
    made = Step((sys.executable, "-m", "venv", str(folder)), "an empty environment", 0)
    return [
        *([] if python.exists() else [made]),
        Step((*pip, "-r", str(LOCK)), f"{packages} packages of requirements.lock", packages),
        Step((*pip, *own), "dpbandits itself", 0),
        Step((str(python), "-c", BYTECODE), "bytecode of the libraries", 0),
    ]


def main(folder: Path) -> int:
    """Set up the environment; return 0, or 2 after a failed step, 130 after an interrupt."""
    log: list[str] = []
    todo = steps(folder)
    packages = sum(step.packages for step in todo)
    print(
        f"Setting up {folder}, once, about a minute: Python {platform.python_version()},"
        f" {packages} packages of requirements.lock, dpbandits",
        file=sys.stderr,
    )
    try:
        for step in todo:
            run(step, log)
    except Failed as error:
        print(f"dpbandits: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("dpbandits: interrupted; the same command continues", file=sys.stderr)
        return 130
    finally:
        if folder.is_dir():
            text = "\n".join(log) + "\n"
            (folder / "set-up.log").write_text(text, "utf-8", errors="backslashreplace")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
