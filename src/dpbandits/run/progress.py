"""Progress for people: a bar with the time left on a terminal, plain lines elsewhere."""

import statistics
import sys
import time
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

LINE_EVERY = 10.0  # seconds between plain lines
COMPILATION = 10.0  # seconds that the kernels of unseen kinds may take beside their runs


class Estimate:
    """The time left, from the seconds that a run of each kind took last.

    Kinds differ by orders of magnitude (a batched policy, one that decides every round), so each
    is timed by itself; a kind that has not been seen counts as the median of those that have. The
    last time counts, not the mean: the first includes the compilation. Runs are handed out in
    tasks, and a single worker plays each: the last one takes its whole time, however many workers
    have nothing left to do.
    """

    def __init__(self, runs: Mapping[str, int], workers: int) -> None:
        self.left = dict(runs)
        self.workers = workers
        self.pace: dict[str, float] = {}  # seconds a run
        self.together: dict[str, int] = {}  # runs of a task

    def add(self, kind: str, runs: int, pace: float | None) -> None:
        """Some runs of a kind are done, the last in `pace` seconds; None where they failed."""
        self.left[kind] -= runs
        if pace is not None:
            self.pace[kind], self.together[kind] = pace, runs

    def remaining(self) -> float | None:
        """Seconds left; None before half of the kinds have been seen.

        None too where so little is left that the compilation of the unseen kinds would decide.
        """
        if not self.pace or 2 * len(self.pace) < len(self.left):
            return None
        usual = statistics.median(self.pace.values())
        total = sum(n * self.pace.get(kind, usual) for kind, n in self.left.items())
        tasks = [min(self.left[k], n) * self.pace[k] for k, n in self.together.items()]
        seconds = max(total / self.workers, *tasks)
        unseen = any(n for kind, n in self.left.items() if kind not in self.pace)
        return None if unseen and seconds < COMPILATION else seconds


class TimeLeft(ProgressColumn):
    """The estimated time left, which passes between two tasks too; nothing where it is over."""

    def render(self, task: Task) -> Text:
        """The time until `task.fields["until"]`, in seconds of the monotonic clock."""
        until = task.fields["until"]
        seconds = 0.0 if until is None else until - time.monotonic()
        return Text(f"elapsed, {time_left(seconds)}" if seconds > 0 else "elapsed")


class Reporter:
    """Reports how far the runs are; use as a context manager."""

    def __init__(self, title: str, runs: Mapping[str, int], workers: int) -> None:
        self.title = title
        self.total = sum(runs.values())
        self.estimate = Estimate(runs, workers)
        self.finished = 0
        self.started = self.last_line = time.monotonic()
        self.bar: Progress | None = None
        self.task = TaskID(0)

    def __enter__(self) -> "Reporter":
        if sys.stderr.isatty():
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.0f}/{task.total:.0f} runs"),
                TimeElapsedColumn(),
                TimeLeft(),
                console=Console(stderr=True),
                transient=True,
            )
            self.task = self.bar.add_task(self.title, total=self.total, until=None)
            self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.bar:
            self.bar.stop()

    def add(self, kind: str, runs: int, pace: float | None) -> None:
        """Some runs of a kind are done, the last in `pace` seconds; None where they failed."""
        self.finished += runs
        self.estimate.add(kind, runs, pace)
        remaining = self.estimate.remaining()
        now = time.monotonic()
        if self.bar:
            until = None if remaining is None else now + remaining
            self.bar.update(self.task, advance=runs, until=until)
        elif now - self.last_line >= LINE_EVERY and self.finished < self.total:
            self.last_line = now
            spent = duration(now - self.started)
            left = "" if remaining is None else f", {time_left(remaining)}"
            line = f"{self.title}: {self.finished}/{self.total} runs after {spent}{left}"
            print(line, file=sys.stderr, flush=True)


def time_left(seconds: float) -> str:
    """An estimate for people: 'about 12 s left'."""
    return "less than a second left" if seconds < 1 else f"about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """Seconds for people: '0.4 s', '12 s', '3 min 05 s', '2 h 10 min'."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
