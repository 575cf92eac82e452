"""Loop that plays tasks on all workers and stores their runs.

No other module loops over the runs of many cells.
"""

import pickle
import queue
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any

import joblib
import numpy as np

from dpbandits.audit import audits
from dpbandits.cells import play_stopping_rule, shared_tables
from dpbandits.cells.bandit_cell import Cell, StoppingCell
from dpbandits.cells.kinds import AnyCell
from dpbandits.cells.play_bandit import simulate
from dpbandits.config.settings import Cluster
from dpbandits.core.errors import UserError
from dpbandits.core.messages import in_one_line
from dpbandits.run.engines import started
from dpbandits.run.progress import Reporter
from dpbandits.run.tasks import Task, joined
from dpbandits.run.worker import refusal, sources_of, unreadable
from dpbandits.store.blocks import Store


@dataclass(frozen=True)
class Outcome:
    """Result of a task: the curves and the seconds of its runs, or the text of the error."""

    task: Task
    curves: np.ndarray | None = None  # float64 of shape (runs, columns); None: failed
    seconds: np.ndarray | None = None  # float64 of shape (runs,)
    error: str | None = None  # the exception in one line
    trace: str | None = None


def play(
    tasks: Sequence[Task],
    store: Store,
    workers: int | None,
    title: str,
    cluster: Cluster | None = None,
    progress: bool = True,
) -> list[Outcome]:
    """Play the tasks, write every block as it arrives and report progress; return the failures.

    The tasks run on threads of this process or on a cluster; this process writes the blocks in
    either case, and reports nothing without `progress`. A failed task does not stop the others.
    UserError (a full disk, no worker left) and KeyboardInterrupt stop all of them; the blocks
    written so far stay.
    """
    return Playing(tasks, workers, cluster).collect(store, title, progress)


@cache
def _slots(threads: int) -> threading.Semaphore:
    # Figures that play side by side (in_turn.py) share the threads that each may use.
    return threading.Semaphore(threads)


class Playing:
    """Tasks that start to play at once; call `collect` to store their results."""

    def __init__(
        self, tasks: Sequence[Task], workers: int | None, cluster: Cluster | None = None
    ) -> None:
        self._tasks = tasks
        self._arrived: queue.Queue[Outcome | BaseException] = queue.Queue()
        self._pace: dict[AnyCell, float] = {}  # the seconds of a cell's latest run
        self._away: set[Task] = set()  # dispatched and not finished
        self._all_given_out = False
        self._stopped = threading.Event()
        self._resources = ExitStack()
        if tasks:
            self._engine = self._resources.enter_context(started(workers, cluster))
            # The parallel call runs in its own thread, so that the main thread only waits and an
            # interrupt reaches it at once, even while a kernel runs and with a single worker.
            threading.Thread(target=self._work, daemon=True).start()

    def collect(
        self,
        store: Store,
        title: str,
        progress: bool = True,
        at_the_last: Callable[[], None] = lambda: None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> list[Outcome]:
        """Write every block as it arrives and report progress, as `play` does.

        `meanwhile` is called before, while the first tasks are played. Once the workers have got
        the last task, `at_the_last` is called after each outcome.
        """
        failures: list[Outcome] = []
        if not self._tasks:
            meanwhile()
            return failures
        runs = Counter[str]()
        for task in self._tasks:
            runs[task.cell.name] += len(task.runs)
        try:
            with (
                self._resources,
                Reporter(title, runs, self._engine.threads, progress) as reporter,
            ):
                meanwhile()
                for outcome in self._outcomes():
                    task = outcome.task
                    if outcome.curves is None or outcome.seconds is None:
                        failures.append(outcome)
                        reporter.add(task.cell.name, len(task.runs), None)
                    else:
                        seconds = outcome.seconds
                        store.write(task.cell, task.runs.start, outcome.curves, seconds.sum())
                        reporter.add(task.cell.name, len(task.runs), seconds[-1])
                    if self._all_given_out:
                        at_the_last()
        finally:
            self._stopped.set()
            shared_tables.forget()
        return failures

    def _outcomes(self) -> Iterator[Outcome]:
        # Yields outcomes as they finish.
        left = sum(len(task.runs) for task in self._tasks)
        while left:
            try:
                outcome = self._arrived.get(timeout=self._engine.patience)
            except queue.Empty:
                errors = self._engine.given_up()
                all_out = sum(len(task.runs) for task in tuple(self._away)) == left
                if all_out and len(errors) >= len(self._away):
                    # The errors cannot be assigned to tasks; they are alike.
                    for task in self._away:
                        yield Outcome(task, error=in_one_line(errors[0]), trace=None)
                    return
                continue
            if isinstance(outcome, BaseException):
                raise self._engine.explain(outcome)
            self._away.remove(outcome.task)
            left -= len(outcome.task.runs)
            yield outcome

    def _work(self) -> None:
        engine = self._engine
        try:
            with engine.backend():
                parallel = joblib.Parallel(
                    engine.threads,
                    prefer="threads",
                    batch_size=1,
                    pre_dispatch=engine.ahead,
                    return_as="generator_unordered",
                )
                for outcome in parallel(self._calls()):
                    if isinstance(outcome, Unread):
                        task = pickle.loads(outcome.content)
                        outcome = Outcome(task, error=outcome.reason)
                    if outcome.seconds is not None:
                        self._pace[outcome.task.cell] = outcome.seconds[-1]
                    self._arrived.put(outcome)
        except BaseException as error:  # re-raised in the main thread
            self._arrived.put(error)

    def _calls(self) -> Iterator[Any]:
        # joblib waits for ever for an iterator that fails after the first calls.
        try:
            for task in joined(self._tasks, self._pace):
                if self._stopped.is_set():
                    return
                self._away.add(task)
                if self._engine.elsewhere:
                    content = pickle.dumps(task)
                    yield joblib.delayed(attempt_elsewhere)(content, sources_of(task.cell))
                else:
                    yield joblib.delayed(self._attempt_in_turn)(task)
            self._all_given_out = True
        except BaseException as error:
            self._arrived.put(error)

    def _attempt_in_turn(self, task: Task) -> Outcome:
        with _slots(self._engine.threads):
            return Outcome(task, error="stopped") if self._stopped.is_set() else attempt(task)


@dataclass(frozen=True)
class Unread:
    """Task that a worker cannot read, and why."""

    content: bytes
    reason: str


def attempt_elsewhere(content: bytes, sources: str) -> Outcome | Unread:
    """Play a pickled task in a worker as `attempt` does; return Unread if it cannot be unpickled.

    The task crosses the scheduler as bytes: that process cannot import the project of a user.
    """
    try:
        task = pickle.loads(content)
    except (ImportError, AttributeError, UserError) as error:
        return Unread(content, unreadable(error))
    return attempt(task, sources)


def attempt(task: Task, sources: str | None = None) -> Outcome:
    """Play a task; return an exception as an Outcome, so that it cannot stop the other tasks.

    `sources` is the digest of the cell's sources that a worker in another process must have.
    """
    if (refused := refusal(task.cell, sources)) is not None:
        return Outcome(task, error=refused)
    try:
        if isinstance(task.cell, Cell):
            curves, seconds = simulate(task.cell, task.runs)
        elif isinstance(task.cell, StoppingCell):
            curves, seconds = play_stopping_rule.simulate(task.cell, task.runs)
        else:
            curves, seconds = audits.simulate(task.cell, task.runs)
    except Exception as error:
        return Outcome(task, error=in_one_line(error), trace=traceback.format_exc())
    return Outcome(task, curves, seconds)
