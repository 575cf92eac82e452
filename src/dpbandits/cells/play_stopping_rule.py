"""Simulation of a stopping cell: samples used and estimates of its runs."""

import time

import numpy as np

from dpbandits.cells.bandit_cell import StoppingCell
from dpbandits.core import randomness, registry
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.core.sample_stream import SampleStream


def simulate(cell: StoppingCell, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Return samples used and estimate of the mean per run, and the seconds that each run took.

    The values are float64 of shape (runs, 2), the seconds float64 of shape (runs,). The seed, the
    run and the law name the stream of the samples; the name of the rule's stream adds the rule and
    its parameters. A row depends on nothing else.
    """
    of_samples = {"stream": randomness.plain_fields(cell.stream)}
    of_rule = of_samples | {"rule": cell.rule, "params": randomness.plain_fields(cell.params)}
    halt = registry.stopping_rule(cell.rule).halt
    mean, radius = cell.stream.mean, cell.stream.radius
    values = np.empty((len(runs), cell.columns))
    seconds = np.empty(len(runs))
    for row, run in enumerate(runs):
        start = time.perf_counter()
        rng = stream(cell.seed, Role.REWARDS, run, spelt(of_samples))
        samples = SampleStream(radius, (1.0 + mean / radius) / 2.0, rng)
        own = stream(cell.seed, Role.POLICY, run, spelt(of_rule))
        values[row] = halt(cell.params, samples, own)
        seconds[row] = time.perf_counter() - start
    return values, seconds
