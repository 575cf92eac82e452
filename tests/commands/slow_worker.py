"""Preload of `dask worker`, so that faults meet work: tasks are noted in the worker's log and wait.

A task lasts PAUSE seconds longer. Unless it is the first of its cell, it waits for the file GATE.
"""

import os
import time
from pathlib import Path
from typing import Any


def dask_setup(worker: Any) -> None:
    from dpbandits.experiments import kinds
    from dpbandits.experiments.regret import RegretExperiment

    real = RegretExperiment.play

    def play(cell: Any, runs: Any) -> Any:
        if "PAUSE" in os.environ:
            print("plays", kinds.words(cell).name, runs, flush=True)
            time.sleep(float(os.environ["PAUSE"]))
        while "GATE" in os.environ and runs[0] and not Path(os.environ["GATE"]).exists():
            time.sleep(0.05)
        return real(cell, runs)

    setattr(RegretExperiment, "play", play)  # noqa: B010
