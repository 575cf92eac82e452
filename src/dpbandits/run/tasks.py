"""Tasks: which runs are played in one call of a worker, in what order, and what comes of them.

A worker in another process must compute the same numbers as the command. Workers report the digest
of their kernels before the first task; every task carries it too, because a worker may join later.
"""

import pickle
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Event

import numpy as np

from dpbandits.experiments.experiment import Experiment
from dpbandits.kernel.compilation import island_digest
from dpbandits.kernel.errors import UserError, in_one_line
from dpbandits.kernel.roots import VARIABLE, discovery
from dpbandits.store.blocks import Store
from dpbandits.store.key import key

TASKS_PER_EXPERIMENT = 16  # at most: every task writes a file


@dataclass(frozen=True)
class Task:
    """Consecutive runs of one experiment: one call in a worker, one block on disk."""

    experiment: Experiment
    runs: range


@dataclass(frozen=True)
class Outcome:
    """Result of a task: the curves and the seconds of its runs, or the text of the error."""

    task: Task
    curves: np.ndarray | None = None  # float64 of shape (runs, columns); None: failed
    seconds: np.ndarray | None = None  # float64 of shape (runs,)
    error: str | None = None  # the exception in one line
    trace: str | None = None


def plan(runs_of: Mapping[Experiment, int], store: Store, block: int) -> list[Task]:
    """Return the tasks that are missing for the given number of runs of every experiment.

    A task has `block` runs or more, unless fewer are left in a gap. The first task of every
    experiment comes before the second task of any experiment: failures show early, and the time of
    a run is soon known for every experiment.
    """
    ranked: list[tuple[int, Task]] = []
    for experiment, runs in runs_of.items():
        gaps = store.missing(experiment, runs)
        size = max(block, -(-sum(map(len, gaps)) // TASKS_PER_EXPERIMENT))
        pieces = [gap[start : start + size] for gap in gaps for start in range(0, len(gap), size)]
        ranked += [(rank, Task(experiment, piece)) for rank, piece in enumerate(pieces)]
    return [task for _, task in sorted(ranked, key=lambda entry: entry[0])]


class Stoppable(list[int]):
    """Runs of a task, of which no further one is begun once `stop` is set."""

    stop: Event

    def __iter__(self) -> Iterator[int]:
        for run in super().__iter__():
            if self.stop.is_set():
                raise InterruptedError
            yield run


def attempt(task: Task, stop: Event | None = None) -> Outcome:
    """Play a task; return an exception as an Outcome, so that it cannot stop the other tasks."""
    runs = Stoppable(task.runs)
    runs.stop = stop or Event()
    try:
        return Outcome(task, *task.experiment.play(runs))
    except Exception as error:
        return Outcome(task, error=in_one_line(error), trace=traceback.format_exc())


def numbers_digest(experiment: Experiment) -> str:
    """Return a digest of all that determines the numbers of an experiment here."""
    return f"{island_digest()}-{key(experiment)}"


def attempt_elsewhere(content: bytes, wanted: str) -> Outcome | str:
    """Play a pickled task as `attempt` does; return why it cannot be played with the same result.

    `wanted` is the `numbers_digest` that the worker must have. The task crosses the scheduler as
    bytes: that process cannot import the project of a user.
    """
    from distributed import get_worker

    try:
        discovery()  # makes the project importable
        task: Task = pickle.loads(content)
        digest = numbers_digest(task.experiment)
        if digest == wanted:
            return attempt(task)
        problem = f"has other sources or versions than the command: {digest}, wanted {wanted}"
    except (ImportError, AttributeError, OSError, SyntaxError, UserError) as error:
        problem = f"cannot read the task: {in_one_line(error)}"
    return (
        f"the worker {get_worker().address} {problem}; start it again from the same checkout and"
        f" environment, with {VARIABLE} set to the project's folder if there is one"
    )
