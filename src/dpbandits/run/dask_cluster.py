"""Dask clusters: connection or start, checks of the workers, detection of lost workers.

Imported only for engine=dask, because Dask is an optional dependency.
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
WITHOUT_WORKERS = 30.0  # seconds without any worker before giving up; a restart takes about 2
LEAVE = 5.0  # seconds for disconnecting from the workers
KEPT = "completed blocks are kept, and the same command continues from there"

T = TypeVar("T")


class NotingClient(Client):  # type: ignore[misc]
    """Dask client for joblib's backend that records failures which joblib does not report."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.given_up: list[BaseException] = []
        super().__init__(*arguments, **more)

    def submit(self, *arguments: Any, **more: Any) -> Future:
        """Submit as the base class does, and record the error of a task that Dask gives up.

        joblib receives results only, exceptions of a task among them. It would wait forever for a
        task whose workers died or could not deserialise it.
        """
        future = super().submit(*arguments, **more)
        future.add_done_callback(self._note)
        return future

    def _note(self, future: Future) -> None:
        if future.status == "error" and (error := future.exception()):
            self.given_up.append(error)

    def ncores(self, *arguments: Any, **more: Any) -> dict[str, int]:
        """Return the number of threads of every worker; if there is one in total, return two.

        With a total of one, joblib would silently run all tasks in this process.
        """
        threads: dict[str, int] = super().ncores(*arguments, **more)
        return threads if sum(threads.values()) != 1 else dict.fromkeys(threads, 2)


class Connection(Engine):
    """Cluster whose workers compute the same numbers as this process."""

    elsewhere = True
    ahead = "all"  # so that a worker that joins later has tasks to take
    patience = 1.0

    def __init__(self, client: NotingClient, address: str) -> None:
        super().__init__(sum(client.nthreads().values()))
        self.client, self.address = client, address
        self.with_workers = time.monotonic()  # last time at which there was a worker

    def backend(self) -> AbstractContextManager[Any]:
        """Return the context for joblib's parallel call; no other code names a joblib backend."""
        context: AbstractContextManager[Any] = joblib.parallel_config("dask", client=self.client)
        return context

    def given_up(self) -> list[BaseException]:
        """Return one error for each task that will never return a result.

        Raises UserError if the scheduler or all workers are gone.
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
        """Return the error to report for an error of the parallel call."""
        return self._lost() if isinstance(error, CancelledError | OSError) else error

    def _lost(self) -> UserError:
        return UserError(f"the connection to the scheduler at {self.address} is lost; {KEPT}")


def _in_words(error: BaseException) -> BaseException:
    if isinstance(error, KilledWorker):
        return RuntimeError(
            f"{error.allowed_failures + 1} workers died while playing it, the last at"
            f" {error.last_worker.address}: out of memory?"
        )
    return error


@contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Connection]:
    """Yield a cluster: that of a scheduler, or one on this machine with `workers` processes.

    `workers` None: one process per core.

    Raises UserError if the scheduler does not answer, has no worker, or if a worker would compute
    other numbers than this process.
    """
    # Dask logs every worker that joins or leaves, and every connection that ends at the exit.
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
        # Workers that do not disconnect in time end with this process.
        with suppress(queue.Empty):
            _apart(stack.close, LEAVE)


def _apart(action: Callable[[], T], seconds: float | None = None) -> T:
    # Runs the action in a thread, so that Ctrl-C reaches the caller at once. SIGINT is blocked in
    # that thread and, by inheritance, in the threads and worker processes that it starts: a
    # terminal sends Ctrl-C to all of them, but this process has to end the workers. The tracker of
    # shared memory is started first, because starting it unblocks SIGINT in its thread.
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
    # It releases shared memory of processes that end abruptly; its warning about that is noise.
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
    # Raises UserError unless every worker reports the same versions and sources as this process.
    for address, answer in sorted(client.run(facts, on_error="return").items()):
        if not isinstance(answer, dict):
            reason = re.sub(r"\s+", " ", f"{type(answer).__name__}: {answer}")
            raise UserError(
                f"the worker {address} does not report its versions and sources ({reason}): start"
                " it in an environment with this version of dpbandits (docs/cluster.md)"
            )
        if others := differences(answer):
            raise UserError(
                f"the worker {address} differs from this process: {'; '.join(others)};"
                " start it again from the same checkout and environment (docs/cluster.md)"
            )
