"""Progress report: a bar with the time left on a terminal, plain lines elsewhere."""

import statistics
import sys
import time
from collections.abc import Mapping
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

LINE_EVERY = 10.0  # seconds between plain lines


class Reporter:
    """Reporter of the progress of the runs on the standard error; silent unless `shown`.

    Kinds of runs differ by orders of magnitude (a batched policy against one that decides every
    round), so each is timed by its latest run: the first includes the compilation. A kind without a
    finished run counts as the median of the others.
    """

    def __init__(
        self, title: str, runs: Mapping[str, int], workers: int, shown: bool = True
    ) -> None:
        self.title, self.workers, self.shown = title, workers, shown
        self.left = dict(runs)
        self.total = sum(runs.values())
        self.pace: dict[str, float] = {}  # seconds per run
        self.started = self.last_line = time.monotonic()
        self.bar: Progress | None = None
        self.task = TaskID(0)

    def __enter__(self) -> Self:
        if self.shown and sys.stderr.isatty():
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.0f}/{task.total:.0f} runs"),
                TimeElapsedColumn(),
                TextColumn("elapsed{task.fields[left]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self.task = self.bar.add_task(self.title, total=self.total, left="")
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.stop()

    def add(self, kind: str, runs: int, pace: float | None) -> None:
        """Report finished runs of a kind, the last of which took `pace` seconds; None: failed."""
        self.left[kind] -= runs
        if pace is not None:
            self.pace[kind] = pace
        remaining, left = self.remaining(), ""
        if remaining is not None:
            about = f"about {duration(remaining)}" if remaining >= 1 else "less than a second"
            left = f", {about} left"
        finished = self.total - sum(self.left.values())
        now = time.monotonic()
        if self.bar:
            self.bar.update(self.task, completed=finished, left=left)
        elif self.shown and now - self.last_line >= LINE_EVERY and finished < self.total:
            self.last_line = now
            spent = duration(now - self.started)
            line = f"{self.title}: {finished}/{self.total} runs after {spent}{left}"
            print(line, file=sys.stderr, flush=True)

    def remaining(self) -> float | None:
        """Return the seconds left; None before half of the kinds have a finished run."""
        if not self.pace or 2 * len(self.pace) < len(self.left):
            return None
        usual = statistics.median(self.pace.values())
        total = sum(n * self.pace.get(kind, usual) for kind, n in self.left.items())
        return total / self.workers


def duration(seconds: float) -> str:
    """Return the text of a duration in seconds: '0.4 s', '12 s', '3 min 05 s', '2 h 10 min'."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
