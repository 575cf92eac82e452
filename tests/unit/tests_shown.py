"""Progress of the tests: a live line on a terminal, elsewhere a line every 20 seconds.

A pytest plugin that replaces the dots of `-q`, with xdist and without it. The seconds that every
file takes are stored in the environment's folder: they differ by orders of magnitude, and before a
file is played only an earlier call can give its time.
"""

import json
import os
import shutil
import statistics
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from dpbandits.run.progress import duration, time_left

LIVE_EVERY = 0.1  # seconds between updates of the live line
LINE_EVERY = 20.0  # seconds between lines, off a terminal
KEPT = "seconds-of-tests.json"
Status: TypeAlias = tuple[str, str, Any]


def file_of(test: str) -> str:
    """Return the file of a test from the test's id."""
    return test.partition("::")[0]


class Tally:
    """Tests and seconds by file, and the time left.

    `pace` holds the seconds per test of each file when it was played last.
    """

    def __init__(self, tests: Iterable[str], workers: int, pace: Mapping[str, float]) -> None:
        self.total = Counter(map(file_of, tests))
        self.done = Counter[str]()
        self.seconds = defaultdict[str, float](float)
        self.workers = workers
        self.before = pace
        self.begun: dict[str, None] = {}  # the files that have begun, in order

    def left(self) -> dict[str, int]:
        """Return the number of tests left, by file."""
        return {f: n - self.done[f] for f, n in self.total.items() if n > self.done[f]}

    def current(self) -> list[str]:
        """Return the names of the files that have begun and are not done."""
        left = self.left()
        return [Path(file).name for file in self.begun if file in left]

    def pace(self) -> dict[str, float]:
        """Return the seconds per test of every file that is done, was done before, or has begun."""
        own = {f: self.seconds[f] / n for f, n in self.done.items() if n}
        whole = {f: pace for f, pace in own.items() if self.done[f] >= self.total[f]}
        return {**own, **self.before, **whole}

    def remaining(self) -> float | None:
        """Return the seconds left, or None before the time of any file is known.

        A single worker plays each file.
        """
        pace = self.pace()
        known = [pace[file] for file in self.total if file in pace]
        if not known:
            return None
        usual = statistics.fmean(known)
        each = [n * pace.get(file, usual) for file, n in self.left().items()]
        return max(sum(each) / self.workers, max(each, default=0.0))

    def line(self, spent: float) -> str:
        """Return the line: files and tests done, time passed, time left, the files being played."""
        tests, done = self.total.total(), self.done.total()
        files = len(self.total) - len(self.left())
        remaining = self.remaining()
        percent = 100 * done // max(tests, 1)
        parts = [f"{files}/{len(self.total)} files, {percent} % of {tests} tests"]
        parts.append(f"after {duration(spent)}")
        if remaining:
            parts.append(time_left(remaining))
        if current := self.current():
            parts.append(f"in {' and '.join(current)}")
        return ", ".join(parts)


class Shown:
    """Pytest hooks: every test that begins or ends updates the line."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.reporter: Any = config.pluginmanager.getplugin("terminalreporter")
        self.workers = config.getoption("numprocesses", None) or 1
        self.tally: Tally | None = None  # None until the tests are collected
        self.failures = 0
        self.started = self.last = time.monotonic()
        self.over = threading.Event()
        self.lock = threading.RLock()

    # Beginning and end

    def begin(self, tests: Iterable[str]) -> None:
        """Start with these tests."""
        self.tally = Tally(tests, self.workers, kept())
        self.started = self.last = time.monotonic()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests that this process plays itself."""
        if session.items:
            self.begin(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """Count the tests that workers play; every worker collects the same."""
        if self.tally is None:
            self.begin(ids)
            # All workers may be silent for a minute. There is no such thread where this process
            # plays the tests itself: it would interfere with a fork.
            threading.Thread(target=self.tick, daemon=True).start()

    def tick(self) -> None:
        """Update the time as it passes."""
        while not self.over.wait(1.0):
            self.show()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Leave the terminal to pytest's own summary."""
        self.over.set()
        with self.lock:
            if self.tally:
                self.clear()
                keep(self.tally.pace())

    # Tests

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record that a test begins."""
        if self.tally:
            self.tally.begun.setdefault(file_of(nodeid))
            self.show()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the end of a test's phase; write a failure immediately."""
        if self.tally is None:
            return
        with self.lock:
            file = file_of(report.nodeid)
            self.tally.seconds[file] += report.duration
            self.tally.done[file] += report.when == "teardown"
            if report.failed:
                self.write(f"FAILED {report.nodeid}")
        self.show()

    @pytest.hookimpl(wrapper=True)
    def pytest_report_teststatus(self) -> Generator[None, Status, Status]:
        """Suppress the dots: without a letter and a word the reporter writes nothing."""
        category, letter, word = yield
        return (category, letter, word) if self.over.is_set() else (category, "", "")

    # The line

    def show(self) -> None:
        """Show the progress: a live line on a terminal, elsewhere a line from time to time.

        Most of the thousands of calls come too soon after the last line and compose none.
        """
        with self.lock:
            now = time.monotonic()
            live = self.reporter.isatty()
            soon = now - self.last < (LIVE_EVERY if live else LINE_EVERY)
            if self.tally is None or self.over.is_set() or soon:
                return
            self.last = now
            line = self.tally.line(now - self.started)
            if not live:
                self.write(line)
                return
            width = shutil.get_terminal_size().columns
            self.reporter.rewrite(line[: width - 1], erase=True)
            self.reporter.flush()

    def write(self, line: str) -> None:
        """Write a permanent line."""
        self.clear()
        self.reporter.write_line(line)
        self.reporter.flush()

    def clear(self) -> None:
        """Clear the live line."""
        if self.reporter.isatty():
            self.reporter.rewrite("", erase=True)
            self.reporter.rewrite("")


def kept() -> dict[str, float]:
    """Return the seconds per test of every file whose time is known from before."""
    try:
        content = json.loads((Path(sys.prefix) / KEPT).read_text("utf-8"))
        return {str(file): float(seconds) for file, seconds in content.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def keep(pace: Mapping[str, float]) -> None:
    """Store the seconds per test for the next call, if in a virtual environment."""
    if sys.prefix == sys.base_prefix:
        return
    file = Path(sys.prefix) / KEPT
    text = json.dumps({name: round(seconds, 4) for name, seconds in sorted(pace.items())})
    try:
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(text, "utf-8")
        part.replace(file)
    except OSError:
        return  # the next estimate then does without it


def is_wanted(config: pytest.Config) -> bool:
    """Return whether the line replaces the dots: in `make test`, where it does not interfere.

    It interferes in a worker, in a test's own pytest, and with the names of `-v` or the output of
    `-s`.
    """
    inside = hasattr(config, "workerinput") or "PYTEST_CURRENT_TEST" in os.environ
    plain = config.get_verbosity() == -1 and config.option.capture != "no"
    return plain and not inside and not config.option.collectonly
