"""Simulation of a stopping cell: samples used and estimates of its runs."""

import time
from typing import Any

import numpy as np

from dpbandits.core import randomness, registry
from dpbandits.core.kernel import specialised
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.core.sample_stream import SampleStream
from dpbandits.experiments.stopping import StoppingExperiment


def simulate(cell: StoppingExperiment, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Return samples used and estimate of the mean per run, and the seconds that each run took.

    The values are float64 of shape (runs, 2), the seconds float64 of shape (runs,). The seed, the
    run and the law name the stream of the samples; the name of the rule's stream adds the rule and
    its parameters. A row depends on nothing else.
    """
    start = time.perf_counter()
    law = {"stream": randomness.plain_fields(cell.stream)}
    rule = spelt(law | {"rule": cell.member, "params": randomness.plain_fields(cell.params)})
    halt: Any = registry.stopping_rule(cell.member).halt
    radius = cell.stream.radius
    probability = (1.0 + cell.stream.mean / radius) / 2.0
    values = np.empty((len(runs), 2))
    for row, run in enumerate(runs):
        rewards = stream(cell.seed, Role.REWARDS, run, spelt(law))
        samples = SampleStream(radius, probability, rewards)
        rng = stream(cell.seed, Role.POLICY, run, rule)
        halt = specialised(halt, cell.params, samples, rng)  # all runs have the same types
        values[row] = halt(cell.params, samples, rng)
    return values, np.full(len(runs), (time.perf_counter() - start) / len(runs))
