"""`python measured_size.py <task> <folder>`: do a large task in a separate process.

The last line printed is its cost as JSON, including seconds and peak memory in MB.
"""

import json
import os
import re
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.cells.bandit_cell import Cell

VALUES = 25_000  # of epsilon, for two algorithms in two panels
VALUES_OF = f"{{ first: 0.001, last: 1, number: {VALUES} }}"
ROOT = Path(__file__).resolve().parents[2]
RUNS = 10**6


def plan(folder: Path) -> dict[str, Any]:
    """Read the configuration of a figure of 10^5 cells and plan its tasks."""
    from dpbandits.config import compose
    from dpbandits.run.tasks import plan
    from dpbandits.store.blocks import Store

    # In a file: typing a list of this length would time the parser of the command line.
    for name in ("conf", "figures"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("reference"))
    file = folder / "conf" / "figure" / "ftpl-epsilon-sweep.yaml"
    text = re.sub(r"values:\s*\[[^]]*\]", f"values: {VALUES_OF}", file.read_text(), count=2)
    file.write_text(text.replace("fit: [", "# fit: ["))
    os.chdir(folder)
    start = time.perf_counter()
    spec, settings = compose.load("ftpl-epsilon-sweep", [])
    read = time.perf_counter() - start
    cells = [cell for cell in spec.cells() if isinstance(cell, Cell)]
    tasks = plan(spec.runs_of_cells(), Store(settings.cache), settings.block)
    return {"cells": len(cells), "tasks": len(tasks), "read": read}


def write_million(folder: Path) -> dict[str, Any]:
    """Write the blocks of a cell with 10^6 runs."""
    from dpbandits.store.blocks import Store

    spec, _ = figure(folder)
    (cell,) = spec.cells()
    store, size = Store(folder), RUNS // 64
    for first in range(0, RUNS, size):
        rng = np.random.default_rng(first)
        store.write(cell, first, rng.random((size, cell.columns)).cumsum(axis=1), 1.0)
    return {"columns": cell.columns}


def load_million(folder: Path) -> dict[str, Any]:
    """Summarise these runs from the cache."""
    from dpbandits.curves.series import summarise
    from dpbandits.store.blocks import Store

    spec, _ = figure(folder)
    (series,) = summarise(spec, Store(folder))
    return {"runs": series.runs, "mean": float(series.mean[-1]), "std": float(series.std[-1])}


def figure(folder: Path) -> Any:
    """Return a figure of one curve over time with 10^6 runs."""
    from dpbandits.config import compose

    others = ("dp-ucb", "dp-se", "adap-klucb")
    return compose.load(
        "adap-headline",
        [f"paths.cache={folder}", f"runs={RUNS}", *map("~figure.curves.{}".format, others)],
    )


TASKS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "plan": plan,
    "write": write_million,
    "load": load_million,
}


if __name__ == "__main__":
    start = time.perf_counter()
    measured = TASKS[sys.argv[1]](Path(sys.argv[2]))
    measured["seconds"] = time.perf_counter() - start
    measured["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(measured))
