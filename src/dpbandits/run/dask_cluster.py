"""Dask clusters: connection or start, checks of the workers, tasks that survive lost workers.

Imported only for engine=dask, because Dask is an optional dependency.
"""

import logging
import os
import pickle
import queue
import signal
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker

import dask
import joblib
from distributed import CancelledError, Client, Future, KilledWorker, LocalCluster

from dpbandits.kernel.compilation import island_digest
from dpbandits.kernel.errors import UserError, in_one_line
from dpbandits.run.tasks import Outcome, Task, attempt_elsewhere, numbers_digest

ANSWER = 6.0  # seconds in which a scheduler must answer
FIRST_WORKER = 8.0  # seconds in which a worker must have joined
WITHOUT_WORKERS = 30.0  # seconds without any worker before giving up; a restart takes about 2
PATIENCE = 1.0  # seconds without a result before the workers are counted
LEAVE = 5.0  # seconds for disconnecting from the workers
KEPT = "completed blocks are kept, and the same command continues from there"


@contextmanager
def connected(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    """Yield a client of a scheduler, or of a new one on this machine with `workers` processes.

    `workers` None: one process per core. Raises UserError if the scheduler does not answer, has no
    worker, or if one lacks this package.
    """
    # Dask logs every worker that joins or leaves, and every connection that ends at the exit.
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        if scheduler is None:
            client = _client_of_this_machine(stack, workers or joblib.cpu_count())
        else:
            try:
                with dask.config.set({"distributed.comm.timeouts.connect": ANSWER}):
                    client = Client(scheduler, timeout=ANSWER, set_as_default=False)
            except (OSError, ValueError, RuntimeError) as error:
                raise UserError(
                    f"no Dask scheduler answers at engine.scheduler={scheduler}"
                    f" ({in_one_line(error)}); `dask scheduler` starts one and prints its address"
                    " (docs/cluster.md)"
                ) from error
            stack.callback(client.close, timeout=LEAVE)
            try:
                client.wait_for_workers(1, timeout=FIRST_WORKER)
            except TimeoutError:
                raise UserError(
                    f"the scheduler at {scheduler} has no worker; `dask worker {scheduler}` starts"
                    " one (docs/cluster.md)"
                ) from None
        for worker, why in client.run(island_digest, on_error="return").items():
            if not isinstance(why, str):  # it would end with its first task
                raise UserError(f"the worker {worker} cannot import dpbandits: {in_one_line(why)}")
        yield client


def _client_of_this_machine(stack: ExitStack, workers: int) -> Client:
    # A terminal sends Ctrl-C to all processes, but this one has to end the workers: they and the
    # threads that start them inherit a mask without SIGINT. The tracker of shared memory is started
    # first, because starting it unblocks SIGINT; its warning after an abrupt end is noise.
    scratch = tempfile.TemporaryDirectory(prefix="dpbandits-dask-", ignore_cleanup_errors=True)
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # 8787 is taken if two commands run at once
            memory_limit=None,  # as threads have none
            local_directory=stack.enter_context(scratch),
            silence_logs=logging.CRITICAL,
        )
        stack.callback(cluster.close, timeout=LEAVE)
        client = Client(cluster, set_as_default=False)
        stack.callback(client.close, timeout=LEAVE)
        return client
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def compute(tasks: Iterable[Task], client: Client, address: str) -> Generator[Outcome, None, None]:
    """Play the tasks on the workers and yield the outcomes as they arrive.

    All tasks are submitted at once, so that a worker that joins later has tasks to take; Dask gives
    those of a lost worker to another. Raises UserError if the scheduler or all workers are gone.
    """
    arrived: queue.SimpleQueue[Future] = queue.SimpleQueue()
    waiting: dict[Future, Task] = {}
    for task in tasks:
        # Not pure: a task is not a value that another command may share.
        content, wanted = pickle.dumps(task), numbers_digest(task.experiment)
        waiting[client.submit(attempt_elsewhere, content, wanted, pure=False)] = task
    for future in waiting:
        future.add_done_callback(arrived.put)
    lost = UserError(f"the connection to the scheduler at {address} is lost; {KEPT}")
    with_workers = time.monotonic()  # last time at which there was a worker
    while waiting:
        future = None
        try:
            future = arrived.get(timeout=PATIENCE)
            outcome = future.result(timeout=PATIENCE)
        except (queue.Empty, TimeoutError):
            if future is not None:  # its worker has gone, and another one plays the task again
                future.add_done_callback(arrived.put)
            try:
                if client.status != "running":
                    raise lost
                with_workers = time.monotonic() if client.nthreads() else with_workers
            except (OSError, RuntimeError, ValueError) as error:
                raise lost from error
            if time.monotonic() - with_workers > WITHOUT_WORKERS:
                raise UserError(
                    f"the scheduler at {address} has had no worker for {WITHOUT_WORKERS:.0f}"
                    f" seconds; {KEPT}"
                ) from None
            continue
        except (CancelledError, OSError) as error:
            raise lost from error
        except KilledWorker as error:
            outcome = (
                f"{error.allowed_failures + 1} workers died while playing it, the last at"
                f" {error.last_worker.address}: out of memory?"
            )
        except Exception as error:  # a worker cannot import this module
            outcome = in_one_line(error)
        task = waiting.pop(future)
        yield outcome if isinstance(outcome, Outcome) else Outcome(task, error=outcome)
