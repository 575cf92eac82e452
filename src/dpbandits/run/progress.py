"""Progress report: one line with the time left on a terminal, several lines elsewhere."""

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment

LINE_EVERY = 10.0  # seconds between lines off a terminal
CLEAR = "\r\033[K"  # begins a line of a terminal anew


@contextmanager
def reported(line: Callable[[float], str], shown: bool = True) -> Iterator[None]:
    """Print a line on the standard error every ten seconds, or on a terminal in place every second.

    `line` is given the seconds since the block began. Nothing is printed unless `shown`.
    """
    live, ended, start = sys.stderr.isatty(), threading.Event(), time.monotonic()

    def tell() -> None:
        while not ended.wait(1.0 if live else LINE_EVERY):
            text = line(time.monotonic() - start)
            print(f"{CLEAR}{text}" if live else f"{text}\n", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=tell, daemon=True)
    if shown:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if shown:
            thread.join()
            print(CLEAR * live, end="", file=sys.stderr, flush=True)


class Progress:
    """Runs that are left of every experiment, and how long they will take.

    Experiments differ by orders of magnitude (a batched policy against one that decides every
    round), so each is timed by its latest run; one without a time counts with its rounds, at the
    best pace of its algorithm in others. The first run of an algorithm may include compilation.
    """

    def __init__(self, title: str, runs: Mapping[Experiment, int], workers: int) -> None:
        self.title, self.workers, self.total = title, workers, sum(runs.values())
        self.left, self.started = dict(runs), set[str]()
        self.pace: dict[Experiment, float] = {}  # seconds per run

    def add(self, experiment: Experiment, runs: int, pace: float | None) -> None:
        """Count finished runs, the last of which took `pace` seconds; None: failed."""
        self.left[experiment] -= runs
        if pace is not None and (runs > 1 or experiment.member in self.started):
            self.pace[experiment] = pace
        self.started.add(experiment.member)

    def line(self, elapsed: float) -> str:
        """Return the report after so many seconds, and what its forecast leaves out."""
        left = {e: runs for e, runs in self.left.copy().items() if runs}
        expected, per_round = self.pace.copy(), dict[str, float]()  # seconds
        for e, pace in expected.items():
            if length := kinds.words(e).rounds:
                per_round[e.member] = min(pace / length, per_round.get(e.member, math.inf))
        for e in left:
            if (length := kinds.words(e).rounds) and e.member in per_round:
                expected.setdefault(e, length * per_round[e.member])
        finished, others = self.total - sum(left.values()), [e for e in left if e not in expected]
        text = f"{self.title}: {finished}/{self.total} runs after {duration(elapsed)}"
        seconds = sum(runs * expected[e] for e, runs in left.items() if e in expected)
        if seconds < 0.05:  # next to nothing among the timed ones
            rounds = sum(runs * (kinds.words(e).rounds or 0) for e, runs in left.items())
            return f"{text}, {rounds:.2g} rounds to play" if rounds else text
        text += f", about {duration(seconds / self.workers)} left"
        names = ", ".join(dict.fromkeys(e.member for e in others))
        return f"{text} without {names} (not timed yet)" if names else text


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
