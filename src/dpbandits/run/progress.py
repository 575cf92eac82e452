"""Progress report: one line with the time left on a terminal, several lines elsewhere."""

import statistics
import sys
import time
from collections.abc import Mapping

LINE_EVERY = 10.0  # seconds between lines off a terminal
CLEAR = "\r\033[K"  # begins a line of a terminal anew


class Reporter:
    """Reporter of the progress of the runs on the standard error; silent unless `shown`.

    Kinds of runs differ by orders of magnitude (a batched policy against one that decides every
    round), so each is timed by its latest run: the first includes the compilation. A kind without a
    finished run counts as the median of the others; no time is given before half have one.
    """

    def __init__(
        self, title: str, runs: Mapping[str, int], workers: int, shown: bool = True
    ) -> None:
        self.title, self.workers, self.shown = title, workers, shown
        self.left, self.total = dict(runs), sum(runs.values())
        self.pace: dict[str, float] = {}  # seconds per run
        self.started = self.last_line = time.monotonic()
        self.live = sys.stderr.isatty()

    def add(self, kind: str, runs: int, pace: float | None) -> None:
        """Report finished runs of a kind, the last of which took `pace` seconds; None: failed."""
        self.left[kind] -= runs
        if pace is not None:
            self.pace[kind] = pace
        finished, now = self.total - sum(self.left.values()), time.monotonic()
        if not self.live and (now - self.last_line < LINE_EVERY or finished == self.total):
            return
        self.last_line = now
        line = f"{self.title}: {finished}/{self.total} runs after {duration(now - self.started)}"
        if self.pace and 2 * len(self.pace) >= len(self.left):
            usual = statistics.median(self.pace.values())
            seconds = sum(n * self.pace.get(kind, usual) for kind, n in self.left.items())
            line += f", about {duration(seconds / self.workers)} left"
        if self.shown:
            start, end = (CLEAR, "") if self.live else ("", "\n")
            print(f"{start}{line}", end=end, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clear the line of a terminal."""
        if self.shown and self.live:
            print(CLEAR, end="", file=sys.stderr, flush=True)


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
