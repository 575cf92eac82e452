"""Speed-up by a second thread: the time of the same runs on one thread, divided by that on two.

It is 2 at best. A run of a per-round policy is one long call into a kernel, which releases the GIL.
A run of a batched policy is so short that most of it is the call into the kernel, in Python, which
holds the GIL: there a second thread gains nothing.
"""

import statistics
import time
from collections.abc import Iterator

import joblib
import numpy as np
from kernels import Measured, cell_of

from dpbandits.environments import bernoulli
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel import registry

HORIZON = 10**6
TASKS = 8
REPEATS = 5
ALIKE = 0.1  # approximate seconds of a task, the same for all algorithms


def measure(
    horizon: int = HORIZON, tasks: int = TASKS, repeats: int = REPEATS
) -> Iterator[Measured]:
    """Measure the speed-up from one to two threads for every algorithm, at K = 5."""
    for name in registry.algorithm_names():
        means = tuple(np.linspace(0.75, 0.25, 5).tolist())
        cell = cell_of(name, bernoulli.Params(means), horizon)
        cell.play(range(2))  # compiles
        start = time.perf_counter()
        cell.play(range(2, 4))
        runs = 2 * max(1, round(ALIKE / (time.perf_counter() - start)))
        ratios, singles = [], []
        for _ in range(repeats):
            single, double = (_taken(cell, runs, tasks, threads) for threads in (1, 2))
            ratios.append(single / double)
            singles.append(single / runs / tasks)
        group = f"one thread and two; K = 5, T = {horizon}"
        yield Measured(group, name, "a run", statistics.median(singles) * 1e3, "ms")
        yield Measured(group, name, "speed-up", statistics.median(ratios), "")


def _taken(cell: RegretExperiment, runs: int, tasks: int, threads: int) -> float:
    start = time.perf_counter()
    work = (
        joblib.delayed(cell.play)(range(task * runs, (task + 1) * runs)) for task in range(tasks)
    )
    joblib.Parallel(threads, prefer="threads")(work)
    return time.perf_counter() - start
