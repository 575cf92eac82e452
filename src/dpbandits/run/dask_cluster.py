"""Dask clusters: connect or start one, ask its workers what they are, notice when they are gone.

Imported only where an engine asks for it: Dask is an extra.
"""

import logging
import os
import queue
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any, TypeVar

import dask
import joblib
from distributed import CancelledError, Client, Future, KilledWorker, LocalCluster

from dpbandits.core.errors import UserError
from dpbandits.run.threads import Engine
from dpbandits.run.worker import differences, facts

ANSWER = 6.0  # seconds in which a scheduler must answer
FIRST_WORKER = 8.0  # seconds in which a worker must have joined
WITHOUT_WORKERS = 30.0  # seconds without any worker, after which none is expected; restarts take 2
LEAVE = 5.0  # seconds for taking leave of the workers
KEPT = "the blocks that were done are kept, the same command goes on from there"

T = TypeVar("T")


class NotingClient(Client):  # type: ignore[misc]
    """A client for joblib's backend, which notes what that would miss."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.given_up: list[BaseException] = []
        super().__init__(*arguments, **more)

    def submit(self, *arguments: Any, **more: Any) -> Future:
        """As ever, with an ear for the end of a task that Dask gives up.

        joblib hears of results alone, among them the exceptions of a task, and would wait for ever
        for a task whose workers died, or who could not read it.
        """
        future = super().submit(*arguments, **more)
        future.add_done_callback(self._note)
        return future

    def _note(self, future: Future) -> None:
        if future.status == "error" and (error := future.exception()):
            self.given_up.append(error)

    def ncores(self, *arguments: Any, **more: Any) -> dict[str, int]:
        """The threads of every worker, two for a single one.

        Of a single one joblib makes nothing: it plays all tasks in this process, in silence.
        """
        found: dict[str, int] = super().ncores(*arguments, **more)
        return found if sum(found.values()) != 1 else dict.fromkeys(found, 2)


class Connection(Engine):
    """A cluster whose workers compute what this process would."""

    elsewhere = True
    ahead = "all"  # a worker that joins later finds tasks to take
    patience = 1.0

    def __init__(self, client: NotingClient, address: str) -> None:
        super().__init__(sum(client.nthreads().values()))
        self.client, self.address = client, address
        self.with_workers = time.monotonic()  # when there were some last

    def backend(self) -> AbstractContextManager[Any]:
        """What joblib's parallel call stands in: the only place that names a backend."""
        context: AbstractContextManager[Any] = joblib.parallel_config("dask", client=self.client)
        return context

    def given_up(self) -> list[BaseException]:
        """Why tasks will never come back, one error for each.

        Raises UserError where the scheduler or all workers are gone.
        """
        if self.client.status != "running":
            raise self._lost()
        try:
            present = self.client.nthreads()
        except (OSError, RuntimeError, ValueError) as error:
            raise self._lost() from error
        now = time.monotonic()
        if present:
            self.with_workers = now
        if now - self.with_workers > WITHOUT_WORKERS:
            raise UserError(
                f"the scheduler at {self.address} has had no worker for {WITHOUT_WORKERS:.0f}"
                f" seconds; {KEPT}"
            )
        return [_in_words(error) for error in self.client.given_up]

    def explain(self, error: BaseException) -> BaseException:
        """An error of the parallel call, as people are told it."""
        return self._lost() if isinstance(error, CancelledError | OSError) else error

    def _lost(self) -> UserError:
        return UserError(f"the connection to the scheduler at {self.address} is lost; {KEPT}")


def _in_words(error: BaseException) -> BaseException:
    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"{error.allowed_failures + 1} workers died while they played it, the last was"
            f" {error.last_worker.address}: out of memory?"
        )
    return error


@contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Connection]:
    """A cluster: that of a scheduler, or one of this machine with so many processes."""
    # Dask tells of every worker that comes and goes, and of connections that end as we leave.
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    stack = ExitStack()

    def begin() -> Connection:
        if scheduler is None:
            client, address = _on_this_machine(stack, workers), "this machine"
        else:
            client, address = _reach(stack, scheduler), scheduler
        _check(client)
        return Connection(client, address)

    try:
        yield _apart(begin)
    finally:
        # Workers that do not let go end with this process.
        with suppress(queue.Empty):
            _apart(stack.close, LEAVE)


def _apart(action: Callable[[], T], seconds: float | None = None) -> T:
    # In a thread, so that Ctrl-C reaches the caller at once. It is blocked in that thread and,
    # by inheritance, in the threads and the worker processes that are started there: a terminal
    # sends Ctrl-C to all of them, but to end the workers is up to us. The tracker of shared memory
    # comes first: whichever thread starts it has Ctrl-C unblocked.
    came: queue.Queue[tuple[bool, Any]] = queue.Queue()

    def act() -> None:
        _start_tracker()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            came.put((True, action()))
        except BaseException as error:
            came.put((False, error))

    threading.Thread(target=act, daemon=True).start()
    done, result = came.get(timeout=seconds)
    if not done:
        raise result
    value: T = result
    return value


def _start_tracker() -> None:
    # It clears up after processes that have no time to; that it has done so is nobody's concern.
    before = os.environ.get("PYTHONWARNINGS")
    ours = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = f"{before},{ours}" if before else ours
    try:
        resource_tracker.ensure_running()
    finally:
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def _on_this_machine(stack: ExitStack, workers: int | None) -> NotingClient:
    number = workers or joblib.cpu_count()
    scratch = tempfile.TemporaryDirectory(prefix="dpbandits-dask-", ignore_cleanup_errors=True)
    cluster = LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        memory_limit=None,  # as threads have none
        local_directory=stack.enter_context(scratch),
        silence_logs=logging.CRITICAL,
    )
    stack.callback(cluster.close, timeout=LEAVE)
    client = NotingClient(cluster, set_as_default=False)
    stack.callback(client.close, timeout=LEAVE)
    return client


def _reach(stack: ExitStack, address: str) -> NotingClient:
    try:
        with dask.config.set({"distributed.comm.timeouts.connect": ANSWER}):
            client = NotingClient(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        reason = re.sub(r"\s+", " ", str(error))
        raise UserError(
            f"no Dask scheduler answers at engine.scheduler={address} ({reason}); `dask scheduler`"
            " starts one and prints its address (docs/cluster.md)"
        ) from error
    stack.callback(client.close, timeout=LEAVE)
    deadline = time.monotonic() + FIRST_WORKER
    while not client.nthreads():
        if time.monotonic() > deadline:
            raise UserError(
                f"the scheduler at {address} has no worker; `dask worker {address}` starts one"
                " (docs/cluster.md)"
            )
        time.sleep(0.2)
    return client


def _check(client: Client) -> None:
    # Every worker is what this process is.
    for address, answer in sorted(client.run(facts, on_error="return").items()):
        if not isinstance(answer, dict):
            reason = re.sub(r"\s+", " ", f"{type(answer).__name__}: {answer}")
            raise UserError(
                f"the worker {address} cannot say what it is ({reason}): start it in an"
                " environment with this version of dpbandits (docs/cluster.md)"
            )
        if others := differences(answer):
            raise UserError(
                f"the worker {address} would compute something else: {'; '.join(others)};"
                " start it again from the same checkout and environment (docs/cluster.md)"
            )
