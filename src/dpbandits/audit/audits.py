"""Simulation of an audit cell: the lower bounds on epsilon that its runs certify."""

import time

import numpy as np

from dpbandits.experiments.audit import AuditExperiment


def simulate(cell: AuditExperiment, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Return lower bounds on epsilon at the claim's delta, and the seconds that each run took.

    The bounds are float64 of shape (runs, 2). Column 0 is for all arms together, column 1 for one
    choice; it is 0 if the claim covers all arms. Each bound holds with 99 % confidence. The seconds
    are float64 of shape (runs,).
    """
    from dpbandits.audit.search import Auditor  # imported late: scipy.stats takes a second

    values = np.zeros((len(runs), cell.columns))
    seconds = np.empty(len(runs))
    for row, run in enumerate(runs):
        start = time.perf_counter()
        for finding in Auditor(cell.subject, cell.seed, workers=1, number=run).audit(cell.plays):
            values[row, int(finding.one_choice)] = finding.epsilon
        seconds[row] = time.perf_counter() - start
    return values, seconds
