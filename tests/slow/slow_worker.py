"""Preload of `dask worker`: every task is noted in the worker's log and lasts PAUSE seconds longer.

A figure of seconds then lasts long enough for faults that take half a minute.
"""

import os
import time
from typing import Any

import disturbed


def dask_setup(worker: Any) -> None:
    def pause(cell: Any, runs: Any) -> None:
        print("plays", cell.name, runs, flush=True)
        time.sleep(float(os.environ["PAUSE"]))

    disturbed.replace_simulate(pause)
