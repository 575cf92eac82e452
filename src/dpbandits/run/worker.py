"""Work of a worker: one task, played in this process or on a cluster.

A worker in another process must compute the same numbers as the command. Before the first task,
workers report their versions and the digest of their kernels. Every task also carries a digest of
these and of the cell's sources, because a worker may join later.
"""

import hashlib
import json
import pickle
import sys
import traceback
from functools import cache
from importlib import metadata

from dpbandits.core.errors import UserError, in_one_line
from dpbandits.core.kernel import island_digest
from dpbandits.core.roots import VARIABLE, found
from dpbandits.experiments import Experiment
from dpbandits.run.tasks import Outcome, Task
from dpbandits.store.key import sources, version


def attempt(task: Task) -> Outcome:
    """Play a task; return an exception as an Outcome, so that it cannot stop the other tasks."""
    try:
        curves, seconds = task.cell.play(task.runs)
    except Exception as error:
        return Outcome(task, error=in_one_line(error), trace=traceback.format_exc())
    return Outcome(task, curves, seconds)


def attempt_elsewhere(content: bytes, wanted: str) -> Outcome | str:
    """Play a pickled task as `attempt` does; return why it cannot be played with the same result.

    `wanted` is the digest of the sources that the worker must have. The task crosses the scheduler
    as bytes: that process cannot import the project of a user.
    """
    from distributed import get_worker

    try:
        found()  # makes the project importable
        task: Task = pickle.loads(content)
        digest = sources_of(task.cell)
        if digest == wanted:
            return attempt(task)
        problem = f"has other sources or versions than the command: {digest}, wanted {wanted}"
    except (ImportError, AttributeError, UserError) as error:
        problem = f"cannot read the task: {in_one_line(error)}"
    return (
        f"the worker {get_worker().address} {problem}; start it again from the same checkout and"
        f" environment, with {VARIABLE} set to the project's folder if there is one"
    )


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
