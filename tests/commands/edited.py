"""`python edited.py <copy> <folder> <steps>`: edit a source of a copy while a process plays.

This process imports the libraries once, and dpbandits never. A fork imports the copy, as a new
process would, and plays one cell by a stand-in, whose curves hold the constants MARK of the
modules that the fork has imported. Marks are 1; a fork edits that of dp_se.py to 2 at one of its
audit events, counted since `import dpbandits` read all sources. Prints `<event> <error>` for each.
"""

import importlib
import os
import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

MARKED = ("algorithms/dp_se.py", "mechanisms/laplace.py")
LIBRARIES = ("joblib", "numba", "numpy", "rich.progress", "scipy.stats", "yaml")


def mark(file: Path, number: int) -> None:
    """Write a mark; the size of the file is always the same."""
    file.write_text(f"{file.read_text('utf-8').partition('MARK = ')[0]}MARK = {number}\n", "utf-8")


def simulate(cell: Any, runs: range) -> Any:
    """Return the marks as digits, in every run and column."""
    import numpy as np

    value = 0
    for name in MARKED:
        module = f"dpbandits.{name.removesuffix('.py').replace('/', '.')}"
        value = 10 * value + importlib.import_module(module).MARK
    return np.full((len(runs), cell.columns), float(value)), np.full(len(runs), 1e-6)


def play(copy: Path, folder: Path, event: int) -> str:
    """Play a cell and edit at an event; return the number of events and the error."""
    numbers, latest = count(1), 0

    def hook(*_: Any) -> None:
        nonlocal latest
        latest = next(numbers)
        if latest == event:
            mark(copy / MARKED[0], 2)

    sys.path.insert(0, str(copy.parent))
    if event == 0:
        mark(copy / MARKED[0], 2)
    importlib.import_module("dpbandits")
    sys.addaudithook(hook)
    from dpbandits.algorithms import dp_se
    from dpbandits.environments import bernoulli
    from dpbandits.experiments.checkpoints import Grid
    from dpbandits.experiments.regret import RegretExperiment
    from dpbandits.kernel.errors import UserError
    from dpbandits.run.runner import complete

    setattr(RegretExperiment, "play", simulate)  # noqa: B010
    two = bernoulli.Params((0.9, 0.5))
    cell = RegretExperiment(
        "dp-se", dp_se.Params(1.0, horizon=100), "bernoulli", two, 100, Grid.LOG, 1
    )
    settings: Any = SimpleNamespace(cache=folder, block=1, workers=1, cluster=None)
    try:
        done = complete({cell: 3}, settings, "test", None)
        error = done.reason() if done.failures else ""
    except UserError as refused:
        error = str(refused)
    return f"{latest} {error}"


def main(copy: Path, folder: Path, steps: int) -> None:
    """Play without an edit, then edit before the import, then at evenly spaced events."""
    for library in LIBRARIES:
        importlib.import_module(library)
    events = 0
    for step in (-2, -1, *range(1, steps)):
        # Step -2 is calm, step -1 edits before anything is read.
        event = events * step // steps if step > 0 else step + 1
        read, write = os.pipe()
        if not os.fork():
            text = "0 the fork failed"
            try:
                text = play(copy, folder / str(step), event)
            finally:
                os.write(write, text.encode())
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        os.wait()
        mark(copy / MARKED[0], 1)
        events = events or int(text.split()[0])
        print(step, text.partition(" ")[2], flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
