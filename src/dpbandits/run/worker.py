"""Work of a worker: one task, played in this process or on a cluster.

A worker in another process must compute the same numbers as the command. It needs the same versions
of Python, NumPy, numba, SciPy and dpbandits, the same kernel island and, for every cell, the same
sources. Workers report the first two before the first task. Every task carries a digest of the
kernel island, its versions and the cell's sources, because a worker may join later.
"""

import hashlib
import json
import pickle
import sys
import traceback
from dataclasses import dataclass
from functools import cache
from importlib import metadata

import numpy as np

from dpbandits.core.errors import UserError
from dpbandits.core.machine_code import island_digest
from dpbandits.core.messages import in_one_line
from dpbandits.core.roots import VARIABLE, found
from dpbandits.experiments import Experiment
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment
from dpbandits.run.tasks import Task
from dpbandits.store.key import sources, version


@dataclass(frozen=True)
class Outcome:
    """Result of a task: the curves and the seconds of its runs, or the text of the error."""

    task: Task
    curves: np.ndarray | None = None  # float64 of shape (runs, columns); None: failed
    seconds: np.ndarray | None = None  # float64 of shape (runs,)
    error: str | None = None  # the exception in one line
    trace: str | None = None


def attempt(task: Task) -> Outcome:
    """Play a task; return an exception as an Outcome, so that it cannot stop the other tasks."""
    try:
        if isinstance(task.cell, RegretExperiment):
            curves, seconds = play_bandit.simulate(task.cell, task.runs)
        elif isinstance(task.cell, StoppingExperiment):
            curves, seconds = play_stopping_rule.simulate(task.cell, task.runs)
        else:
            curves, seconds = audits.simulate(task.cell, task.runs)
    except Exception as error:
        return Outcome(task, error=in_one_line(error), trace=traceback.format_exc())
    return Outcome(task, curves, seconds)


def attempt_elsewhere(content: bytes, wanted: str) -> Outcome | str:
    """Play a pickled task as `attempt` does; return why it cannot be played with the same result.

    `wanted` is the digest of the sources that the worker must have. The task crosses the scheduler
    as bytes: that process cannot import the project of a user.
    """
    from distributed import get_worker

    address = get_worker().address
    try:
        found()  # makes the project importable
        task: Task = pickle.loads(content)
    except (ImportError, AttributeError, UserError) as error:
        return (
            f"the worker {address} cannot read the task ({in_one_line(error)}): start it again from"
            f" the same checkout and environment, with {VARIABLE} set to the project's folder if"
            " there is one"
        )
    if sources_of(task.cell) != wanted:
        return (
            f"the worker {address} has other sources or versions than the command (source digest"
            f" {sources_of(task.cell)}, wanted {wanted}): start it again from the same checkout and"
            " environment"
        )
    return attempt(task)


@cache
def facts() -> dict[str, str]:
    """Return what determines the bits of a result beside its cell: versions and sources here."""
    return {
        "Python": " ".join(sys.version.split()),
        **{name: version(name) for name in ("numpy", "numba", "scipy")},
        "dpbandits": metadata.version("dpbandits"),
        "projects and plugins": ", ".join(root.package for root in found().roots[1:]) or "none",
        "source digest": island_digest(),  # of the kernel island, with the versions
    }


@cache
def sources_of(cell: Experiment) -> str:
    """Return the digest of everything in this process that determines the numbers of a cell."""
    try:
        reached = sources(cell.roots)
    except (OSError, SyntaxError, UserError):  # the task fails too and reports the reason
        reached = {}
    decisive = {"island": island_digest(), "sources": reached}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]
