"""One audit cell, some runs -> what each of them certifies."""

import time

import numpy as np

from dpbandits.audit.cell import AuditCell


def simulate(cell: AuditCell, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Lower bounds on epsilon at the delta of the promise, and the seconds of each run.

    float64 of shape (runs, 2), and (runs,): of all arms together, and of one choice, which is 0
    where the promise is of all of them. Each holds with 99 % confidence.
    """
    from dpbandits.audit.search import Auditor  # late: its statistics take a second to import

    values = np.zeros((len(runs), cell.columns))
    seconds = np.empty(len(runs))
    for row, run in enumerate(runs):
        start = time.perf_counter()
        for found in Auditor(cell.subject, cell.seed, workers=1, number=run).audit(cell.plays):
            values[row, int(found.one_choice)] = found.epsilon
        seconds[row] = time.perf_counter() - start
    return values, seconds
