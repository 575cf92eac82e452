"""One stopping cell, some runs -> samples used and estimates. Where a rule meets its stream."""

import json
import time

import numpy as np

from dpbandits import registry
from dpbandits.cell import StoppingCell
from dpbandits.samples import Samples
from dpbandits.streams import Role, stream


def simulate(cell: StoppingCell, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Samples used and estimate of the mean, a row per run, and the seconds of each run.

    float64 of shape (runs, 2), and (runs,). The samples' random stream is named by the seed, the
    run and the law, the rule's by the rule and its parameters too: a run's row depends on nothing
    else.
    """
    description = cell.description()
    law = {"stream": description["stream"]}
    rule = law | {"rule": cell.rule, "params": description["params"]}
    told, own = json.dumps(law, sort_keys=True), json.dumps(rule, sort_keys=True)
    halt = registry.stopping_rule(cell.rule).halt
    mean, radius = cell.stream
    values = np.empty((len(runs), cell.columns))
    seconds = np.empty(len(runs))
    for row, run in enumerate(runs):
        start = time.perf_counter()
        rng = stream(cell.seed, Role.REWARDS, run, told)
        samples = Samples(radius, (1.0 + mean / radius) / 2.0, rng)
        values[row] = halt(cell.params, samples, stream(cell.seed, Role.POLICY, run, own))
        seconds[row] = time.perf_counter() - start
    return values, seconds
